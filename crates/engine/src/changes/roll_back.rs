//! Takes back what an apply has done so far, however far that is.
//!
//! Looks at each file and decides by what is there, so it can be stopped at any point and begun again. Invariant: a
//! file that is neither as it was before nor as the change left it is somebody else's, and is not touched.

use std::collections::HashSet;

use loggia_domain::StoreError;
use loggia_tree::{Root, TreeError, TreePath};

use super::blobs::Blobs;
use super::disk::{Found, look, remove_directories, stage, sweep, sync};
use super::record::RecordedFile;
use super::seam::Seam;
use super::wanted::Conflict;

/// What became of the files of a change that was taken back.
#[derive(Debug, Default)]
#[must_use = "some files may not be as they were"]
pub struct RollBack {
    /// Those that are as they were again. Files the change had not got to are not listed.
    pub restored: Vec<TreePath>,
    /// Those that somebody else has changed since.
    pub left: Vec<Conflict>,
    /// Those that could not be put back.
    pub failed: Vec<(TreePath, RestoreError)>,
}

/// Why a file could not be put back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] TreeError),
    /// What it held cannot be read.
    #[error("what the file held cannot be read: {0}")]
    Bytes(#[from] StoreError),
}

impl RollBack {
    /// Whether every file is as it was.
    pub fn is_whole(&self) -> bool {
        self.left.is_empty() && self.failed.is_empty()
    }
}

enum Outcome {
    Untouched,
    Restored,
    Left(Found),
}

/// Takes back what was done to these files, in whose order they were changed. The directories are those that were made
/// for them.
pub(super) fn roll_back(
    root: &Root,
    blobs: &dyn Blobs,
    files: &[RecordedFile],
    made: &[TreePath],
    seam: &Seam,
) -> RollBack {
    let paths = || files.iter().map(|file| &file.path);
    let made: HashSet<&TreePath> = made.iter().collect();
    let mut result = RollBack::default();
    let failed = |result: Result<(), TreeError>| result.map_err(|error| (TreePath::root(), error.into()));
    // First, for a directory with something in it cannot be removed.
    result.failed.extend(failed(sweep(root, paths())).err());
    // What was done last is taken back first: a file may have to go before a directory can come back in its place.
    for file in files.iter().rev() {
        match put_back(root, blobs, file, &made, seam) {
            Ok(Outcome::Untouched) => {}
            Ok(Outcome::Restored) => result.restored.push(file.path.clone()),
            Ok(Outcome::Left(found)) => result.left.push(Conflict { path: file.path.clone(), found }),
            Err(error) => result.failed.push((file.path.clone(), error)),
        }
    }
    result.failed.extend(failed(sync(root, paths())).err());
    result
}

fn put_back(
    root: &Root,
    blobs: &dyn Blobs,
    file: &RecordedFile,
    made: &HashSet<&TreePath>,
    seam: &Seam,
) -> Result<Outcome, RestoreError> {
    seam.reach("put back", &file.path)?;
    let found = look(root, &file.path)?;
    let outcome = match &file.before {
        before if found.is(before.as_ref()) => Outcome::Untouched,
        _ if !is_ours(&found, file) => Outcome::Left(found),
        None => {
            root.remove_unsynced(&file.path)?;
            Outcome::Restored
        }
        Some(state) => {
            let staged = stage(root, &file.path, &blobs.kept(state.hash)?, state)?;
            seam.reach("staged to put back", &file.path)?;
            root.commit_unsynced(staged)?;
            Outcome::Restored
        }
    };
    seam.reach("remove directories", &file.path)?;
    remove_directories(root, &file.path, |directory| made.contains(directory))?;
    Ok(outcome)
}

/// Whether this is what the change left. A directory or a link on the way is not: that came later.
fn is_ours(found: &Found, file: &RecordedFile) -> bool {
    match found {
        Found::Nothing | Found::File(_) => found.is(file.after.as_ref()),
        Found::Directory | Found::Special | Found::BehindLink => false,
    }
}
