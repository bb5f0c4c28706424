//! What waits to be written: one buffer of whole frames.
//!
//! Whoever has something to say serialises it on its own thread, in a buffer that thread keeps for the purpose, and
//! appends the frame under a short lock; the writer swaps the full buffer for an empty one and writes it in one
//! go. So many small messages cost one write, and no message needs an allocation of its own.
//!
//! Invariants: the buffer holds whole frames only (a failed one is cut off again); it is bounded by `limit` plus
//! one message; after [`Outbox::close`] nothing is added.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio_util::codec::Encoder;

use crate::framing::FrameError;

/// A buffer that grew over this for one large message is not kept for small ones.
const KEEP_CAPACITY: usize = 256 * 1024;

/// From so many bytes on, the other side could be reading while we go on: they are written before the next frame is
/// served. Less is better written together with what follows.
const WORTH_WRITING: usize = 32 * 1024;

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
    /// How many of the bytes are answers: what reading on would make more of.
    answers: usize,
    closed: bool,
}

/// What is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A call or a notification of ours.
    Own,
    /// An answer to what the peer sent.
    Answer,
}

/// How much waits to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressure {
    /// Little or nothing.
    None,
    /// Enough to write before more is read.
    Some,
    /// As many answers as may wait.
    Full,
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
        let state = State { encoder, buffer: BytesMut::new(), answers: 0, closed: false };
        Self { state: Mutex::new(state), filled: Notify::new(), room: Notify::new(), limit }
    }

    /// An encoder that panics leaves whole frames behind or none, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame if there is room.
    pub(super) fn try_push<W>(&self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        self.add(write, self.limit, Sort::Own)
    }

    /// Adds a frame whether or not there is room: for the one short answer a request must get.
    pub(super) fn push_over_limit<W>(&self, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        self.add(write, usize::MAX, Sort::Answer)
    }

    /// Adds a frame, waiting for room.
    pub(super) async fn push<W>(&self, sort: Sort, write: &W) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        loop {
            let room = self.room.notified();
            match self.add(write, self.limit, sort) {
                Err(PushError::Full) => room.await,
                done => return done,
            }
        }
    }

    /// Adds several frames in one step, waiting for room: the writer takes all of them or none.
    pub(super) async fn push_together(&self, bodies: &[Vec<u8>]) -> Result<(), PushError> {
        loop {
            let room = self.room.notified();
            match self.append(bodies, self.limit, Sort::Own) {
                Err(PushError::Full) => room.await,
                done => return done,
            }
        }
    }

    fn add<W>(&self, write: &W, limit: usize, sort: Sort) -> Result<(), PushError>
    where
        W: Fn(&mut Vec<u8>) -> Result<(), serde_json::Error> + ?Sized,
    {
        self.lock().check(limit)?;
        let mut body = SCRATCH.take();
        body.clear();
        let added = write(&mut body)
            .map_err(|error| PushError::Unsendable(error.to_string()))
            .and_then(|()| self.append(std::slice::from_ref(&body), limit, sort));
        if body.capacity() <= KEEP_CAPACITY {
            SCRATCH.set(body);
        }
        added
    }

    fn append(&self, bodies: &[Vec<u8>], limit: usize, sort: Sort) -> Result<(), PushError> {
        let mut state = self.lock();
        state.check(limit)?;
        let whole_frames = state.buffer.len();
        let State { encoder, buffer, .. } = &mut *state;
        for body in bodies {
            if let Err(error) = encoder.encode(body, buffer) {
                buffer.truncate(whole_frames);
                return Err(PushError::Unsendable(error.to_string()));
            }
        }
        if sort == Sort::Answer {
            state.answers += state.buffer.len() - whole_frames;
        }
        drop(state);
        if whole_frames == 0 {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// How urgently the writer should get its turn.
    pub(super) fn pressure(&self) -> Pressure {
        let state = self.lock();
        if state.closed {
            Pressure::None
        } else if state.answers >= self.limit {
            Pressure::Full
        } else if state.buffer.len() >= WORTH_WRITING {
            Pressure::Some
        } else {
            Pressure::None
        }
    }

    /// Waits until there is room for answers; false when nothing was written for `patience`.
    pub(super) async fn wait_for_room(&self, patience: Duration) -> bool {
        loop {
            let room = self.room.notified();
            if self.pressure() != Pressure::Full {
                return true;
            }
            if tokio::time::timeout(patience, room).await.is_err() {
                return false;
            }
        }
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
                    state.answers = 0;
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
    fn check(&self, limit: usize) -> Result<(), PushError> {
        if self.closed {
            Err(PushError::Closed)
        } else if self.buffer.len() >= limit {
            Err(PushError::Full)
        } else {
            Ok(())
        }
    }
}

thread_local! {
    /// Where this thread serialises a body before its frame is known. Taken out while in use, so that a serialiser
    /// which itself sends something finds an empty one.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox")
            .field("waiting", &self.lock().buffer.len())
            .field("limit", &self.limit)
            .finish()
    }
}
