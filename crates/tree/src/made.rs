//! Directories made on the way to a file that is not in place yet.
//!
//! Files staged into the same new directory share it. When the last of them is placed or given up, the directory is
//! removed if it is empty: so a change that is given up leaves nothing, and one that is made leaves what it needs.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use rustix::fs::{AtFlags, Mode, mkdirat, unlinkat};
use rustix::io::Errno;

use crate::error::{AtPath, TreeError};
use crate::handle::{Handle, look_up};
use crate::meta::Kind;
use crate::path::TreePath;

/// What a new directory may be used for; the user's mask takes away from it.
const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o777);

/// One directory of ours.
#[derive(Debug)]
pub(crate) struct MadeDirectory {
    handle: Arc<Handle>,
    pub(crate) path: TreePath,
}

type Register<'a> = MutexGuard<'a, HashMap<TreePath, Weak<MadeDirectory>>>;

/// Opens the directory at `path` without following links, and makes what is missing on the way.
///
/// `then` puts the first thing into it, while no other thread can find the directory empty and remove it.
/// The answer is the directories of ours that lead there, the deepest first, and what `then` says.
pub(crate) fn prepare<T>(
    handle: &Arc<Handle>,
    path: &TreePath,
    then: impl FnOnce(&OwnedFd) -> Result<T, TreeError>,
) -> Result<(Vec<Arc<MadeDirectory>>, T), TreeError> {
    let mut made = Vec::new();
    let result = {
        let mut register = register(handle);
        descend(handle, path, &mut register, &mut made).and_then(|directory| then(&directory))
    };
    // What was made for nothing goes away with `made`: after the register is free again, the deepest first.
    made.reverse();
    Ok((made, result?))
}

fn descend(
    handle: &Arc<Handle>,
    path: &TreePath,
    register: &mut Register<'_>,
    made: &mut Vec<Arc<MadeDirectory>>,
) -> Result<OwnedFd, TreeError> {
    if register.is_empty()
        && let Ok(directory) = handle.plain_directory(path.as_str())
    {
        return Ok(directory);
    }
    let mut directory = handle.root().at(path)?;
    let mut here = TreePath::root();
    for part in path.parts() {
        here = here.join(part)?;
        let ours = make(&directory, part).at(path)? || register.contains_key(&here);
        if ours {
            made.push(share(handle, &here, register));
        }
        let (entry, stat) = look_up(&directory, part.as_bytes()).at(path)?;
        match Kind::of(&stat) {
            Kind::Directory => directory = entry,
            Kind::Link => return Err(TreeError::ThroughLink { path: path.clone() }),
            Kind::File | Kind::Other => return Err(TreeError::NotADirectory { path: path.clone() }),
        }
    }
    Ok(directory)
}

/// Makes a directory unless something has the name. Says whether it did.
fn make(directory: &OwnedFd, name: &str) -> Result<bool, Errno> {
    match mkdirat(directory, name, NEW_DIRECTORY) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn share(handle: &Arc<Handle>, path: &TreePath, register: &mut Register<'_>) -> Arc<MadeDirectory> {
    if let Some(directory) = register.get(path).and_then(Weak::upgrade) {
        return directory;
    }
    let directory = Arc::new(MadeDirectory { handle: Arc::clone(handle), path: path.clone() });
    register.insert(path.clone(), Arc::downgrade(&directory));
    directory
}

fn register(handle: &Handle) -> Register<'_> {
    // Each change to the register is one call, so it is whole after any panic.
    handle.made.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for MadeDirectory {
    fn drop(&mut self) {
        let mut register = register(&self.handle);
        // Another thread may have taken the directory over while we waited; then it is theirs.
        if register.get(&self.path).is_some_and(|owner| owner.strong_count() > 0) {
            return;
        }
        register.remove(&self.path);
        // It stays if it is in use, and an empty directory that cannot be removed harms nobody.
        if let Ok(parent) = self.handle.parent(&self.path) {
            let _ = unlinkat(&parent.directory, parent.name, AtFlags::REMOVEDIR);
        }
    }
}
