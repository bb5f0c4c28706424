//! What an index has to be told: where it is, what it is of, and what it may use.
//!
//! Everything arrives as a value; nothing is read from the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loggia_tree::Root;

/// How long changes stay in memory alone when no more of them come. A crash costs nothing but the time to find them
/// again, and each write makes a new state of the whole.
const SETTLE: Duration = Duration::from_secs(10);

/// How many threads a build has at most: beyond some, the writer and the disk are what it waits for.
const MAX_THREADS: usize = 16;

/// What an index is told.
#[derive(Clone)]
pub struct IndexSettings {
    /// The directory that is its own. It is made if it is not there.
    pub directory: PathBuf,
    /// What is indexed.
    pub root: Arc<Root>,
    /// How many threads a build uses.
    pub threads: usize,
    /// How long changes stay in memory alone when no more of them come.
    pub settle: Duration,
    /// Whether a file, by its path below the root, holds keys or passwords. It is found by its text like all others, but no
    /// piece of it is given to an embedder, who may be elsewhere.
    pub is_secret: fn(&str) -> bool,
}

impl std::fmt::Debug for IndexSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexSettings")
            .field("directory", &self.directory)
            .field("root", &self.root.path())
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl IndexSettings {
    /// The usual settings: all cores, and no file is secret.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>, root: Arc<Root>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            directory: directory.into(),
            root,
            threads: threads.clamp(1, MAX_THREADS),
            settle: SETTLE,
            is_secret: |_| false,
        }
    }
}
