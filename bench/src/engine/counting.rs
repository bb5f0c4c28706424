//! Counts what is written to a store, one after another.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use loggia_domain::{BoxFuture, Event, NewEvent, RunningReply, SessionId, Store, StoreError};
use loggia_tests::Between;

/// Passes everything on and counts what has to be waited for.
#[derive(Debug, Default)]
pub(super) struct Counts {
    appends: AtomicUsize,
    kept: AtomicUsize,
}

impl Counts {
    /// How often events were appended and running replies kept.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.appends.load(Relaxed), self.kept.load(Relaxed))
    }
}

impl Between for Counts {
    fn append<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        self.appends.fetch_add(1, Relaxed);
        below.append(session, events)
    }

    fn keep_reply<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        reply: RunningReply,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.kept.fetch_add(1, Relaxed);
        below.keep_reply(session, reply)
    }
}
