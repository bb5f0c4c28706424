//! Removing files and the directories they leave empty.

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::error::{AtPath, TreeError};
use crate::meta::Kind;
use crate::path::TreePath;
use crate::root::Root;
use crate::stage::{check_target, sync};

impl Root {
    /// Removes a file or a link, and makes that durable.
    ///
    /// Refuses directories, fifos, sockets, devices, files with several hard links, and a path through a link.
    pub fn remove(&self, path: &TreePath) -> Result<(), TreeError> {
        self.remove_unsynced(path)?;
        let parent = self.handle.parent(path)?;
        sync(&parent.directory).at(path)
    }

    /// Like [`Root::remove`], durable after [`Root::sync_directories`].
    pub fn remove_unsynced(&self, path: &TreePath) -> Result<(), TreeError> {
        let parent = self.handle.parent(path)?;
        let Some(stat) = parent.stat(path)? else {
            return Err(TreeError::NotFound { path: path.clone() });
        };
        check_target(path, Some(&stat))?;
        unlinkat(&parent.directory, parent.name, AtFlags::empty()).at(path)
    }

    /// Removes the directories that led to a removed file and are empty now, up to the root, which stays.
    pub fn remove_empty_parents(&self, path: &TreePath) -> Result<(), TreeError> {
        for directory in path.ancestors().filter(|directory| !directory.is_root()) {
            if !self.remove_if_empty(&directory)? {
                break;
            }
        }
        Ok(())
    }

    /// Removes those of the directories that are empty, the deepest first. The others stay.
    pub fn remove_directories(&self, directories: &[TreePath]) -> Result<(), TreeError> {
        let mut directories: Vec<_> = directories.iter().filter(|directory| !directory.is_root()).collect();
        directories.sort_unstable_by(|a, b| b.cmp(a));
        for directory in directories {
            self.remove_if_empty(directory)?;
        }
        Ok(())
    }

    /// Whether the directory is gone.
    fn remove_if_empty(&self, path: &TreePath) -> Result<bool, TreeError> {
        let parent = match self.handle.parent(path) {
            Ok(parent) => parent,
            Err(TreeError::NotFound { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        match unlinkat(&parent.directory, parent.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            // In use: by files, or as a mount point.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => Ok(false),
            Err(Errno::NOTDIR) => match parent.stat(path)?.map(|stat| Kind::of(&stat)) {
                Some(Kind::Link) => Err(TreeError::ThroughLink { path: path.clone() }),
                _ => Err(TreeError::NotADirectory { path: path.clone() }),
            },
            Err(errno) => Err(TreeError::from_errno(path, errno)),
        }
    }
}
