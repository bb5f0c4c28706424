//! How a session was when somebody looked last, for those who look again.
//!
//! Only the session's task fills this, when it is asked, and it empties this before it changes anything. So what is here
//! is always what the task would answer, a change finds nobody else holding the state on this account, and whoever
//! was told of a change finds it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::state::State;

/// The state as it was shown last, while it is still so.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<Option<Arc<State>>>);

impl Shown {
    /// The state, if nothing has happened since it was shown.
    pub(crate) fn get(&self) -> Option<Arc<State>> {
        self.lock().clone()
    }

    /// Somebody is shown this.
    pub(crate) fn set(&self, state: &Arc<State>) {
        *self.lock() = Some(Arc::clone(state));
    }

    /// Something is about to happen.
    pub(crate) fn clear(&self) {
        // Dropped outside the lock: it may be large.
        let old = self.lock().take();
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<State>>> {
        // One assignment at a time: a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
