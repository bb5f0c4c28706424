//! Vectors of pieces: made in the background, compared one by one.
//!
//! Knows embedders as a trait and pieces by their hashes; a piece that did not change keeps its vector, whatever else
//! did. What people changed is embedded first, then what others use most. Without an embedder there is none of this. What
//! always holds: an embedder is given no piece of a file that the settings call secret.
//!
//! A query looks at all vectors, as bytes, and compares the best of them exactly: for as many pieces as a workspace has
//! that is quicker than it takes to be worth an index of its own. Vectors of pieces that are gone are kept for a while, and
//! take no places in an answer.

mod file;
mod live;
mod making;
mod table;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use loggia_domain::{Embedder, IndexError};

use crate::base::Piece;
use crate::chunks::ChunkHash;
use crate::control::lock;
use crate::entry::Entry;
use crate::fault::Fault;
use crate::keeper::Shared;
use crate::settings::IndexSettings;
use crate::snapshot::Snapshot;

use live::Live;
use table::Table;

/// How many vectors are compared exactly for each that is wanted: bytes misplace some.
const COMPARED: usize = 4;

/// How many are compared at least.
const COMPARED_AT_LEAST: usize = 40;

/// How many files wait by name to be embedded before the others: those of the last questions.
const MAX_PREFERRED: usize = 64;

/// How many vectors of pieces that are gone are kept whatever the others are: a branch that is left is often come back to.
const FREE_WASTE: usize = 4096;

/// Which pieces get vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// All, one after the other in the background.
    All,
    /// Those that somebody asks for.
    OnRequest,
}

/// The vectors of one index.
pub(crate) struct Vectors {
    pub(crate) embedder: Arc<dyn Embedder>,
    /// Whether no piece of a file may be given to the embedder.
    is_secret: fn(&str) -> bool,
    table: RwLock<Table>,
    /// How many rows the table has: told without waiting for whoever writes it.
    count: AtomicU64,
    wake: Mutex<Wake>,
    bell: Condvar,
    /// Set when the index ends.
    stop: tokio::sync::watch::Sender<bool>,
    /// What the embedder last failed with.
    failure: Mutex<Option<String>>,
    refused: Mutex<Refused>,
    /// Files that are embedded before the others, the last one first.
    preferred: Mutex<VecDeque<Box<str>>>,
    runtime: Option<tokio::runtime::Handle>,
}

impl std::fmt::Debug for Vectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vectors").field("count", &self.count()).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Wake {
    is_asked: bool,
    is_stopping: bool,
}

/// Pieces that the embedder refused. It is not asked for them again: it would refuse all that is sent along.
#[derive(Debug, Default)]
struct Refused {
    pieces: HashSet<ChunkHash>,
    /// What it said of the last one.
    why: String,
}

/// A piece that means something like what was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Similar {
    pub(crate) file: u32,
    /// Its place among the file's pieces.
    pub(crate) place: u32,
    /// From -1 to 1.
    pub(crate) likeness: f32,
}

impl Vectors {
    /// Opens the vectors of an index; those of another embedder are dropped.
    pub(crate) fn open(settings: &IndexSettings, embedder: Arc<dyn Embedder>) -> Result<Self, Fault> {
        let path = settings.directory.join("vectors");
        let table = Table::open(&path, embedder.dimensions(), &embedder.identity())?;
        Ok(Self {
            embedder,
            is_secret: settings.is_secret,
            count: AtomicU64::new(table.len() as u64),
            table: RwLock::new(table),
            wake: Mutex::default(),
            bell: Condvar::new(),
            stop: tokio::sync::watch::Sender::new(false),
            failure: Mutex::default(),
            refused: Mutex::default(),
            preferred: Mutex::default(),
            runtime: tokio::runtime::Handle::try_current().ok(),
        })
    }

