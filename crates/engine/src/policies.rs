//! The policies of all workspaces: files in the data directory, and what is known of them in memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Policy, Rule, WorkspaceId};

use crate::policy::files::{PolicyFileError, PolicyFiles};

/// The policies of all workspaces.
#[derive(Debug)]
pub(crate) struct Policies {
    files: PolicyFiles,
    known: Mutex<HashMap<WorkspaceId, Arc<Policy>>>,
}

impl Policies {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { files: PolicyFiles::new(directory), known: Mutex::new(HashMap::new()) }
    }

    /// A map whose entries are whole cannot be left broken by a panic.
    fn known(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Arc<Policy>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A workspace's policy as it is now.
    pub(crate) fn get(&self, workspace: WorkspaceId) -> Result<Arc<Policy>, PolicyFileError> {
        if let Some(policy) = self.known().get(&workspace) {
            return Ok(Arc::clone(policy));
        }
        let policy = Arc::new(self.files.load(workspace)?);
        self.known().insert(workspace, Arc::clone(&policy));
        Ok(policy)
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
        known.insert(workspace, Arc::clone(&saved));
        Ok(saved)
    }

    /// Adds rules in front of the others: what people have just decided is newer than what they wrote down.
    pub(crate) fn add_rules(&self, workspace: WorkspaceId, rules: Vec<Rule>) -> Result<(), PolicyFileError> {
        let current = self.get(workspace)?;
        let mut policy = Policy::clone(&current);
        let new: Vec<Rule> = rules.into_iter().filter(|rule| !policy.rules.contains(rule)).collect();
        if new.is_empty() {
            return Ok(());
        }
        policy.rules.splice(0..0, new);
        self.set(workspace, policy, current.revision).map(drop)
    }
}
