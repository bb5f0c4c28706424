//! What can go wrong with an index on disk.
//!
//! Files of the workspace never fail here: those that cannot be indexed are skipped with a reason.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// Why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("the index is in use by another process{}", owner.map_or(String::new(), |pid| format!(" ({pid})")))]
    InUse {
        /// The lock that says so.
        path: PathBuf,
        /// The other process, if it said who it is.
        owner: Option<u32>,
    },
    /// The directory or a file in it cannot be written.
    #[error("`{}` cannot be written", path.display())]
    NotWritable {
        /// What.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Why an index cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("`{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the text index: {0}")]
    Text(#[from] tantivy::TantivyError),
    #[error("`{}` is damaged", path.display())]
    Damaged { path: PathBuf },
    #[error("the build was cancelled")]
    Cancelled,
}

impl Fault {
    /// Whether what is on disk is not what was written there, so that only a new build helps.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Text(TantivyError::DataCorruption(_)) => true,
            Self::Text(TantivyError::OpenReadError(error)) => {
                matches!(error, OpenReadError::FileDoesNotExist(_))
            }
            Self::Io { .. } | Self::Text(_) | Self::Cancelled => false,
        }
    }
}

/// Adds the path to what the system said.
pub(crate) trait AtFile<T> {
    fn at(self, path: &Path) -> Result<T, Fault>;
}

impl<T> AtFile<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, Fault> {
        self.map_err(|source| match source.kind() {
            // What ends too early was cut off: nothing of ours is read while somebody writes it.
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                Fault::Damaged { path: path.to_owned() }
            }
            _ => Fault::Io { path: path.to_owned(), source },
        })
    }
}
