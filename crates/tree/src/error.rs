//! What can go wrong below a root.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

use crate::meta::Kind;
use crate::path::{PathError, TreePath};

/// Why something below the root was not done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The text is no path below the root.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A link on the way leads outside the root.
    #[error("`{path}` leads outside the workspace ({why}): give a path relative to the workspace root")]
    Outside {
        /// The path asked for.
        path: TreePath,
        /// What about it leads outside.
        why: &'static str,
    },
    /// What is only done without a link, such as a change, would go through one.
    #[error("`{path}` goes through a link: give the real path relative to the workspace root")]
    ThroughLink {
        /// The path asked for.
        path: TreePath,
    },
    /// Links lead to links, without end as far as we went.
    #[error("`{path}` leads through too many links: give the real path relative to the workspace root")]
    TooManyLinks {
        /// The path asked for.
        path: TreePath,
    },
    /// A file or directory on the way was replaced while it was in use.
    #[error("`{path}` was moved or replaced while it was in use: look again, then repeat the change")]
    Swapped {
        /// The path asked for.
        path: TreePath,
    },
    /// The file has more than one name, so another one may be outside the root.
    #[error(
        "`{path}` has more than one hard link and could be a file outside the workspace: \
         copy it to a new file below the workspace root and use that"
    )]
    HardLinked {
        /// The path asked for.
        path: TreePath,
    },
    /// The name is kept for our own unfinished files.
    #[error("`{path}` is a name kept for unfinished files: give another name below the workspace root")]
    Reserved {
        /// The path asked for.
        path: TreePath,
    },
    /// There is nothing at the path.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path asked for.
        path: TreePath,
    },
    /// There is something at the path that is no file.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The path asked for.
        path: TreePath,
        /// What is there.
        kind: Kind,
    },
    /// The path, or a part before its last, is no directory.
    #[error("`{path}` is not a directory or goes through something that is none")]
    NotADirectory {
        /// The path asked for.
        path: TreePath,
    },
    /// There is something at the path that is no link.
    #[error("`{path}` is {kind}, not a link")]
    NotALink {
        /// The path asked for.
        path: TreePath,
        /// What is there.
        kind: Kind,
    },
    /// The file is larger than the caller allows.
    #[error("`{path}` has {len} bytes and at most {limit} are read")]
    TooLarge {
        /// The path asked for.
        path: TreePath,
        /// Its length in bytes, or what was seen of it.
        len: u64,
        /// What the caller allows.
        limit: u64,
    },
    /// There are more entries than are taken at once.
    #[error("`{path}` has more than {limit} entries")]
    TooMany {
        /// The directory.
        path: TreePath,
        /// How many are taken.
        limit: usize,
    },
    /// A name that cannot be written as a path: not UTF-8, with a backslash, or too long.
    #[error("`{shown}` in `{directory}` has a name that cannot be given as a path")]
    Unnameable {
        /// The directory it is in.
        directory: TreePath,
        /// The name as far as it can be shown.
        shown: String,
    },
    /// The system refused or failed.
    #[error("`{path}`: {source}")]
    Io {
        /// The path asked for.
        path: TreePath,
        /// What the system says.
        source: io::Error,
    },
}

impl TreeError {
    /// Whether this is a refusal for safety's sake (it leads outside, or may), which people should hear of as well.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        match self {
            TreeError::Path(error) => error.is_forbidden(),
            TreeError::Outside { .. }
            | TreeError::ThroughLink { .. }
            | TreeError::TooManyLinks { .. }
            | TreeError::Swapped { .. }
            | TreeError::HardLinked { .. }
            | TreeError::Reserved { .. } => true,
            TreeError::NotFound { .. }
            | TreeError::NotAFile { .. }
            | TreeError::NotADirectory { .. }
            | TreeError::NotALink { .. }
            | TreeError::TooLarge { .. }
            | TreeError::TooMany { .. }
            | TreeError::Unnameable { .. }
            | TreeError::Io { .. } => false,
        }
    }

    /// The same error about the path that was asked for, where a directory on the way to it was in question.
    pub(crate) fn about(self, path: &TreePath) -> TreeError {
        let path = path.clone();
        match self {
            TreeError::ThroughLink { .. } => TreeError::ThroughLink { path },
            TreeError::NotFound { .. } => TreeError::NotFound { path },
            TreeError::NotADirectory { .. } => TreeError::NotADirectory { path },
            TreeError::Swapped { .. } => TreeError::Swapped { path },
            TreeError::Io { source, .. } => TreeError::Io { path, source },
            error => error,
        }
    }

    /// The error for what the system answered about `path`.
    ///
    /// We open names with `NOFOLLOW` after looking at them, so a link met at that point was put there in between.
    pub(crate) fn from_errno(path: &TreePath, errno: Errno) -> TreeError {
        let path = path.clone();
        match errno {
            Errno::NOENT => TreeError::NotFound { path },
            Errno::NOTDIR => TreeError::NotADirectory { path },
            Errno::ISDIR => TreeError::NotAFile { path, kind: Kind::Directory },
            Errno::LOOP => TreeError::Swapped { path },
            _ => TreeError::Io { path, source: errno.into() },
        }
    }
}

/// Adds the path to what the system answered.
pub(crate) trait AtPath<T> {
    fn at(self, path: &TreePath) -> Result<T, TreeError>;
}

impl<T> AtPath<T> for Result<T, Errno> {
    fn at(self, path: &TreePath) -> Result<T, TreeError> {
        self.map_err(|errno| TreeError::from_errno(path, errno))
    }
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: &TreePath) -> Result<T, TreeError> {
        self.map_err(|source| TreeError::Io { path: path.clone(), source })
    }
}
