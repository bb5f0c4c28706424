//! A [`Queue`] that several can fill and one writes out.
//!
//! Invariants: filling never waits; only the writer touches the stream; after [`Outbox::close`] nothing is added, and
//! what is there is still written. The first log after a pause is written at once and every answer is, too; logs that
//! follow are gathered for [`GATHER`], since to wake the writer for each costs more than to write it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use loggia_protocol_endermux::{Envelope, Failure, Framing, Message};
use loggia_wire::framing::FrameError;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::log;
use super::queue::{LogPiece, Outgoing, Queue};
use crate::frame;
use crate::limits::{GATHER, LOG_QUEUE, REPLY_QUEUE, WRITE_BATCH};

/// What waits to be written to one client.
#[derive(Debug)]
pub(crate) struct Outbox {
    framing: Framing,
    state: Mutex<State>,
    /// There is something to write, or nothing more will come.
    filled: Notify,
    /// Something was written.
    emptied: Notify,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    closed: bool,
    waits: Waits,
}

/// What the writer waits for, so that nobody wakes it in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// For nothing: it looks again by itself.
    No,
    /// For whatever comes.
    ForAnything,
    /// For an answer, for enough logs, or for its time to be over.
    Gathering,
}

/// What the writer does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Write,
    Wait,
    End,
}

impl State {
    /// Whether what waits is to be written now: somebody waits for an answer, or there is enough for a write.
    fn is_urgent(&self) -> bool {
        self.queue.reply_bytes() > 0 || self.queue.log_bytes() >= WRITE_BATCH
    }
}

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client is gone")]
pub struct Gone;

impl Outbox {
    pub(crate) fn new(framing: Framing) -> Self {
        let state = State { queue: Queue::new(LOG_QUEUE), closed: false, waits: Waits::No };
        Self { framing, state: Mutex::new(state), filled: Notify::new(), emptied: Notify::new() }
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// The queue is whole after every step, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, add: impl FnOnce(&mut Queue)) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        add(&mut state.queue);
        let wakes = match state.waits {
            Waits::No => false,
            Waits::ForAnything => true,
            Waits::Gathering => state.is_urgent(),
        };
        if wakes {
            state.waits = Waits::No;
            drop(state);
            self.filled.notify_one();
        }
    }

    /// Adds an answer. One that fits no frame becomes an `ERROR` under the same id, which always does.
    pub(crate) fn reply(&self, message: &Envelope<Message>) {
        match frame::from_server(self.framing, message).or_else(|error| self.too_large(message, &error)) {
            Ok(frame) => self.fill(|queue| queue.push_reply(frame)),
            Err(error) => tracing::warn!(%error, "an answer is not sent"),
        }
    }

    fn too_large(&self, message: &Envelope<Message>, error: &FrameError) -> Result<Bytes, FrameError> {
        let failure = Message::Error(Failure::new(format!("The answer cannot be sent: {error}")));
        frame::from_server(self.framing, &Envelope::answering(message, failure))
    }

    pub(crate) fn status(&self, message: &Envelope<Message>) {
        match frame::from_server(self.framing, message) {
            Ok(frame) => self.fill(|queue| queue.push_status(frame)),
            Err(error) => tracing::warn!(%error, "a status is not sent"),
        }
    }

    pub(crate) fn log(&self, pieces: &[LogPiece]) {
        self.fill(|queue| queue.push_log(pieces));
    }

    /// See [`Queue::hold`].
    pub(crate) fn hold_logs(&self) {
        self.fill(Queue::hold);
    }

    /// See [`Queue::release`].
    pub(crate) fn release_logs(&self, earlier: Vec<LogPiece>) {
        self.fill(|queue| queue.release(earlier));
    }

    /// Waits until another answer may be added.
    pub(crate) async fn room(&self) -> Result<(), Gone> {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            // Registered before the look, so that a write in between is not missed.
            emptied.as_mut().enable();
            {
                let state = self.lock();
                if state.closed {
                    return Err(Gone);
                }
                if state.queue.reply_bytes() < REPLY_QUEUE {
                    return Ok(());
                }
            }
            emptied.await;
        }
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }

    /// Writes what comes until the outbox is closed and empty.
    pub(crate) async fn write_to<W: AsyncWrite + Unpin>(&self, mut sink: W) -> std::io::Result<()> {
        let (mut taken, mut batch) = (Vec::new(), Vec::new());
        loop {
            match self.take(&mut taken) {
                Next::Write => {
                    self.emptied.notify_waiters();
                    // Outside the lock: nobody who logs waits for this.
                    batch.clear();
                    taken.drain(..).for_each(|outgoing| self.put(outgoing, &mut batch));
                    sink.write_all(&batch).await?;
                    sink.flush().await?;
                    self.gather().await;
                }
                Next::Wait => self.filled.notified().await,
                Next::End => return sink.shutdown().await,
            }
        }
    }

    /// Takes what makes a batch.
    fn take(&self, taken: &mut Vec<Outgoing>) -> Next {
        let mut state = self.lock();
        state.waits = Waits::No;
        let mut bytes = 0;
        while bytes < WRITE_BATCH
            && let Some(outgoing) = state.queue.pop()
        {
            if let Outgoing::Frame(frame) = &outgoing {
                bytes += frame.len();
            }
            taken.push(outgoing);
        }
        if !taken.is_empty() {
            Next::Write
        } else if state.closed {
            Next::End
        } else {
            state.waits = Waits::ForAnything;
            Next::Wait
        }
    }

    /// Lets logs come together, unless something cannot wait.
    async fn gather(&self) {
        {
            let mut state = self.lock();
            if state.closed || state.is_urgent() {
                return;
            }
            state.waits = Waits::Gathering;
        }
        // Either way the queue is looked at next.
        let _ = timeout(GATHER, self.filled.notified()).await;
    }

    fn put(&self, outgoing: Outgoing, batch: &mut Vec<u8>) {
        match outgoing {
            Outgoing::Frame(frame) => batch.extend_from_slice(&frame),
            Outgoing::Gap { lines, mid_line } => {
                for piece in log::frames(&log::gap(lines, mid_line), self.framing, None) {
                    batch.extend_from_slice(&piece.frame);
                }
            }
        }
    }
}
