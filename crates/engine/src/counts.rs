//! What has happened since the engine started, in numbers.
//!
//! Counted where events are stored, so that a number never runs ahead of the journals. Journals of earlier runs are
//! not counted again.

use std::sync::atomic::{AtomicU64, Ordering};

use loggia_domain::EventBody;

/// What has happened since the engine started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Turns that began or went on.
    pub turns_started: u64,
    /// Turns that ended, however.
    pub turns_ended: u64,
    /// Tokens models were sent.
    pub tokens_in: u64,
    /// Tokens models wrote.
    pub tokens_out: u64,
    /// Tools that were called.
    pub tool_calls: u64,
    /// Questions put to people.
    pub approvals_asked: u64,
    /// Questions answered.
    pub approvals_decided: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    turns_started: AtomicU64,
    turns_ended: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
    tool_calls: AtomicU64,
    approvals_asked: AtomicU64,
    approvals_decided: AtomicU64,
}

impl Counters {
    /// Takes a stored event into account.
    pub(crate) fn count(&self, body: &EventBody) {
        let add = |counter: &AtomicU64, more: u64| {
            counter.fetch_add(more, Ordering::Relaxed);
        };
        match body {
            EventBody::TurnStarted { .. } | EventBody::TurnContinued { .. } => add(&self.turns_started, 1),
            EventBody::TurnEnded { .. } => add(&self.turns_ended, 1),
            EventBody::MessageEnded { usage, .. } => {
                add(&self.tokens_in, usage.input);
                add(&self.tokens_out, usage.output);
            }
            EventBody::ToolRequested { .. } => add(&self.tool_calls, 1),
            EventBody::ApprovalAsked { .. } => add(&self.approvals_asked, 1),
            EventBody::ApprovalDecided { .. } => add(&self.approvals_decided, 1),
            _ => {}
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            turns_started: of(&self.turns_started),
            turns_ended: of(&self.turns_ended),
            tokens_in: of(&self.tokens_in),
            tokens_out: of(&self.tokens_out),
            tool_calls: of(&self.tool_calls),
            approvals_asked: of(&self.approvals_asked),
            approvals_decided: of(&self.approvals_decided),
        }
    }
}
