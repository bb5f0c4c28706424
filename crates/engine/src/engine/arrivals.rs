//! Hearing of every session, without a place on any.
//!
//! For doors that tell of all sessions. Whoever listens keeps no session in memory, is no client of it and cannot ask
//! anything of it. Invariant: what a session tells from the moment it comes into memory is heard, in its order.

use std::sync::Arc;

use loggia_domain::{Seq, SessionId, Store};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::engine::{Engine, Shared};
use crate::session::{Feed, SessionHandle, Subscription};

/// Sessions that may come into memory while one who listens does something else: more than are ever loaded at once.
pub(super) const ROOM: usize = 1024;

/// A session that came into memory.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    session: SessionId,
    feed: Arc<Feed>,
    /// The last event before it came.
    after: Seq,
}

/// Sessions as they come into memory; those that were there already come first.
pub struct Arrivals {
    there: Vec<Arrival>,
    /// What was there already may be told of once more.
    known: Vec<Arc<Feed>>,
    coming: broadcast::Receiver<Arrival>,
    store: Arc<dyn Store>,
}

impl Arrivals {
    /// The next one: what it tells from then on, and the last event before. Nothing if the engine has gone.
    pub async fn next(&mut self) -> Option<(SessionId, Seq, Subscription)> {
        let arrival = match self.there.pop() {
            Some(arrival) => arrival,
            None => self.coming().await?,
        };
        let Arrival { session, feed, after } = arrival;
        Some((session, after, Subscription::new(feed, Arc::clone(&self.store), session, after)))
    }

    async fn coming(&mut self) -> Option<Arrival> {
        loop {
            match self.coming.recv().await {
                Ok(arrival) if self.known.iter().any(|known| Arc::ptr_eq(known, &arrival.feed)) => {}
                Ok(arrival) => {
                    self.known.clear();
                    return Some(arrival);
                }
                Err(RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "some sessions are not told of until they are loaded again");
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl std::fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrivals").field("there", &self.there.len()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Sessions as they come into memory, beginning with those that are there.
    pub fn arrivals(&self) -> Arrivals {
        // Before the look: one that comes meanwhile is seen twice rather than not at all.
        let coming = self.shared.arrivals.subscribe();
        let slots: Vec<_> = self.shared.sessions().values().cloned().collect();
        let there: Vec<_> =
            slots.iter().filter_map(|slot| slot.try_lock().ok()?.as_ref().map(Arrival::of)).collect();
        let known = there.iter().map(|arrival| Arc::clone(&arrival.feed)).collect();
        Arrivals { there, known, coming, store: Arc::clone(&self.shared.parts.store) }
    }
}

impl Shared {
    /// Tells those who listen that a session has come. Before its task begins, so that they miss nothing.
    pub(crate) fn announce(&self, handle: &SessionHandle) {
        // Nobody may be listening.
        let _ = self.arrivals.send(Arrival::of(handle));
    }
}

impl Arrival {
    fn of(handle: &SessionHandle) -> Self {
        Self { session: handle.id, after: handle.feed.last(), feed: Arc::clone(&handle.feed) }
    }
}
