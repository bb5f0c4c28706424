//! The root of a tree: opened once, then everything below is reached through it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

use crate::handle::Handle;
use crate::unsafe_root::{self, RootError};

/// A directory and a handle on it. Everything else here is done through one.
#[derive(Debug)]
pub struct Root {
    pub(crate) handle: Arc<Handle>,
    /// The rule about hard links may change while the root is in use.
    reads_hard_links: AtomicBool,
}

/// What a root allows, and what it has to know of its surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootSettings {
    /// What to do about files with several hard links.
    pub hard_links: HardLinkRule,
    /// The user's home directory: it and those above it are refused as roots.
    pub home: Option<PathBuf>,
}

/// What to do about a file with several hard links: another name of it may be outside the root.
///
/// Whatever the rule, such a file is never replaced or removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HardLinkRule {
    /// Do not read it.
    #[default]
    Refuse,
    /// Read it: right where package managers link files out of their store.
    Read,
}

impl Root {
    /// Opens a directory as a root. Links in `path` are followed, once, here.
    ///
    /// Refuses the file system's root, the user's home and what is above it, and system directories.
    pub fn open(path: &Path, settings: RootSettings) -> Result<Root, RootError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => RootError::NotFound { path: path.to_owned() },
            io::ErrorKind::NotADirectory => RootError::NotADirectory { path: path.to_owned() },
            _ => RootError::Io { path: path.to_owned(), source },
        };
        let real = path.canonicalize().map_err(failed)?;
        // A home that cannot be found holds nothing, and is still compared by name.
        let home =
            settings.home.as_deref().map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        unsafe_root::check(&real, home.as_deref())?;
        let directory = open_real(&real).map_err(|errno| failed(errno.into()))?;
        let root =
            Root { handle: Arc::new(Handle::new(directory, real)), reads_hard_links: AtomicBool::default() };
        root.set_hard_links(settings.hard_links);
        Ok(root)
    }

    /// Changes what is done about files with several hard links, for whatever begins from here on.
    pub fn set_hard_links(&self, rule: HardLinkRule) {
        self.reads_hard_links.store(rule == HardLinkRule::Read, Ordering::Relaxed);
    }

    pub(crate) fn hard_links(&self) -> HardLinkRule {
        match self.reads_hard_links.load(Ordering::Relaxed) {
            true => HardLinkRule::Read,
            false => HardLinkRule::Refuse,
        }
    }

    /// The real absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.handle.path
    }
}

/// Opens a path that was found to have no links; where the kernel can tell, it still has none.
fn open_real(path: &Path) -> Result<std::os::fd::OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        // Old kernels do not know the call, and some containers do not let it through.
        Err(Errno::NOSYS | Errno::PERM) => open(path, flags, Mode::empty()),
        result => result,
    }
}