    /// How many pieces have a vector.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// What people should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failure = lock(&self.failure).as_ref().map(|why| format!("vectors are not made for now: {why}"));
        let refused = lock(&self.refused);
        let count = match refused.pieces.len() {
            0 => None,
            1 => Some("1 piece of code was refused by the embedder and has".to_owned()),
            many => Some(format!("{many} pieces of code were refused by the embedder and have")),
        };
        let refused = count.map(|count| format!("{count} no vector: {}", refused.why));
        failure.into_iter().chain(refused).collect()
    }

    /// Has a piece passed over from now on.
    fn refuse(&self, hash: ChunkHash, why: String) {
        let mut refused = lock(&self.refused);
        if refused.pieces.is_empty() {
            tracing::warn!(%why, "a piece of code is refused by the embedder and gets no vector");
        }
        refused.pieces.insert(hash);
        refused.why = why;
    }

    /// Whether a piece has no vector and may get one.
    fn lacks(&self, hash: ChunkHash) -> bool {
        let has_one = self.table.read().unwrap_or_else(PoisonError::into_inner).has(hash);
        !has_one && !lock(&self.refused).pieces.contains(&hash)
    }

    /// Says that there is a new state.
    pub(crate) fn wake(&self) {
        lock(&self.wake).is_asked = true;
        self.bell.notify_all();
    }

    /// Has these files embedded before the others.
    pub(crate) fn prefer<'p>(&self, paths: impl Iterator<Item = &'p str>) {
        let mut preferred = lock(&self.preferred);
        for path in paths {
            if !preferred.iter().any(|other| **other == *path) {
                preferred.push_front(path.into());
            }
        }
        preferred.truncate(MAX_PREFERRED);
    }

    /// The next of the files that are embedded before the others.
    fn next_preferred(&self) -> Option<Box<str>> {
        lock(&self.preferred).pop_front()
    }

    /// Forgets the vectors of pieces that a state has not, if they are many.
    pub(crate) fn tidy(&self, snapshot: &Snapshot) -> Result<(), Fault> {
        let live = Live::of(snapshot);
        if self.count() as usize <= 2 * live.at_most() + FREE_WASTE {
            return Ok(());
        }
        // Before the symbols are found nobody knows which pieces there are.
        let is_whole =
            |(file, entry): (u32, &Entry)| entry.facts.is_some() || snapshot.changed(file).is_some();
        if !snapshot.entries().all(is_whole) {
            return Ok(());
        }
        // Whoever asks meanwhile is answered from the old table, until the new one is there.
        let kept = self.table.read().unwrap_or_else(PoisonError::into_inner).only(|hash| live.has(hash))?;
        self.change(|table| kept.replaces(table))
    }

    /// Changes the table; others wait for that.
    fn change(&self, change: impl FnOnce(&mut Table) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut table);
        self.count.store(table.len() as u64, Ordering::Relaxed);
        changed
    }

    /// Whether the making of vectors is to end.
    fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Ends the making of vectors.
    pub(crate) fn stop(&self) {
        lock(&self.wake).is_stopping = true;
        self.bell.notify_all();
        self.stop.send_replace(true);
    }

    /// Begins to make vectors of what has none.
    pub(crate) fn start(shared: Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name("index-vectors".to_owned()).spawn(move || making::run(&shared))
    }

    /// The vector of a question.
    pub(crate) async fn of(&self, text: &str) -> Result<Vec<f32>, IndexError> {
        let vector = self.embedder.embed(vec![text.to_owned()]).await?.pop();
        let vector = vector.filter(|vector| vector.len() == self.embedder.dimensions());
        vector.ok_or_else(|| IndexError::Unavailable("the embedder gave no vector".to_owned()))
    }

    /// The pieces of a state that are most like a vector, best first; of the files that are wanted.
    pub(crate) fn similar(
        &self,
        snapshot: &Snapshot,
        vector: &[f32],
        limit: usize,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Vec<Similar>, Fault> {
        let live = Live::of(snapshot);
        let compared = (limit * COMPARED).max(COMPARED_AT_LEAST);
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let has_wanted = |hash| live.with(hash).any(|piece| is_wanted(piece.file));
        let rows = table.nearest(vector, compared, has_wanted)?;
        let mut found: Vec<Similar> = Vec::new();
        for (hash, likeness) in rows {
            let pieces = live.with(hash).filter(|piece| is_wanted(piece.file));
            found.extend(pieces.map(|Piece { file, place, .. }| Similar { file, place, likeness }));
        }
        found.truncate(limit);
        Ok(found)
    }
}
