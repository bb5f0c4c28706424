//! Where a command runs: the real paths of its root and its directory.
//!
//! What always holds: the directory is in the root after every link has been followed.

use std::path::{Path, PathBuf};

use loggia_domain::RunError;

/// Real paths.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) directory: PathBuf,
}

impl Place {
    pub(crate) fn find(root: &Path, directory: &Path) -> Result<Self, RunError> {
        let real = |path: &Path| {
            let found = path.canonicalize().ok().filter(|found| path.is_absolute() && found.is_dir());
            found.ok_or_else(|| RunError::BadDirectory(path.to_owned()))
        };
        let place = Self { root: real(root)?, directory: real(directory)? };
        if !place.directory.starts_with(&place.root) {
            return Err(RunError::BadDirectory(directory.to_owned()));
        }
        Ok(place)
    }
}
