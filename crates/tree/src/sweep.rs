//! Removing unfinished files that a crash left behind.

use std::collections::VecDeque;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use crate::directory::read;
use crate::error::{AtPath, TreeError};
use crate::handle::optional;
use crate::meta::Kind;
use crate::path::TreePath;
use crate::root::Root;
use crate::temporary::TemporaryName;

/// How many directories a sweep of the whole tree looks into: a start must not wait for a tree without end.
pub const MAX_SWEPT_DIRECTORIES: usize = 50_000;
/// How many failures a sweep tells: enough to see what is wrong.
const MAX_FAILURES: usize = 16;

/// What a sweep did.
#[derive(Debug, Default)]
pub struct Swept {
    /// Unfinished files removed.
    pub files: usize,
    /// Directories looked into.
    pub directories: usize,
    /// Whether something was not looked into: too many directories, or failures.
    pub is_partial: bool,
    /// What went wrong, the first few.
    pub failures: Vec<TreeError>,
}

impl Root {
    /// Removes unfinished files from these directories. Those that are not there any more are passed over.
    ///
    /// What this process is staging stays. Nothing else may be staging there from another process.
    pub fn sweep_staged(&self, directories: &[TreePath]) -> Swept {
        let mut swept = Swept::default();
        for path in directories {
            if let Err(error) = self.sweep_directory(path, &mut swept, false) {
                swept.fail(error);
            }
        }
        swept
    }

    /// Removes unfinished files from the whole tree, of at most [`MAX_SWEPT_DIRECTORIES`] directories, the upper ones
    /// first. Ignore rules do not matter here; `.git` is left alone.
    pub fn sweep_all_staged(&self) -> Swept {
        let mut swept = Swept::default();
        let mut ahead = VecDeque::from([TreePath::root()]);
        let mut room = MAX_SWEPT_DIRECTORIES;
        while let Some(path) = ahead.pop_front() {
            match self.sweep_directory(&path, &mut swept, true) {
                Ok(below) => {
                    swept.is_partial |= below.len() > room;
                    ahead.extend(below.into_iter().take(room));
                    room = MAX_SWEPT_DIRECTORIES.saturating_sub(swept.directories + ahead.len());
                }
                Err(error) => swept.fail(error),
            }
        }
        swept
    }

    /// Removes what is unfinished in one directory, and says which directories are in it, if that is wanted.
    fn sweep_directory(
        &self,
        path: &TreePath,
        swept: &mut Swept,
        with_directories: bool,
    ) -> Result<Vec<TreePath>, TreeError> {
        let directory = self.handle.directory(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(&directory, ".", flags, Mode::empty()).at(path)?;
        swept.directories += 1;
        let wanted = |name: &[u8]| with_directories || TemporaryName::read(name).is_some();
        let mut below = Vec::new();
        for entry in read(Dir::new(open).at(path)?, path, wanted)? {
            match (TemporaryName::read(&entry.name), entry.kind()) {
                (_, Kind::Directory) if entry.name != b".git" => below.extend(path.entry(&entry.name)),
                // A second name was given to it by somebody else, who may want it.
                (Some(name), Kind::File | Kind::Link)
                    if entry.stat.st_nlink == 1 && !TemporaryName::is_alive(name) =>
                {
                    let gone = optional(unlinkat(&directory, name, AtFlags::empty())).at(path)?;
                    swept.files += usize::from(gone.is_some());
                }
                _ => {}
            }
        }
        Ok(below)
    }
}

impl Swept {
    fn fail(&mut self, error: TreeError) {
        // What went away meanwhile needs no sweep.
        if matches!(error, TreeError::NotFound { .. }) {
            return;
        }
        self.is_partial = true;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(error);
        }
    }
}
