//! Looking and reading: nothing here changes the tree.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, readlinkat, statat};

use crate::error::{AtPath, TreeError};
use crate::handle::optional;
use crate::meta::{Kind, Meta};
use crate::path::TreePath;
use crate::resolve::{Last, Place};
use crate::root::{HardLinkRule, Root};

/// A file's content and what was known of it just before it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The content.
    pub bytes: Vec<u8>,
    /// What was known of the file before its first byte was read, so a later change shows.
    pub meta: Meta,
}

impl Root {
    /// What is at the path; nothing if there is nothing. Follows links that stay inside, but not in the last place.
    pub fn stat(&self, path: &TreePath) -> Result<Option<Meta>, TreeError> {
        let (directory, name) = match self.handle.resolve(path, Last::Keep) {
            Ok(Place::Entry { directory, name, .. }) => (directory, name),
            Ok(Place::Missing { .. }) => return Ok(None),
            Err(TreeError::NotFound { .. } | TreeError::NotADirectory { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stat = optional(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)).at(path)?;
        Ok(stat.map(|stat| Meta::of(&stat)))
    }

    /// A file's content, of at most `limit` bytes. Follows links that stay inside.
    pub fn read(&self, path: &TreePath, limit: u64) -> Result<FileBytes, TreeError> {
        let (directory, name) = self.handle.entry(path, Last::Follow)?;
        read_file(directory, &name, path, limit, self.hard_links())
    }

    /// A file's content, of at most `limit` bytes, if neither it nor anything on the way to it is a link: then the path
    /// itself says which file it is.
    pub fn read_plain(&self, path: &TreePath, limit: u64) -> Result<FileBytes, TreeError> {
        let parent = self.handle.parent(path)?;
        read_file(parent.directory, parent.name.as_bytes(), path, limit, self.hard_links()).map_err(|error| {
            match error {
                // Nothing was followed before, so it need not have been replaced.
                TreeError::Swapped { path } => TreeError::ThroughLink { path },
                other => other,
            }
        })
    }

    /// The target of a link, as it is written.
    pub fn read_link(&self, path: &TreePath) -> Result<Vec<u8>, TreeError> {
        let (directory, name) = self.handle.entry(path, Last::Keep)?;
        let stat = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).at(path)?;
        match Kind::of(&stat) {
            Kind::Link => Ok(readlinkat(&directory, &name, Vec::new()).at(path)?.into_bytes()),
            kind => Err(TreeError::NotALink { path: path.clone(), kind }),
        }
    }

    /// The path after following links that stay inside: what a write or a policy check is really about.
    ///
    /// Nothing needs to be there: of a path to be made, the part that exists is followed.
    pub fn real_path_of(&self, path: &TreePath) -> Result<TreePath, TreeError> {
        self.handle.real_path(path)
    }
}

/// The content of the file with this name, which is not followed.
///
/// It is looked at before it is opened, for opening a fifo or a device has effects of its own; and again afterwards,
/// for it may have been replaced in between. `NONBLOCK` keeps even that from blocking.
pub(crate) fn read_file(
    directory: impl AsFd,
    name: &[u8],
    path: &TreePath,
    limit: u64,
    hard_links: HardLinkRule,
) -> Result<FileBytes, TreeError> {
    let check = |meta: &Meta| match meta.kind {
        Kind::File if meta.links > 1 && hard_links == HardLinkRule::Refuse => {
            Err(TreeError::HardLinked { path: path.clone() })
        }
        Kind::File if meta.len > limit => {
            Err(TreeError::TooLarge { path: path.clone(), len: meta.len, limit })
        }
        Kind::File => Ok(()),
        // Whoever follows links did so before, so it was a file then.
        Kind::Link => Err(TreeError::Swapped { path: path.clone() }),
        kind => Err(TreeError::NotAFile { path: path.clone(), kind }),
    };
    check(&Meta::of(&statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).at(path)?))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(&directory, name, flags, Mode::empty()).at(path)?;
    let meta = Meta::of(&fstat(&file).at(path)?);
    check(&meta)?;
    // One byte more than allowed shows a file that grew after it was measured.
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len).unwrap_or(0).saturating_add(1));
    File::from(file).take(limit.saturating_add(1)).read_to_end(&mut bytes).at(path)?;
    let len = bytes.len() as u64;
    if len > limit {
        return Err(TreeError::TooLarge { path: path.clone(), len, limit });
    }
    Ok(FileBytes { bytes, meta })
}
