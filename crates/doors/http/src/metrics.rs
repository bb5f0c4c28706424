//! What the door counts, for `GET /metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl Metrics {
    /// One more.
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub(crate) fn sub(counter: &AtomicU64) {
        counter.fetch_sub(1, Ordering::Relaxed);
    }
}
