//! Policies on disk: one file for each workspace, in a directory of our own.
//!
//! Knows where a policy lies and who changed it last. Refuses to know workspaces: a file is found by an id.
//!
//! What always holds: a file is replaced whole or not at all; a file that cannot be read is never overwritten; only
//! its owner may read it.

pub(crate) mod format;
pub(crate) mod replace;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use loggia_domain::{Policy, WorkspaceId};

use super::{PolicyError, check};

/// No policy anybody writes is longer.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;

/// Stands at the top of every file we write.
const HEADER: &str = "\
# The policy of one workspace. Loggia reads it when a session starts and rewrites it when the policy is changed
# through a client; comments below this one are lost then.
#
# preset: read-only | ask | auto-edit | full
#
# Rules are read in order: any rule that denies wins, else the first that matches, else the preset. A rule's `tool` and
# `path` are globs, the path relative to the workspace. Its `command` is a pattern over words: `git push *`. What is
# left out matches everything. `examples` are checked whenever the file is read.
";

/// Why a policy could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// The text is not a policy.
    #[error("{problem}")]
    Format {
        /// What is wrong, where, and what to do.
        problem: String,
    },
    /// The file's text is not a policy.
    #[error("`{}`: {problem}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what to do.
        problem: String,
    },
    /// The policy's rules cannot be used.
    #[error(transparent)]
    Rules(#[from] PolicyError),
    /// Somebody else changed the policy first.
    #[error(
        "the policy is at revision {found}, and the change was made to revision {expected}; read it again"
    )]
    Stale {
        /// What the change was made to.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The file or its directory cannot be used.
    #[error("cannot use `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The policies of all workspaces.
#[derive(Debug)]
pub struct PolicyFiles {
    directory: PathBuf,
    /// What holds where nothing was written.
    base: Policy,
    /// Between reading a revision and writing the next one.
    saving: Mutex<()>,
}

impl PolicyFiles {
    /// Policies in this directory, which is made when the first one is written. What none of them says is as in the base.
    pub fn new(directory: impl Into<PathBuf>, base: Policy) -> Self {
        Self { directory: directory.into(), base, saving: Mutex::new(()) }
    }

    /// Where a workspace's policy lies.
    pub fn path(&self, workspace: WorkspaceId) -> PathBuf {
        self.directory.join(format!("{workspace}.toml"))
    }

    /// A workspace's policy; the base if none was written.
    ///
    /// # Errors
    /// A file that cannot be read or is not a policy.
    pub fn load(&self, workspace: WorkspaceId) -> Result<Policy, PolicyFileError> {
        let path = self.path(workspace);
        let Some(text) =
            read_bounded(&path).map_err(|source| PolicyFileError::Io { path: path.clone(), source })?
        else {
            return Ok(self.base.clone());
        };
        let policy = format::policy_from(&text, &self.base)
            .map_err(|problem| PolicyFileError::Damaged { path, problem })?;
        check(&policy)?;
        Ok(policy)
    }

    /// Replaces a workspace's policy, if it is still at the revision the change was made to. Gives it back with its new
    /// revision.
    ///
    /// # Errors
    /// A policy whose rules cannot be used, one that somebody else changed first, or a file that cannot be used.
    pub fn save(
        &self,
        workspace: WorkspaceId,
        policy: Policy,
        expected_revision: u64,
    ) -> Result<Policy, PolicyFileError> {
        check(&policy)?;
        // Whoever panicked while saving left the file whole.
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.load(workspace)?.revision;
        if found != expected_revision {
            return Err(PolicyFileError::Stale { expected: expected_revision, found });
        }
        let policy = Policy { revision: found + 1, ..policy };
        let path = self.path(workspace);
        let text = format::text_of(&policy).map_err(|problem| PolicyFileError::Format { problem })?;
        replace::replace(&path, format!("{HEADER}\n{text}").as_bytes())
            .map_err(|source| PolicyFileError::Io { path, source })?;
        Ok(policy)
    }
}

/// A file's text; nothing if it is not there.
pub(crate) fn read_bounded(path: &Path) -> io::Result<Option<String>> {
    let length = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if length > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {length} bytes")));
    }
    fs::read_to_string(path).map(Some)
}

#[cfg(test)]
mod documented;
#[cfg(test)]
mod tests;
