//! Changing files whole or not at all.
//!
//! New content is written beside its target under a name of ours, made durable, and then renamed over it. Nothing is
//! held open in between, so a change may have any number of files.
//! Invariant: an unfinished file is removed when its [`Staged`] is dropped, unless its directory was moved away
//! meanwhile; then [`Root::sweep_staged`] finds it.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, fsync, openat, renameat, symlinkat,
    unlinkat,
};
use rustix::io::Errno;

use crate::error::{AtPath, TreeError};
use crate::handle::{Handle, Parent};
use crate::made::{MadeDirectory, prepare};
use crate::meta::{Identity, Kind};
use crate::path::TreePath;
use crate::root::Root;
use crate::temporary::TemporaryName;

/// What to put in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// A file with these bytes.
    Bytes(&'a [u8]),
    /// A link with this target, exactly as given. It may lead anywhere: following it is what is checked.
    Link(&'a [u8]),
}

/// New content, durable beside its target and not yet in place. Removed when dropped.
#[derive(Debug)]
pub struct Staged {
    handle: Arc<Handle>,
    path: TreePath,
    temporary: TemporaryName,
    /// Which directory it was written into.
    directory: Identity,
    placed: bool,
    /// Dropped after the file is gone, the deepest directory first.
    made: Vec<Arc<MadeDirectory>>,
}

impl Staged {
    /// Where the content will be.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        &self.path
    }

    /// The directories that were made for this file, or for others staged with it, the deepest first.
    ///
    /// They go away with the [`Staged`] if they are empty then. To take a change back after it was committed,
    /// remember them and give them to [`Root::remove_directories`].
    #[must_use]
    pub fn made_directories(&self) -> Vec<TreePath> {
        self.made.iter().map(|directory| directory.path.clone()).collect()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.placed {
            return;
        }
        // If the directory is another one by now, the name in it is not ours to remove.
        if let Ok(parent) = self.handle.parent(&self.path)
            && parent.identity(&self.path).is_ok_and(|identity| identity == self.directory)
        {
            let _ = unlinkat(&parent.directory, self.temporary.as_str(), AtFlags::empty());
        }
    }
}

