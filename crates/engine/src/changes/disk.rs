//! The tree as changes see it: files, and directories only as the way to them.
//!
//! Never follows a link: one at the end of a path is a file whose content is where it points, and one on the way hides
//! what is behind it.

use std::collections::BTreeSet;

use loggia_domain::{ContentHash, FileState};
use loggia_tree::{Content, Kind, Root, Staged, TreeError, TreePath};

/// The largest file that can be changed or put back: all of it passes through memory.
pub const MAX_FILE: u64 = 64 << 20;

/// The permission bits of every link; the system has no others for them.
const LINK_MODE: u32 = 0o777;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file or a link.
    File(FileState),
    /// A directory.
    Directory,
    /// Something else: a device, a socket, a pipe.
    Special,
    /// Nothing we look at: a directory on the way is a link.
    BehindLink,
}

impl Found {
    /// What the file holds, if it is one.
    pub fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::File(state) => Some(state.hash),
            Self::Nothing | Self::Directory | Self::Special | Self::BehindLink => None,
        }
    }

    /// Whether this is the file, or the lack of one.
    pub(super) fn is(&self, state: Option<&FileState>) -> bool {
        match (self, state) {
            (Self::Nothing | Self::Directory | Self::BehindLink, None) => true,
            (Self::File(found), Some(wanted)) => found == wanted,
            _ => false,
        }
    }
}

/// The state of the file or link at a path; nothing if there is none. Compare it with the hash a client reports, or
/// with what a change was made for.
///
/// # Errors
/// [`TreeError`] if what is there cannot be read or is neither.
pub fn state_of(root: &Root, path: &TreePath) -> Result<Option<FileState>, TreeError> {
    Ok(content_of(root, path)?.map(|(state, _)| state))
}

/// The same with what it holds, or where the link points: bytes to keep if the state is to be restored one day.
///
/// # Errors
/// As for [`state_of`].
pub fn content_of(root: &Root, path: &TreePath) -> Result<Option<(FileState, Vec<u8>)>, TreeError> {
    let (found, bytes) = read(root, path)?;
    let not_a_file = |kind| TreeError::NotAFile { path: path.clone(), kind };
    match found {
        Found::Nothing => Ok(None),
        Found::File(state) => Ok(Some((state, bytes))),
        Found::Directory => Err(not_a_file(Kind::Directory)),
        Found::Special => Err(not_a_file(Kind::Other)),
        Found::BehindLink => Err(TreeError::ThroughLink { path: path.clone() }),
    }
}

pub(super) fn look(root: &Root, path: &TreePath) -> Result<Found, TreeError> {
    read(root, path).map(|(found, _)| found)
}

/// The bytes are empty unless it is a file or a link.
pub(super) fn read(root: &Root, path: &TreePath) -> Result<(Found, Vec<u8>), TreeError> {
    match way(root, path)? {
        Way::Clear => {}
        Way::Missing | Way::Blocked => return Ok((Found::Nothing, Vec::new())),
        Way::Link => return Ok((Found::BehindLink, Vec::new())),
    }
    let Some(meta) = root.stat(path)? else { return Ok((Found::Nothing, Vec::new())) };
    let (bytes, mode, is_link) = match meta.kind {
        Kind::Directory => return Ok((Found::Directory, Vec::new())),
        Kind::Other => return Ok((Found::Special, Vec::new())),
        Kind::Link => (root.read_link(path)?, LINK_MODE, true),
        Kind::File => {
            let file = root.read(path, MAX_FILE)?;
            (file.bytes, file.meta.mode, false)
        }
    };
    let state = FileState { hash: ContentHash::of(&bytes), mode, is_link };
    Ok((Found::File(state), bytes))
}

/// Puts a file or a link beside its place.
pub(super) fn stage(
    root: &Root,
    path: &TreePath,
    bytes: &[u8],
    state: &FileState,
) -> Result<Staged, TreeError> {
    let content = if state.is_link { Content::Link(bytes) } else { Content::Bytes(bytes) };
    root.stage(path, &content, state.mode)
}

/// Removes the directories that lead to a path and are wanted gone, as far as they are empty.
pub(super) fn remove_directories(
    root: &Root,
    path: &TreePath,
    wanted: impl Fn(&TreePath) -> bool,
) -> Result<(), TreeError> {
    for directory in path.ancestors().filter(|directory| wanted(directory)) {
        if is_directory(root, &directory)? {
            root.remove_directories(&[directory])?;
        }
    }
    Ok(())
}

/// Whether a directory is there, reached without a link.
pub(super) fn is_directory(root: &Root, path: &TreePath) -> Result<bool, TreeError> {
    Ok(way(root, path)? == Way::Clear && kind_of(root, path)? == Some(Kind::Directory))
}

/// Makes durable what happened at these paths.
pub(super) fn sync<'a>(root: &Root, paths: impl IntoIterator<Item = &'a TreePath>) -> Result<(), TreeError> {
    let mut reached = Vec::new();
    for path in paths {
        // Where a file or a link took a directory's place, what was below it has no name that could be synced.
        if matches!(way(root, path)?, Way::Clear | Way::Missing) {
            reached.push(path);
        }
    }
    root.sync_directories(reached)
}

/// Removes what was put beside these paths by a process that is gone.
pub(super) fn sweep<'a>(root: &Root, paths: impl IntoIterator<Item = &'a TreePath>) -> Result<(), TreeError> {
    let mut directories = BTreeSet::new();
    for path in paths {
        if way(root, path)? == Way::Clear {
            directories.extend(path.parent());
        }
    }
    match root.sweep_staged(&Vec::from_iter(directories)).failures.pop() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// What the directories on the way to a path are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Clear,
    Missing,
    Blocked,
    Link,
}

fn way(root: &Root, path: &TreePath) -> Result<Way, TreeError> {
    let Some(parent) = path.parent() else { return Ok(Way::Clear) };
    // The usual case in one step: the directory is there, under its own name.
    if root.real_path_of(&parent).is_ok_and(|real| real == parent)
        && kind_of(root, &parent)? == Some(Kind::Directory)
    {
        return Ok(Way::Clear);
    }
    let ancestors: Vec<TreePath> = path.ancestors().collect();
    // From the root on, so that nothing behind a link is ever asked for.
    for directory in ancestors.iter().rev() {
        match kind_of(root, directory)? {
            Some(Kind::Directory) => {}
            Some(Kind::Link) => return Ok(Way::Link),
            Some(Kind::File | Kind::Other) => return Ok(Way::Blocked),
            None => return Ok(Way::Missing),
        }
    }
    Ok(Way::Clear)
}

fn kind_of(root: &Root, path: &TreePath) -> Result<Option<Kind>, TreeError> {
    Ok(root.stat(path)?.map(|meta| meta.kind))
}
