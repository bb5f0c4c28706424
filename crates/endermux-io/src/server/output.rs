//! What a command says to whoever gave it, where that was negotiated.
//!
//! Invariant: a command with an answer has exactly one end: a status, or an `ERROR`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use loggia_protocol_endermux::{ColorLevel, Envelope, LogForward, Message, RequestId};

use super::outbox::{Gone, Outbox};
use super::pieces::pieces;

/// How a command ended whose output was dropped without a word, after it had been taken on.
const ABANDONED: i32 = 1;

/// Nobody has said how it ends.
const OPEN: u8 = 0;
/// The output was dropped, and the host has not said whether the command was taken on.
const DROPPED: u8 = 1;
/// The host has taken the command on, and its output is still in use.
const TAKEN: u8 = 2;
/// The end was told.
const ENDED: u8 = 3;

/// Where a command's own output goes. It may outlive the call that got it.
#[derive(Debug)]
pub struct Output {
    answer: Option<Answer>,
    level: ColorLevel,
}

/// The answer a command owes.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    outbox: Arc<Outbox>,
    id: RequestId,
    state: Arc<AtomicU8>,
}

impl Output {
    pub(crate) fn new(answer: Option<Answer>, level: ColorLevel) -> Self {
        Self { answer, level }
    }

    /// Whether the caller waits for output and an end of its own. Others see what a command does in the log.
    pub fn is_awaited(&self) -> bool {
        self.answer.is_some()
    }

    /// The caller's colours.
    pub fn color_level(&self) -> ColorLevel {
        self.level
    }

    /// Sends text to the caller alone, waiting while it takes none. Nothing is sent where nobody waits for it.
    ///
    /// # Errors
    /// [`Gone`] when the caller is.
    pub async fn print(&self, text: &str) -> Result<(), Gone> {
        let Some(answer) = &self.answer else { return Ok(()) };
        for piece in pieces(text) {
            answer.outbox.room().await?;
            let forward = Message::LogForward(LogForward::new(piece));
            answer.outbox.reply(&Envelope::with_id(answer.id.clone(), forward));
        }
        Ok(())
    }

    /// Tells the caller how the command ended: 0 for well.
    pub fn finish(self, status: i32) {
        if let Some(answer) = &self.answer {
            answer.end(status);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let Some(answer) = &self.answer else { return };
        let dropped = answer.state.compare_exchange(OPEN, DROPPED, Ordering::AcqRel, Ordering::Acquire);
        if dropped == Err(TAKEN) {
            answer.end(ABANDONED);
        }
    }
}

impl Answer {
    pub(crate) fn new(outbox: Arc<Outbox>, id: RequestId) -> Self {
        Self { outbox, id, state: Arc::new(AtomicU8::new(OPEN)) }
    }

    /// The host took the command on. If it has no more to say, the command has ended well.
    pub(crate) fn taken(&self) {
        let taken = self.state.compare_exchange(OPEN, TAKEN, Ordering::AcqRel, Ordering::Acquire);
        if taken == Err(DROPPED) {
            self.end(0);
        }
    }

    /// Whether the end can still be told, which the asker then does.
    pub(crate) fn claim(&self) -> bool {
        self.state.swap(ENDED, Ordering::AcqRel) != ENDED
    }

    fn end(&self, status: i32) {
        if self.claim() {
            let last = LogForward { rendered: String::new(), status: Some(status) };
            self.outbox.reply(&Envelope::with_id(self.id.clone(), Message::LogForward(last)));
        }
    }
}
