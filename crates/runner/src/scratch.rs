//! A command's own temporary directory.
//!
//! It is locked for as long as its command runs, and the system lets go of the lock when we are killed. So those that
//! nobody could remove are found by [`sweep`], and never one that is in use, whoever's it is.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use tempfile::TempDir;

const PREFIX: &str = "loggia-command-";

/// Ours alone.
const PRIVATE: u32 = 0o700;

/// Between being made and being locked there is a moment; nobody takes this long.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// A temporary directory with a home in it. Removed when dropped, with what was left in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    _lock: File,
}

impl Scratch {
    pub(crate) fn make(parent: &Path) -> io::Result<Self> {
        // Links on the way are resolved: what is granted must be the real place.
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(PRIVATE))
            .tempdir_in(parent.canonicalize()?)?;
        let lock = lock(directory.path())?;
        let scratch = Self { directory, _lock: lock };
        fs::create_dir(scratch.home())?;
        Ok(scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(self.path());
    }
}

/// Removes what former lives of ours have left.
pub(crate) fn sweep(parent: &Path) {
    let us = rustix::process::geteuid().as_raw();
    let is_stale = |entry: &fs::DirEntry| {
        let found = entry.metadata().ok().filter(|found| found.is_dir() && found.uid() == us);
        let age = found.and_then(|found| found.modified().ok()?.elapsed().ok());
        entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && age.is_some_and(|age| age > STALE_AFTER)
    };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten().filter(is_stale) {
        // One that is locked is in use.
        if let Ok(_lock) = lock(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn lock(directory: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(directory, flags, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory.into())
}

fn remove(directory: &Path) {
    // Some programs take the right to write from their own directories; without it they cannot be emptied.
    if fs::remove_dir_all(directory).is_err() {
        open_directories(directory);
        if let Err(error) = fs::remove_dir_all(directory)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(directory = %directory.display(), %error, "temporary directory is left");
        }
    }
}

/// Makes every directory one that we can empty. Nobody else is at work here any more.
fn open_directories(directory: &Path) {
    let mut ahead = vec![directory.to_owned()];
    while let Some(directory) = ahead.pop() {
        // What still cannot be emptied is told when it is removed.
        let _ = fs::set_permissions(&directory, Permissions::from_mode(PRIVATE));
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        ahead.extend(directories.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_directories_are_removed_too() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(parent.path()).unwrap();
        let closed = scratch.home().join("closed/deeper");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(closed.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn it_is_ours_alone() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(parent.path()).unwrap();
        assert_eq!(scratch.path().metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn what_was_left_is_swept_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let used = Scratch::make(parent.path()).unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * STALE_AFTER;
        for (name, old) in [("left", true), ("new", false)] {
            let left = parent.path().join(format!("{PREFIX}{name}"));
            fs::create_dir_all(left.join("deeper")).unwrap();
            if old {
                File::open(&left).unwrap().set_modified(long_ago).unwrap();
            }
        }
        File::open(used.path()).unwrap().set_modified(long_ago).unwrap();
        fs::create_dir(parent.path().join("others")).unwrap();
        File::open(parent.path().join("others")).unwrap().set_modified(long_ago).unwrap();
        sweep(parent.path());
        assert!(used.home().exists(), "it is in use");
        assert!(!parent.path().join("loggia-command-left").exists());
        assert!(parent.path().join("loggia-command-new").exists());
        assert!(parent.path().join("others").exists());
    }
}
