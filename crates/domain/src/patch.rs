//! Proposed changes to files.

use crate::{CallId, PatchId};

/// The SHA-256 of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// A proposed change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Its id.
    pub id: PatchId,
    /// The call that proposes it.
    pub call: CallId,
    /// The file, relative to the root, with `/` between its parts.
    pub path: String,
    /// What the change is.
    pub kind: FileChangeKind,
    /// What the file must hold for the change to fit; nothing if it must not exist.
    pub base: Option<ContentHash>,
    /// The change as a git-style unified diff.
    pub diff: String,
    /// Its hunks, in order.
    pub hunks: Vec<Hunk>,
    /// Why; never empty.
    pub rationale: String,
    /// How to tell that it is right.
    pub acceptance_criteria: Vec<String>,
}

/// One connected piece of a change. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old file.
    pub old_start: u32,
    /// How many lines of it.
    pub old_lines: u32,
    /// First line in the new file.
    pub new_start: u32,
    /// How many lines of it.
    pub new_lines: u32,
    /// The lines, each with its leading space, plus or minus.
    pub content: String,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, relative to the root.
    pub path: String,
    /// What happened.
    pub kind: FileChangeKind,
    /// What it holds now; nothing if it is gone.
    pub now: Option<ContentHash>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileChangeKind {
    /// It is made.
    Created,
    /// Its content changes.
    Modified,
    /// It goes.
    Deleted,
}

/// Why a patch was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchFailure {
    /// Somebody refused it.
    Refused,
    /// The file is not what the change was made for.
    Conflict {
        /// What it holds; nothing if it is not there.
        found: Option<ContentHash>,
    },
    /// It could not be written.
    Unwritable {
        /// What the system or the client said.
        message: String,
    },
}
