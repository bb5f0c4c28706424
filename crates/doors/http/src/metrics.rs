//! What the door counts, for `GET /metrics`.

mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;

pub(crate) use text::Text;

/// Upper bounds of the buckets of answering times, in microseconds: from a look into memory to a slow disk.
pub(crate) const BUCKETS: [u64; 10] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000];

/// Counts since the start, and what is open now.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// WebSockets that are open.
    pub(crate) sockets: AtomicU64,
    /// Messages clients sent.
    pub(crate) messages_in: AtomicU64,
    /// Messages clients were sent.
    pub(crate) messages_out: AtomicU64,
    /// File changes that clients told and an index was given.
    pub(crate) file_changes: AtomicU64,
    /// File changes that lead outside, mean nothing or find no index.
    pub(crate) file_changes_dropped: AtomicU64,
    /// Answers by the first digit of their status.
    pub(crate) answers: [AtomicU64; 5],
    /// Answers by the bucket of their time; the last one is for all that took longer.
    pub(crate) times: [AtomicU64; BUCKETS.len() + 1],
    /// The sum of all times, in microseconds.
    pub(crate) time: AtomicU64,
}

impl Metrics {
    /// One more.
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    #[allow(dead_code, reason = "counted by streams")]
    pub(crate) fn sub(counter: &AtomicU64) {
        counter.fetch_sub(1, Ordering::Relaxed);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, status: StatusCode, time: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, self.answers.len());
        Self::add(&self.answers[class - 1]);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|bound| micros <= *bound).unwrap_or(BUCKETS.len());
        Self::add(&self.times[bucket]);
        self.time.fetch_add(micros, Ordering::Relaxed);
    }
}
