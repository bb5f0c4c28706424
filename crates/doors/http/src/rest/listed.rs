//! What lists said of sessions that are not in memory, so that the next list does not read their journals again.
//!
//! What always holds: what is kept of a session is true as long as its last event is the same, and what depends on
//! anything but its journal is not kept.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::{Seq, SessionId};
use loggia_protocol_agent_server as wire;

/// As many as a page in a browser asks for at a time, and as many again. When there are more, all are forgotten: the
/// next list reads those it shows.
const MAX_KEPT: usize = 1024;

/// What was said of sessions, and at which event.
#[derive(Debug, Default)]
pub(crate) struct Listed(Mutex<HashMap<SessionId, (Seq, wire::Session)>>);

impl Listed {
    /// What was said of a session when this was its last event.
    pub(super) fn get(&self, id: SessionId, last: Seq) -> Option<wire::Session> {
        self.kept().get(&id).filter(|(seq, _)| *seq == last).map(|(_, session)| session.clone())
    }

    /// Remembers what is said of a session with this last event.
    pub(super) fn keep(&self, id: SessionId, last: Seq, session: wire::Session) {
        let mut kept = self.kept();
        if kept.len() >= MAX_KEPT && !kept.contains_key(&id) {
            kept.clear();
        }
        kept.insert(id, (last, session));
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<SessionId, (Seq, wire::Session)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
