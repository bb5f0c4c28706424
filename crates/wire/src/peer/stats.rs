//! Counts of what went through a connection and what went wrong on it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a connection has counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames read.
    pub frames: u64,
    /// Answers to calls that had been given up.
    pub late_answers: u64,
    /// Answers to calls that were never made.
    pub unknown_answers: u64,
    /// Frames that were not JSON, not a message or over-long lines.
    pub malformed: u64,
    /// Requests refused because too much was under way.
    pub overloaded: u64,
    /// Notifications nobody listens to.
    pub unheard: u64,
}

/// The same, still counting.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) frames: AtomicU64,
    pub(super) late_answers: AtomicU64,
    pub(super) unknown_answers: AtomicU64,
    pub(super) malformed: AtomicU64,
    pub(super) overloaded: AtomicU64,
    pub(super) unheard: AtomicU64,
}

impl Counters {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Relaxed);
    }

    pub(super) fn snapshot(&self) -> Stats {
        Stats {
            frames: self.frames.load(Relaxed),
            late_answers: self.late_answers.load(Relaxed),
            unknown_answers: self.unknown_answers.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            overloaded: self.overloaded.load(Relaxed),
            unheard: self.unheard.load(Relaxed),
        }
    }
}
