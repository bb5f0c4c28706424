//! Where a working tree and its repository lie.
//!
//! What always holds: the tree is the one its repository lies in, or is linked to. A configuration that names another
//! tree, such as somebody's home, is refused.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use loggia_domain::RepositoryError;

/// One path.
const MAX_POINTER: u64 = 16 * 1024;

/// What is left of something that began and did not end, and what it was.
const UNFINISHED: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];

/// Where a working tree and its repository lie; real paths all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The directory that was asked for, in the tree.
    pub(crate) asked: PathBuf,
    /// The tree's root.
    pub(crate) top: PathBuf,
    /// What is the tree's own: its index, what it is on.
    pub(crate) own: PathBuf,
    /// What all trees share.
    pub(crate) common: PathBuf,
}

impl Place {
    /// Checks what git says.
    pub(crate) fn check(
        asked: &Path,
        top: PathBuf,
        own: &Path,
        common: &Path,
    ) -> Result<Self, RepositoryError> {
        let real = |path: &Path| {
            path.canonicalize().map_err(|error| {
                RepositoryError::Failed(format!("`{}` cannot be looked at: {error}", path.display()))
            })
        };
        let place = Self { asked: real(asked)?, top: real(&top)?, own: real(own)?, common: real(common)? };
        let belongs = pointed_at(&place.top).is_some_and(|pointed| pointed == place.own);
        if !belongs || !place.asked.starts_with(&place.top) {
            return Err(RepositoryError::Failed(format!(
                "the configuration of `{}` says that its working tree is `{}`, which does not belong to it; \
                 take `core.worktree` out of it",
                place.common.display(),
                place.top.display()
            )));
        }
        Ok(place)
    }

    pub(crate) fn is_linked(&self) -> bool {
        self.own != self.common
    }

    /// Something that somebody began in this tree and did not end.
    pub(crate) fn refuse_unfinished(&self) -> Result<(), RepositoryError> {
        let found = UNFINISHED.iter().find(|(file, _)| self.own.join(file).symlink_metadata().is_ok());
        match found {
            None => Ok(()),
            Some((_, what)) => Err(RepositoryError::Failed(format!(
                "{what} is not finished in `{}`; finish it or abort it with git first",
                self.top.display()
            ))),
        }
    }
}

/// The repository that a tree's own `.git` is or points at.
fn pointed_at(top: &Path) -> Option<PathBuf> {
    let pointer = top.join(".git");
    if pointer.is_dir() {
        return pointer.canonicalize().ok();
    }
    let mut text = Vec::new();
    fs::File::open(&pointer).ok()?.take(MAX_POINTER).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end().to_vec();
    top.join(PathBuf::from(OsString::from_vec(path))).canonicalize().ok()
}
