//! The handle on the root, and opening what is plainly below it.
//!
//! Every file descriptor of this crate descends from the one here. What this module opens is reached without
//! following any link; [`crate::resolve`] does the following.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, Weak};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::Errno;

use crate::error::{AtPath, TreeError};
use crate::made::MadeDirectory;
use crate::meta::{Identity, Kind};
use crate::path::TreePath;

/// A place to look names up from: no reading, only passing through.
const PASS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(crate) struct Handle {
    directory: OwnedFd,
    /// The real path, for people and for links that name it.
    pub(crate) path: PathBuf,
    /// Directories made for files that are not in place yet.
    pub(crate) made: Mutex<HashMap<TreePath, Weak<MadeDirectory>>>,
}

impl Handle {
    pub(crate) fn new(directory: OwnedFd, path: PathBuf) -> Handle {
        Handle { directory, path, made: Mutex::default() }
    }

    /// A new descriptor of the root.
    pub(crate) fn root(&self) -> std::io::Result<OwnedFd> {
        self.directory.try_clone()
    }

    /// The directory at `path`, reached without any link. The kernel does it in one call where it can.
    pub(crate) fn plain_directory(&self, path: &str) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { "." } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        openat2(&self.directory, path, PASS | OFlags::DIRECTORY, Mode::empty(), resolve)
    }

    /// Like [`Handle::plain_directory`], with a precise error, and on kernels without the call as well.
    pub(crate) fn directory(&self, path: &TreePath) -> Result<OwnedFd, TreeError> {
        match self.plain_directory(path.as_str()) {
            Ok(directory) => Ok(directory),
            Err(_) => self.directory_by_steps(path),
        }
    }

    fn directory_by_steps(&self, path: &TreePath) -> Result<OwnedFd, TreeError> {
        let mut directory = self.root().at(path)?;
        for part in path.parts() {
            let (entry, stat) = look_up(&directory, part.as_bytes()).at(path)?;
            match Kind::of(&stat) {
                Kind::Directory => directory = entry,
                Kind::Link => return Err(TreeError::ThroughLink { path: path.clone() }),
                Kind::File | Kind::Other => return Err(TreeError::NotADirectory { path: path.clone() }),
            }
        }
        Ok(directory)
    }

    /// The directory that holds `path`, with which one it is, and the name in it. The root has none.
    pub(crate) fn parent<'p>(&self, path: &'p TreePath) -> Result<Parent<'p>, TreeError> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Err(TreeError::NotAFile { path: path.clone(), kind: Kind::Directory });
        };
        let directory = self.directory(&parent).map_err(|error| error.about(path))?;
        Ok(Parent { directory, name })
    }
}

/// A directory and a name in it.
#[derive(Debug)]
pub(crate) struct Parent<'p, D = OwnedFd> {
    pub(crate) directory: D,
    pub(crate) name: &'p str,
}

impl<D: AsFd> Parent<'_, D> {
    /// What has the name now, if anything. Never follows it.
    pub(crate) fn stat(&self, path: &TreePath) -> Result<Option<Stat>, TreeError> {
        optional(statat(&self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW)).at(path)
    }

    pub(crate) fn identity(&self, path: &TreePath) -> Result<Identity, TreeError> {
        Ok(Identity::of(&fstat(&self.directory).at(path)?))
    }
}

/// Opens a name to pass through it or to look at it: never follows, never blocks, never reads.
pub(crate) fn look_up(directory: impl AsFd, name: &[u8]) -> Result<(OwnedFd, Stat), Errno> {
    let entry = openat(directory, name, PASS, Mode::empty())?;
    let stat = fstat(&entry)?;
    Ok((entry, stat))
}

/// Nothing there is an answer as well.
pub(crate) fn optional<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_and_the_kernel_agree_on_directories() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", path.join("link")).unwrap();
        let handle = Handle::new(std::fs::File::open(path).unwrap().into(), path.to_owned());
        let identity = |fd: OwnedFd| Identity::of(&fstat(fd).unwrap());
        for text in ["", "a", "a/b", "a/file", "link", "link/b", "none", "a/none"] {
            let path = TreePath::parse(text).unwrap();
            let by_kernel = handle.plain_directory(text).ok().map(identity);
            let by_steps = handle.directory_by_steps(&path);
            assert_eq!(by_kernel.is_some(), matches!(text, "" | "a" | "a/b"), "{text}");
            if text.starts_with("link") {
                assert!(matches!(by_steps, Err(TreeError::ThroughLink { .. })), "{text}");
            }
            assert_eq!(by_steps.ok().map(identity), by_kernel, "{text}");
        }
    }
}
