//! Vectors of pieces: made in the background, compared one by one.
//!
//! Knows embedders as a trait and pieces by their hashes; a piece that did not change keeps its vector, whatever else
//! did. What people changed is embedded first, then what others use most. Without an embedder there is none of this. What
//! always holds: an embedder is given no piece of a file that the settings call secret.
//!
//! A query looks at all vectors, as bytes, and compares the best of them exactly: for as many pieces as a workspace has
//! that is quicker than it takes to be worth an index of its own.

mod file;
mod making;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use loggia_domain::{Embedder, IndexError};

use crate::chunks::ChunkHash;
use crate::control::lock;
use crate::entry::Entry;
use crate::fault::Fault;
use crate::keeper::Shared;
use crate::settings::IndexSettings;
use crate::snapshot::Snapshot;

use file::VectorFile;

/// How many vectors are compared exactly for each that is wanted: bytes misplace some.
const COMPARED: usize = 4;

/// How many are compared at least.
const COMPARED_AT_LEAST: usize = 40;

/// How many files wait by name to be embedded before the others: those of the last questions.
const MAX_PREFERRED: usize = 64;

/// How many vectors of pieces that are gone are kept whatever the others are: a branch that is left is often come back to.
const FREE_WASTE: usize = 4096;

/// How many vectors are put together before they are written.
const FLUSHED: usize = 256;

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
        let dimensions = embedder.dimensions();
        let path = settings.directory.join("vectors");
        let (file, rows) = VectorFile::open(&path, dimensions, &embedder.identity())?;
        let mut table = Table { dimensions, file, hashes: Vec::new(), bytes: Vec::new(), scales: Vec::new() };
        rows.iter().for_each(|(hash, vector)| table.keep(*hash, vector));
        Ok(Self {
            embedder,
            is_secret: settings.is_secret,
            count: AtomicU64::new(table.hashes.len() as u64),
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

    /// Whether the embedder refused a piece.
    fn is_refused(&self, hash: ChunkHash) -> bool {
        lock(&self.refused).pieces.contains(&hash)
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
        // Before the symbols are found nobody knows which pieces there are.
        let is_whole =
            |(file, entry): (u32, &Entry)| entry.facts.is_some() || snapshot.changed(file).is_some();
        if !snapshot.entries().all(is_whole) {
            return Ok(());
        }
        let base = snapshot.base.chunks.iter().map(|piece| piece.hash);
        let changed = snapshot.changes().flat_map(|(_, changed)| changed.facts.chunks.iter());
        let live: HashSet<ChunkHash> = base.chain(changed.map(|chunk| chunk.hash)).collect();
        let kept = self.count() as usize;
        if kept <= 2 * live.len() + FREE_WASTE {
            return Ok(());
        }
        // Whoever asks meanwhile is answered from the old table, until the new one is there.
        let kept = self.table.read().unwrap_or_else(PoisonError::into_inner).only(&live)?;
        self.change(|table| kept.replaces(table))
    }

    /// Changes the table; others wait for that.
    fn change(&self, change: impl FnOnce(&mut Table) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut table);
        self.count.store(table.hashes.len() as u64, Ordering::Relaxed);
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

    /// The pieces of a state that are most like a vector, best first.
    pub(crate) fn similar(
        &self,
        snapshot: &Snapshot,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<Similar>, Fault> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let rows = table.nearest(vector, (limit * COMPARED).max(COMPARED_AT_LEAST))?;
        let mut found: Vec<Similar> = Vec::new();
        for (hash, likeness) in rows {
            let base = &snapshot.base.chunks;
            let from = base.partition_point(|piece| piece.hash < hash);
            for piece in base[from..].iter().take_while(|piece| piece.hash == hash) {
                if snapshot.entry(piece.file).is_some() {
                    found.push(Similar { file: piece.file, place: piece.place, likeness });
                }
            }
            for (file, changed) in snapshot.changes() {
                for (place, chunk) in (0..).zip(&changed.facts.chunks) {
                    if chunk.hash == hash {
                        found.push(Similar { file, place, likeness });
                    }
                }
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

/// All vectors, as bytes in memory and exactly on disk.
struct Table {
    dimensions: usize,
    file: VectorFile,
    hashes: Vec<ChunkHash>,
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

impl Table {
    /// Keeps the bytes of a vector that is on disk.
    fn keep(&mut self, hash: ChunkHash, vector: &[f32]) {
        let scale = coarse(vector, &mut self.bytes);
        self.scales.push(scale);
        self.hashes.push(hash);
    }

    /// Adds vectors, which are made to have the length 1. What cannot be written is not kept in memory either.
    fn add(&mut self, mut vectors: Vec<(ChunkHash, Vec<f32>)>) -> Result<(), Fault> {
        vectors.iter_mut().for_each(|(_, vector)| normalise(vector));
        vectors.iter().for_each(|(hash, vector)| self.file.append(*hash, vector));
        self.file.flush()?;
        vectors.iter().for_each(|(hash, vector)| self.keep(*hash, vector));
        Ok(())
    }

    fn has(&self) -> HashSet<ChunkHash> {
        self.hashes.iter().copied().collect()
    }

    /// The table without what is not wanted any more, in a file of its own beside this one's.
    fn only(&self, wanted: &HashSet<ChunkHash>) -> Result<Successor, Fault> {
        let mut table = Self {
            dimensions: self.dimensions,
            file: self.file.successor()?,
            hashes: Vec::new(),
            bytes: Vec::new(),
            scales: Vec::new(),
        };
        for (row, hash) in self.hashes.iter().enumerate().filter(|(_, hash)| wanted.contains(hash)) {
            table.copy(self, row, *hash)?;
            if table.hashes.len().is_multiple_of(FLUSHED) {
                table.file.flush()?;
            }
        }
        // Most of it here, where nobody waits.
        table.file.sync()?;
        Ok(Successor { table, rows: self.hashes.len() })
    }

    /// Adds a row of another table as it is.
    fn copy(&mut self, other: &Self, row: usize, hash: ChunkHash) -> Result<(), Fault> {
        self.file.append(hash, &other.file.read(row)?);
        let bytes = &other.bytes[row * self.dimensions..(row + 1) * self.dimensions];
        self.bytes.extend_from_slice(bytes);
        self.scales.push(other.scales[row]);
        self.hashes.push(hash);
        Ok(())
    }

    /// The most similar vectors, compared as bytes and then exactly.
    fn nearest(&self, vector: &[f32], limit: usize) -> Result<Vec<(ChunkHash, f32)>, Fault> {
        if self.dimensions == 0 || vector.len() != self.dimensions {
            return Ok(Vec::new());
        }
        let mut wanted = vector.to_vec();
        normalise(&mut wanted);
        let mut bytes = Vec::with_capacity(self.dimensions);
        coarse(&wanted, &mut bytes);
        let rows = self.bytes.chunks_exact(self.dimensions).zip(&self.scales);
        let mut near: Vec<(usize, f32)> =
            rows.map(|(row, scale)| dot(row, &bytes) as f32 * scale).enumerate().collect();
        let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if near.len() > limit && limit > 0 {
            near.select_nth_unstable_by(limit - 1, order);
        }
        near.truncate(limit);
        let mut exact = Vec::with_capacity(near.len());
        for (row, _) in near {
            let vector = self.file.read(row)?;
            let likeness: f32 = vector.iter().zip(&wanted).map(|(a, b)| a * b).sum();
            exact.push((self.hashes[row], likeness));
        }
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(exact)
    }
}

/// A table that is to take the place of another one.
struct Successor {
    table: Table,
    /// How many rows of the other one were looked at.
    rows: usize,
}

impl Successor {
    /// Takes the place, with what was added to the other one meanwhile.
    fn replaces(mut self, other: &mut Table) -> Result<(), Fault> {
        for (row, hash) in other.hashes.iter().enumerate().skip(self.rows) {
            self.table.copy(other, row, *hash)?;
        }
        self.table.file.take_place()?;
        *other = self.table;
        Ok(())
    }
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
}

/// Appends a vector as bytes, and says what one step of them is worth.
#[expect(clippy::cast_possible_truncation, reason = "the largest value is 127")]
fn coarse(vector: &[f32], bytes: &mut Vec<i8>) -> f32 {
    let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let step = if most > 0.0 { most / 127.0 } else { 1.0 };
    bytes.extend(vector.iter().map(|value| (value / step).round() as i8));
    step
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_vectors_are_found_exactly_enough() {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = VectorFile::open(&directory.path().join("vectors"), 16, "test").unwrap();
        let mut table = Table { dimensions: 16, file, hashes: vec![], bytes: vec![], scales: vec![] };
        let vector = |seed: u64| -> Vec<f32> {
            (0..16_u64).map(|place| ((seed * 31 + place * 17) as f32 * 0.7).sin()).collect()
        };
        table.add((0..500).map(|seed| (ChunkHash(seed), vector(seed))).collect()).unwrap();
        let likeness = |a: &[f32], b: &[f32]| {
            let (mut a, mut b) = (a.to_vec(), b.to_vec());
            normalise(&mut a);
            normalise(&mut b);
            a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
        };
        for seed in [3, 77, 499] {
            let mut exact: Vec<(u64, f32)> =
                (0..500).map(|other| (other, likeness(&vector(seed), &vector(other)))).collect();
            exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let found = table.nearest(&vector(seed), 40).unwrap();
            let best = |place: usize| (found[place].1 - exact[place].1).abs() < 1e-3;
            assert!((0..10).all(best), "{found:?}");
        }
        // What is left after the others are forgotten is what it was.
        let has = |table: &Table| {
            let found = table.nearest(&vector(77), 500).unwrap();
            found.iter().any(|(hash, likeness)| *hash == ChunkHash(77) && *likeness > 0.999)
        };
        assert!(has(&table));
        // Also what is added while that is done stays.
        let kept = table.only(&(50..100).map(ChunkHash).collect()).unwrap();
        table.add(vec![(ChunkHash(1000), vector(1000))]).unwrap();
        assert!(has(&table));
        kept.replaces(&mut table).unwrap();
        assert_eq!((has(&table), table.hashes.len(), table.scales.len()), (true, 51, 51));
        drop(table);
        let (file, rows) = VectorFile::open(&directory.path().join("vectors"), 16, "test").unwrap();
        assert_eq!(
            rows.iter().map(|(hash, _)| hash.0).collect::<Vec<_>>(),
            (50..100).chain([1000]).collect::<Vec<_>>()
        );
        let mut table = Table { dimensions: 16, file, hashes: vec![], bytes: vec![], scales: vec![] };
        rows.iter().for_each(|(hash, vector)| table.keep(*hash, vector));
        assert!(has(&table));
        assert_eq!(table.nearest(&[1.0], 3).unwrap(), vec![]);
        assert_eq!(table.nearest(&[f32::NAN; 16], 3).unwrap().len(), 3);
    }
}
