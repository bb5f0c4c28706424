//! What is in a directory.
//!
//! Invariant: our own unfinished files are never among the entries.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat, openat, statat};

use crate::error::{AtPath, TreeError};
use crate::handle::optional;
use crate::meta::{Kind, Meta};
use crate::path::TreePath;
use crate::resolve::Last;
use crate::root::Root;
use crate::temporary::TemporaryName;

/// How many entries of one directory are taken: all of them are in memory at once, and more help nobody.
pub const MAX_ENTRIES: usize = 100_000;

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name; of a name that is not UTF-8, what can be shown of it.
    pub name: String,
    /// Its path; nothing if the name cannot be written as one.
    pub path: Option<TreePath>,
    /// What is known of it. Links are not followed.
    pub meta: Meta,
}

impl Root {
    /// The entries of a directory, sorted by name. Follows links that stay inside.
    pub fn list(&self, path: &TreePath) -> Result<Vec<Listed>, TreeError> {
        let (directory, name) = self.handle.entry(path, Last::Follow)?;
        let mut entries = entries(directory, &name, path)?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries
            .into_iter()
            .map(|entry| Listed {
                name: String::from_utf8_lossy(&entry.name).into_owned(),
                path: path.entry(&entry.name),
                meta: Meta::of(&entry.stat),
            })
            .collect())
    }
}

/// A name and what it is.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) stat: Stat,
}

impl Entry {
    pub(crate) fn kind(&self) -> Kind {
        Kind::of(&self.stat)
    }
}

/// The entries of the directory with this name, in no order. Never follows the name.
pub(crate) fn entries(parent: impl AsFd, name: &[u8], path: &TreePath) -> Result<Vec<Entry>, TreeError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = Dir::new(openat(parent, name, flags, Mode::empty()).at(path)?).at(path)?;
    read(directory, path, |name| TemporaryName::read(name).is_none())
}

/// The entries whose name is wanted, in no order.
pub(crate) fn read(
    mut directory: Dir,
    path: &TreePath,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Entry>, TreeError> {
    let mut entries = Vec::new();
    while let Some(entry) = directory.read() {
        let entry = entry.at(path)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." || !wanted(name) {
            continue;
        }
        if entries.len() == MAX_ENTRIES {
            return Err(TreeError::TooMany { path: path.clone(), limit: MAX_ENTRIES });
        }
        // An entry that went away meanwhile is not in the directory.
        let directory = directory.fd().at(path)?;
        if let Some(stat) = optional(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)).at(path)? {
            entries.push(Entry { name: name.to_vec(), stat });
        }
    }
    Ok(entries)
}
