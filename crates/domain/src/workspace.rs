//! Registered project directories.

use std::path::PathBuf;

use crate::{Timestamp, WorkspaceId};

/// A registered project directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// Its real path: absolute, without symbolic links.
    pub root: PathBuf,
    /// When it was registered.
    pub created: Timestamp,
}

/// How much is allowed without asking, from tightest to loosest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Reading only.
    ReadOnly,
    /// Reads are free, everything else is asked.
    Ask,
    /// Edits inside the workspace are free, commands are asked.
    AutoEdit,
    /// Everything that the built-in rules do not forbid.
    Full,
}
