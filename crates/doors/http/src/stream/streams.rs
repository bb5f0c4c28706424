//! All open streams: how many each token holds, and when the last one has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use loggia_protocol_agent_server::MAX_SOCKETS_PER_TOKEN;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::Proof;
use crate::door::Inner;
use crate::metrics::Metrics;
use crate::stream::presence::Presence;
use crate::stream::timing::Timing;

/// All open streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    timing: OnceLock<Timing>,
    /// How many streams each token holds, by its id. A process of the same user has no token and no limit.
    held: Mutex<HashMap<String, usize>>,
    open: TaskTracker,
    presence: Arc<Presence>,
}

/// A place among the open streams. Dropping it gives it back.
pub(super) struct Held {
    inner: Arc<Inner>,
    token: Option<String>,
    _open: TaskTrackerToken,
}

impl Streams {
    pub(super) fn set_timing(&self, timing: Timing) {
        // The first one holds, as documented.
        let _ = self.timing.set(timing);
    }

    pub(super) fn timing(&self) -> Timing {
        *self.timing.get_or_init(Timing::default)
    }

    /// Who is on which session.
    pub(super) fn presence(&self) -> &Arc<Presence> {
        &self.presence
    }

    /// Does something for a stream that may outlive it; its end is waited for as theirs is.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.open.spawn(work);
    }

    pub(super) async fn ended(&self) {
        self.open.close();
        self.open.wait().await;
    }

    /// A place for one more stream; nothing if the token holds as many as it may.
    pub(super) fn hold(inner: &Arc<Inner>, proof: &Proof) -> Option<Held> {
        let token = match proof {
            Proof::Token(id) => Some(id.clone()),
            Proof::SameUser => None,
        };
        if let Some(id) = &token {
            let mut held = inner.streams.held();
            let count = held.entry(id.clone()).or_default();
            if *count >= MAX_SOCKETS_PER_TOKEN {
                return None;
            }
            *count += 1;
        }
        Metrics::add(&inner.metrics.sockets);
        Some(Held { inner: Arc::clone(inner), token, _open: inner.streams.open.token() })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        Metrics::sub(&self.inner.metrics.sockets);
        let Some(token) = &self.token else { return };
        let mut held = self.inner.streams.held();
        if let Some(count) = held.get_mut(token) {
            *count -= 1;
            if *count == 0 {
                held.remove(token);
            }
        }
    }
}
