//! What a command changed, with the bytes of both sides.
//!
//! Invariant: the bytes of every change that is listed were there when it was listed, and the copies of them stay
//! as long as this does.

use std::sync::Arc;

use loggia_domain::{FileChange, FileState, ObservedChange};

use super::diff::{Differ, Side};
use super::manifest::Manifest;
use super::source::Source;

/// What changed since a snapshot.
///
/// To undo it: first remove the files with no `before`, and the directories that this leaves empty; then write
/// those that have one. So a directory that took a file's place is out of the way.
#[derive(Debug)]
pub struct Observed {
    /// Each change that can be undone, sorted by path. A renamed file is gone and another one is there.
    pub changes: Vec<FileChange>,
    /// How many more files changed, or may have: their bytes could not be kept, or they are too many to list.
    pub beyond_undo: u64,
    pub(super) source: Arc<Source>,
    /// The mirror removes no copy that one of these names.
    pub(super) _in_use: [Arc<Manifest>; 2],
}

impl Observed {
    /// What the file held before, or where the link led; nothing if it was not there, or its copy was damaged
    /// in the meantime.
    pub fn before_bytes(&self, change: &FileChange) -> Option<Vec<u8>> {
        self.source.bytes(&change.path, change.before?)
    }

    /// What the file holds now, or where the link leads; nothing if it is gone, or no copy was kept and it has
    /// changed again.
    pub fn after_bytes(&self, change: &FileChange) -> Option<Vec<u8>> {
        self.source.bytes(&change.path, change.after?)
    }

    /// The changes with diffs for people to read: git-style, text only, bounded for each file and in all.
    pub fn observed_changes(&self) -> Vec<ObservedChange> {
        let mut differ = Differ::new();
        let changes = self.changes.iter();
        changes
            .map(|change| ObservedChange { change: change.clone(), diff: self.diff(&mut differ, change) })
            .collect()
    }

    fn diff(&self, differ: &mut Differ, change: &FileChange) -> String {
        if differ.is_spent() {
            return String::new();
        }
        let side = |state: Option<FileState>| match state {
            Some(state) => self.source.bytes(&change.path, state).map(|bytes| Some(Side { state, bytes })),
            None => Some(None),
        };
        match (side(change.before), side(change.after)) {
            (Some(before), Some(after)) => differ.diff(&change.path, before.as_ref(), after.as_ref()),
            _ => String::new(),
        }
    }
}
