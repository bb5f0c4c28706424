//! The policies of all workspaces: files in the data directory, and what is known of them in memory.
//!
//! A file that somebody edited by hand holds from the next call on.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use loggia_domain::{Policy, Rule, WorkspaceId};

use crate::policy::files::{PolicyFileError, PolicyFiles};

/// The policies of all workspaces.
#[derive(Debug)]
pub(crate) struct Policies {
    files: PolicyFiles,
    known: Mutex<HashMap<WorkspaceId, Known>>,
}

/// A policy, and when its file was last changed when it was read; nothing if there was no file.
#[derive(Debug)]
struct Known {
    policy: Arc<Policy>,
    changed: Option<SystemTime>,
}

impl Policies {
    pub(crate) fn new(directory: PathBuf, base: Policy) -> Self {
        Self { files: PolicyFiles::new(directory, base), known: Mutex::new(HashMap::new()) }
    }

    /// A map whose entries are whole cannot be left broken by a panic.
    fn known(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A workspace's policy as it is now.
    pub(crate) fn get(&self, workspace: WorkspaceId) -> Result<Arc<Policy>, PolicyFileError> {
        // Looked at before the file is read: a change in between is found next time.
        let changed = self.changed(workspace);
        let mut known = self.known();
        if let Some(known) = known.get(&workspace).filter(|known| known.changed == changed) {
            return Ok(Arc::clone(&known.policy));
        }
        let policy = Arc::new(self.files.load(workspace)?);
        known.insert(workspace, Known { policy: Arc::clone(&policy), changed });
        Ok(policy)
    }

    fn changed(&self, workspace: WorkspaceId) -> Option<SystemTime> {
        std::fs::metadata(self.files.path(workspace)).and_then(|file| file.modified()).ok()
    }

    /// Changes a workspace's policy, if it still has the revision the change was made for.
    pub(crate) fn set(
        &self,
        workspace: WorkspaceId,
        policy: Policy,
        expected: u64,
    ) -> Result<Arc<Policy>, PolicyFileError> {
        // One at a time, so that the revision cannot change between check and write.
        let mut known = self.known();
        let saved = Arc::new(self.files.save(workspace, policy, expected)?);
        let changed = self.changed(workspace);
        known.insert(workspace, Known { policy: Arc::clone(&saved), changed });
        Ok(saved)
    }

    /// Adds rules in front of the others: what people have just decided is newer than what they wrote down.
    pub(crate) fn add_rules(&self, workspace: WorkspaceId, rules: &[Rule]) -> Result<(), PolicyFileError> {
        loop {
            let current = self.get(workspace)?;
            let mut policy = Policy::clone(&current);
            let new: Vec<Rule> = rules.iter().filter(|rule| !policy.rules.contains(rule)).cloned().collect();
            if new.is_empty() {
                return Ok(());
            }
            policy.rules.splice(0..0, new);
            match self.set(workspace, policy, current.revision) {
                // Somebody changed it in between; what was decided holds for the changed one, too.
                Err(PolicyFileError::Stale { .. }) => {}
                done => return done.map(drop),
            }
        }
    }
}
