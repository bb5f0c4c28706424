//! What waits to be heard: bounded in number and in bytes.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::heard::Heard;
use crate::StreamError;

/// How many things wait: enough for a burst of tokens to be read in one go.
const MAX_WAITING: usize = 256;

/// How many bytes of messages wait, as they came over the wire.
const MAX_WAITING_BYTES: u32 = 8 * 1024 * 1024;

/// Something that waits, with its share of the bytes.
#[derive(Debug)]
pub(super) struct Queued {
    what: Result<Heard, StreamError>,
    _share: Option<OwnedSemaphorePermit>,
}

impl Queued {
    pub(super) fn into_inner(self) -> Result<Heard, StreamError> {
        self.what
    }
}

/// The end that fills it.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<Queued>,
    bytes: Arc<Semaphore>,
}

/// Nobody listens any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NobodyListens;

/// Room for one thing.
#[derive(Debug)]
pub(super) struct Room<'a>(mpsc::Permit<'a, Queued>, Option<OwnedSemaphorePermit>);

impl Room<'_> {
    pub(super) fn fill(self, what: Result<Heard, StreamError>) {
        self.0.send(Queued { what, _share: self.1 });
    }
}

impl Queue {
    pub(super) fn new() -> (Self, mpsc::Receiver<Queued>) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        (Self { sender, bytes: Arc::new(Semaphore::new(MAX_WAITING_BYTES as usize)) }, receiver)
    }

    /// Waits for room. Losing the future loses nothing.
    pub(super) async fn room(&self, bytes: usize) -> Result<Room<'_>, NobodyListens> {
        let slot = self.sender.reserve().await.map_err(|_| NobodyListens)?;
        if bytes == 0 {
            return Ok(Room(slot, None));
        }
        // One that is larger than all the room there is waits until it has it alone.
        let share = u32::try_from(bytes).unwrap_or(MAX_WAITING_BYTES).min(MAX_WAITING_BYTES);
        tokio::select! {
            share = Arc::clone(&self.bytes).acquire_many_owned(share) => match share {
                Ok(share) => Ok(Room(slot, Some(share))),
                Err(_) => Err(NobodyListens),
            },
            () = self.sender.closed() => Err(NobodyListens),
        }
    }
}
