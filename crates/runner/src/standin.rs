//! Empty directories in the place of paths that must not come into being.
//!
//! Only what exists can be kept from being written. A stand-in is made for the first name that is missing, for as
//! long as any command needs it, and removed when nobody does, if it is still empty: others may have filled it.
//! One that a crash left behind is known by its mode, which nobody else gives to an empty directory, and taken over.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a stand-in's mode is: no other directory is made for reading by its owner and passing by everybody.
const MODE: u32 = 0o511;

/// The stand-ins there are, and how many commands need each.
#[derive(Debug, Default)]
pub(crate) struct StandIns(Mutex<HashMap<PathBuf, usize>>);

/// One command's need of a stand-in.
#[derive(Debug)]
pub(crate) struct StandIn {
    all: Arc<StandIns>,
    path: PathBuf,
}

impl StandIns {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path to guard for `path` to be guarded: itself or what stands in for it, which then stays while the second
    /// value lives.
    pub(crate) fn guard(self: &Arc<Self>, path: &Path) -> io::Result<(PathBuf, Option<StandIn>)> {
        let mut needed = self.lock();
        let first_missing = path
            .ancestors()
            .take_while(|above| {
                above.symlink_metadata().is_err() || needed.contains_key(*above) || is_left(above)
            })
            .last();
        let Some(stand_in) = first_missing else { return Ok((path.to_owned(), None)) };
        if !needed.contains_key(stand_in) && !is_left(stand_in) {
            std::fs::create_dir(stand_in)?;
            // Not by the mode it is made with: the process's mask would change that.
            std::fs::set_permissions(stand_in, Permissions::from_mode(MODE))?;
        }
        *needed.entry(stand_in.to_owned()).or_default() += 1;
        let path = stand_in.to_owned();
        Ok((path.clone(), Some(StandIn { all: self.clone(), path })))
    }
}

/// Whether this is a stand-in of a former life of ours.
fn is_left(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.mode() & 0o777 == MODE)
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let mut needed = self.all.lock();
        let Some(count) = needed.get_mut(&self.path) else { return };
        *count -= 1;
        if *count == 0 {
            needed.remove(&self.path);
            if let Err(error) = std::fs::remove_dir(&self.path) {
                tracing::debug!(path = %self.path.display(), %error, "a stand-in is left");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_stays_while_anybody_needs_it() {
        let directory = tempfile::tempdir().unwrap();
        let stand_ins = Arc::new(StandIns::default());
        let path = directory.path().join("missing/deeper");
        let expected = directory.path().join("missing");
        let (first_path, first) = stand_ins.guard(&path).unwrap();
        let (second_path, second) = stand_ins.guard(&path).unwrap();
        assert_eq!((&first_path, &second_path), (&expected, &expected));
        drop(first);
        assert!(expected.is_dir());
        drop(second);
        assert!(!expected.exists());
    }

    #[test]
    fn one_that_a_crash_left_is_taken_over_and_an_empty_directory_of_others_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (left, others) = (directory.path().join("left"), directory.path().join("others"));
        let crashed = Arc::new(StandIns::default());
        std::mem::forget(crashed.guard(&left).unwrap());
        std::fs::create_dir(&others).unwrap();
        let stand_ins = Arc::new(StandIns::default());
        for path in [&left, &others] {
            drop(stand_ins.guard(path).unwrap());
        }
        assert_eq!((left.exists(), others.exists()), (false, true));
    }

    #[test]
    fn what_exists_needs_none_and_what_was_filled_stays() {
        let directory = tempfile::tempdir().unwrap();
        let stand_ins = Arc::new(StandIns::default());
        let (path, none) = stand_ins.guard(directory.path()).unwrap();
        assert_eq!(path, directory.path());
        assert!(none.is_none());
        let (path, stand_in) = stand_ins.guard(&directory.path().join("missing")).unwrap();
        std::fs::write(path.join("file"), "").unwrap();
        drop(stand_in);
        assert!(path.join("file").exists());
    }
}