impl Root {
    /// Writes new content beside its target, with exactly these permission bits, and makes it durable.
    ///
    /// Missing directories are made. Refuses a path through a link (see [`Root::real_path_of`]), and a target that is
    /// a directory, a fifo, socket or device, or has several hard links. A link in the last place is replaced itself.
    /// A file that is replaced keeps its owner where the system allows it. The mode of a link means nothing.
    pub fn stage(&self, path: &TreePath, content: &Content<'_>, mode: u32) -> Result<Staged, TreeError> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Err(TreeError::NotAFile { path: path.clone(), kind: Kind::Directory });
        };
        if TemporaryName::read(name.as_bytes()).is_some() {
            return Err(TreeError::Reserved { path: path.clone() });
        }
        let temporary = TemporaryName::new().at(path)?;
        let prepared = prepare(&self.handle, &parent, |directory| {
            let parent = Parent { directory, name };
            let target = parent.stat(path)?;
            check_target(path, target.as_ref())?;
            let identity = parent.identity(path)?;
            Ok((identity, target, create(directory, &temporary, content, path)?))
        });
        let (made, (directory, target, file)) = prepared.map_err(|error| error.about(path))?;
        let handle = Arc::clone(&self.handle);
        // From here on, whatever fails, the drop cleans up.
        let staged = Staged { handle, path: path.clone(), temporary, directory, placed: false, made };
        if let (Some(file), Content::Bytes(bytes)) = (file, content) {
            fill(file, bytes, mode, target.as_ref(), path)?;
        }
        Ok(staged)
    }

    /// Puts staged content in place and makes that durable.
    ///
    /// Refuses if the target became a directory or got hard links, or if a directory on the way was moved or replaced.
    /// If only the last step fails, making it durable, the content is in place all the same.
    pub fn commit(&self, staged: Staged) -> Result<(), TreeError> {
        let path = staged.path.clone();
        let has_made_directories = !staged.made.is_empty();
        let directory = place(staged)?;
        // The names of new directories are in the directories above them.
        if has_made_directories { self.sync_directories([&path]) } else { sync(&directory).at(&path) }
    }

    /// Puts staged content in place. It is durable after [`Root::sync_directories`], so that a change of many files
    /// costs one call for each directory and not one for each file.
    pub fn commit_unsynced(&self, staged: Staged) -> Result<(), TreeError> {
        place(staged).map(drop)
    }

    /// Makes it durable that these files were put in place or removed: all directories that lead to them, each once.
    pub fn sync_directories<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p TreePath>,
    ) -> Result<(), TreeError> {
        let mut directories: Vec<_> = paths.into_iter().flat_map(TreePath::ancestors).collect();
        // The deepest first: a directory's content before its name.
        directories.sort_unstable_by(|a, b| b.cmp(a));
        directories.dedup();
        for path in directories {
            match self.handle.directory(&path) {
                Ok(directory) => sync(&directory).at(&path)?,
                // Removed, which its own directory knows.
                Err(TreeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Renames the file over its target, and says which directory that was in.
fn place(mut staged: Staged) -> Result<OwnedFd, TreeError> {
    let path = staged.path.clone();
    let parent = staged.handle.parent(&path).map_err(|error| match error {
        TreeError::NotFound { .. } | TreeError::NotADirectory { .. } => {
            TreeError::Swapped { path: path.clone() }
        }
        error => error,
    })?;
    if parent.identity(&path)? != staged.directory {
        return Err(TreeError::Swapped { path });
    }
    check_target(&path, parent.stat(&path)?.as_ref())?;
    renameat(&parent.directory, staged.temporary.as_str(), &parent.directory, parent.name).map_err(
        |errno| match errno {
            // Our file is gone, so somebody removed it.
            Errno::NOENT => TreeError::Swapped { path: path.clone() },
            errno => TreeError::from_errno(&path, errno),
        },
    )?;
    staged.placed = true;
    Ok(parent.directory)
}

/// Whether what has the name may be replaced.
pub(crate) fn check_target(path: &TreePath, target: Option<&Stat>) -> Result<(), TreeError> {
    let Some(target) = target else { return Ok(()) };
    match Kind::of(target) {
        kind @ (Kind::Directory | Kind::Other) => Err(TreeError::NotAFile { path: path.clone(), kind }),
        Kind::File | Kind::Link if target.st_nlink > 1 => Err(TreeError::HardLinked { path: path.clone() }),
        Kind::File | Kind::Link => Ok(()),
    }
}

/// Makes the file or link under our name. A file is nobody else's to read until it has its mode.
fn create(
    directory: &OwnedFd,
    temporary: &TemporaryName,
    content: &Content<'_>,
    path: &TreePath,
) -> Result<Option<File>, TreeError> {
    match content {
        Content::Link(target) => {
            symlinkat(*target, directory, temporary.as_str()).at(path)?;
            Ok(None)
        }
        Content::Bytes(_) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::RUSR | Mode::WUSR;
            Ok(Some(openat(directory, temporary.as_str(), flags, mode).at(path)?.into()))
        }
    }
}

fn fill(
    mut file: File,
    bytes: &[u8],
    mode: u32,
    target: Option<&Stat>,
    path: &TreePath,
) -> Result<(), TreeError> {
    file.write_all(bytes).at(path)?;
    if let Some(target) = target {
        keep_owner(&file, target).at(path)?;
    }
    // Last, for writing and changing the owner take bits away.
    fchmod(&file, Mode::from_raw_mode(mode & 0o7777)).at(path)?;
    file.sync_all().at(path)
}

/// Gives a new file the owner and group of the one it replaces. Only root can do so in general; for others it
/// becomes theirs, as with any editor, and stays in the group if they are in it.
fn keep_owner(file: &File, target: &Stat) -> Result<(), Errno> {
    let ours = fstat(file)?;
    if (ours.st_uid, ours.st_gid) == (target.st_uid, target.st_gid) {
        return Ok(());
    }
    let group = Some(Gid::from_raw(target.st_gid));
    let kept = fchown(file, Some(Uid::from_raw(target.st_uid)), group).or_else(|_| fchown(file, None, group));
    match kept {
        // Not allowed, or an owner that has no number in this namespace.
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Makes a directory's entries durable.
///
/// A directory that we may not read, or on a file system that knows no such call, is as durable as it gets.
pub(crate) fn sync(directory: impl AsFd) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()).and_then(fsync) {
        Err(Errno::ACCESS | Errno::INVAL) => Ok(()),
        result => result,
    }
}
