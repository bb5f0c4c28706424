//! What waits to be written: one buffer of whole frames.
//!
//! Whoever has something to say serialises it straight into the buffer, under a lock that is never held across
//! an await; the writer swaps the full buffer for an empty one and writes it in one go. So many small messages
//! cost one write, and no message needs an allocation of its own.
//!
//! Invariants: the buffer holds whole frames only (a failed one is cut off again); it is bounded by `limit` plus
//! one message; after [`Outbox::close`] nothing is added.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio_util::codec::Encoder;

use crate::framing::FrameError;

/// A buffer that grew over this for one large message is not kept for small ones.
const KEEP_CAPACITY: usize = 256 * 1024;

type FrameEncoder = Box<dyn for<'a> Encoder<&'a [u8], Error = FrameError> + Send>;

pub(super) struct Outbox {
    state: Mutex<State>,
    /// Something to write, or nothing more to come.
    filled: Notify,
    /// The writer took the buffer.
    room: Notify,
    limit: usize,
}

struct State {
    encoder: FrameEncoder,
    buffer: BytesMut,
    /// Where a body is serialised before its frame is known; kept to save an allocation per message.
    body: Vec<u8>,
    closed: bool,
}

/// Why something was not added.
#[derive(Debug)]
pub(super) enum PushError {
    /// Too much is waiting already.
    Full,
    /// Nothing is taken any more.
    Closed,
    /// It cannot be written, ever.
    Unsendable(String),
}

impl Outbox {
    pub(super) fn new(encoder: FrameEncoder, limit: usize) -> Self {
        let state = State { encoder, buffer: BytesMut::new(), body: Vec::new(), closed: false };
        Self { state: Mutex::new(state), filled: Notify::new(), room: Notify::new(), limit }
    }

    /// A writer that panics leaves whole frames behind (see [`State::append`]), so the lock is never poisoned for good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame if there is room.
    pub(super) fn try_push<W>(&self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        self.add(write, self.limit)
    }

    /// Adds a frame whether or not there is room: for the one short answer a request must get.
    pub(super) fn push_over_limit<W>(&self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        self.add(write, usize::MAX)
    }

    /// Adds a frame, waiting for room.
    pub(super) async fn push<W>(&self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        loop {
            let room = self.room.notified();
            match self.try_push(write) {
                Err(PushError::Full) => room.await,
                done => return done,
            }
        }
    }

    fn add<W>(&self, write: &W, limit: usize) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        let mut state = self.lock();
        if state.closed {
            return Err(PushError::Closed);
        }
        if state.buffer.len() >= limit {
            return Err(PushError::Full);
        }
        let was_empty = state.buffer.is_empty();
        state.append(write)?;
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits until there is room.
    pub(super) async fn wait_for_room(&self) {
        while self.is_full() {
            let room = self.room.notified();
            if self.is_full() {
                room.await;
            }
        }
    }

    fn is_full(&self) -> bool {
        let state = self.lock();
        !state.closed && state.buffer.len() >= self.limit
    }

    /// Takes nothing more; what is there is still written.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.room.notify_waiters();
    }

    /// Writes what comes until the outbox is closed and empty.
    pub(super) async fn write_to<W: AsyncWrite + Unpin>(&self, mut sink: W) -> std::io::Result<()> {
        let mut taken = BytesMut::new();
        while self.take(&mut taken).await {
            sink.write_all(&taken).await?;
            sink.flush().await?;
            if taken.capacity() > KEEP_CAPACITY {
                taken = BytesMut::new();
            }
        }
        sink.shutdown().await
    }

    /// Swaps the filled buffer for `taken`, which becomes the next one to fill; false when all is done.
    async fn take(&self, taken: &mut BytesMut) -> bool {
        taken.clear();
        loop {
            {
                let mut state = self.lock();
                if !state.buffer.is_empty() {
                    std::mem::swap(&mut state.buffer, taken);
                    drop(state);
                    self.room.notify_waiters();
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.filled.notified().await;
        }
    }
}

impl State {
    fn append<W>(&mut self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        if self.body.capacity() > KEEP_CAPACITY {
            self.body = Vec::new();
        }
        // Emptied before, not after: a serialiser that panicked may have left half a body here.
        self.body.clear();
        write(&mut self.body).map_err(|error| PushError::Unsendable(error.to_string()))?;
        let whole_frames = self.buffer.len();
        self.encoder.encode(&self.body, &mut self.buffer).map_err(|error| {
            self.buffer.truncate(whole_frames);
            PushError::Unsendable(error.to_string())
        })
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox")
            .field("waiting", &self.lock().buffer.len())
            .field("limit", &self.limit)
            .finish()
    }
}
