//! When indexes were built at somebody's request.
//!
//! An index does not say so itself; whoever begins its builds knows. One that began another way has no time here.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::{Timestamp, WorkspaceId};

/// The builds since the server started: the last one of each workspace.
#[derive(Debug, Default)]
pub(crate) struct Builds(Mutex<HashMap<WorkspaceId, Times>>);

/// When a workspace's index was built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// When the running build, or the last one, began.
    pub(super) started: Option<Timestamp>,
    /// When the last one ended.
    pub(super) finished: Option<Timestamp>,
    /// Requests that wait for the running build: who comes second joins it.
    waiting: usize,
}

impl Builds {
    /// A build begins, or somebody joins the one that runs.
    pub(super) fn begin(&self, workspace: WorkspaceId) {
        let mut all = self.all();
        let times = all.entry(workspace).or_default();
        if times.waiting == 0 {
            times.started = Some(Timestamp::now());
        }
        times.waiting += 1;
    }

    /// It has ended for one of those who wait for it.
    pub(super) fn end(&self, workspace: WorkspaceId) {
        if let Some(times) = self.all().get_mut(&workspace) {
            times.waiting = times.waiting.saturating_sub(1);
            if times.waiting == 0 {
                times.finished = Some(Timestamp::now());
            }
        }
    }

    pub(super) fn times(&self, workspace: WorkspaceId) -> Times {
        self.all().get(&workspace).copied().unwrap_or_default()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Times>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_was_joined_ends_once() {
        let (builds, workspace) = (Builds::default(), WorkspaceId::new());
        assert_eq!(builds.times(workspace), Times::default());
        builds.begin(workspace);
        let started = builds.times(workspace).started;
        builds.begin(workspace);
        builds.end(workspace);
        let times = builds.times(workspace);
        assert_eq!((times.started, times.finished), (started, None));
        assert!(started.is_some());
        builds.end(workspace);
        assert!(builds.times(workspace).finished >= started);
    }
}
