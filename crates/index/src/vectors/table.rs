//! All vectors of an index: as bytes in memory, exactly on disk.
//!
//! Knows rows and nothing of files or states. A vector is compared as bytes first, and the best of these exactly. What
//! always holds: a row in memory is a row on disk; what cannot be written is not kept in memory either.

use std::collections::HashSet;
use std::path::Path;

use crate::chunks::ChunkHash;
use crate::fault::Fault;
use crate::vectors::file::VectorFile;

/// How many vectors are put together before they are written.
const FLUSHED: usize = 256;

/// All vectors.
pub(super) struct Table {
    file: VectorFile,
    rows: Rows,
}

/// The vectors in memory.
struct Rows {
    dimensions: usize,
    hashes: Vec<ChunkHash>,
    /// The same, to be asked whether one is there.
    known: HashSet<ChunkHash>,
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

/// A row, and how like a vector it is as bytes.
type Scored = (usize, f32);

impl Table {
    /// Opens the table in a file; the vectors of another embedder are dropped.
    pub(super) fn open(path: &Path, dimensions: usize, identity: &str) -> Result<Self, Fault> {
        let mut rows = Rows::new(dimensions);
        let file = VectorFile::open(path, dimensions, identity, |hash, vector| rows.keep(hash, vector))?;
        Ok(Self { file, rows })
    }

    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        self.rows.hashes.len()
    }

    /// Whether there is a vector of a hash.
    pub(super) fn has(&self, hash: ChunkHash) -> bool {
        self.rows.known.contains(&hash)
    }

    /// Adds vectors, which are made to have the length 1, of what has none yet.
    pub(super) fn add(&mut self, mut vectors: Vec<(ChunkHash, Vec<f32>)>) -> Result<(), Fault> {
        vectors.retain(|(hash, _)| !self.has(*hash));
        vectors.iter_mut().for_each(|(_, vector)| normalise(vector));
        vectors.iter().for_each(|(hash, vector)| self.file.append(*hash, vector));
        self.file.flush()?;
        vectors.iter().for_each(|(hash, vector)| self.rows.keep(*hash, vector));
        Ok(())
    }

    /// The table without what is not wanted any more, in a file of its own beside this one's.
    pub(super) fn only(&self, is_wanted: impl Fn(ChunkHash) -> bool) -> Result<Successor, Fault> {
        let mut table = Self { file: self.file.successor()?, rows: Rows::new(self.rows.dimensions) };
        for (row, hash) in self.rows.hashes.iter().enumerate().filter(|(_, hash)| is_wanted(**hash)) {
            table.copy(self, row, *hash)?;
            if table.len().is_multiple_of(FLUSHED) {
                table.file.flush()?;
            }
        }
        // Most of it here, where nobody waits.
        table.file.sync()?;
        Ok(Successor { table, rows: self.len() })
    }

    /// Adds a row of another table as it is.
    fn copy(&mut self, other: &Self, row: usize, hash: ChunkHash) -> Result<(), Fault> {
        self.file.append(hash, &other.file.read(row)?);
        let dimensions = self.rows.dimensions;
        let bytes = &other.rows.bytes[row * dimensions..(row + 1) * dimensions];
        self.rows.bytes.extend_from_slice(bytes);
        self.rows.push(hash, other.rows.scales[row]);
        Ok(())
    }

    /// The vectors most like this one, best first: so many of those that are wanted, if there are so many.
    pub(super) fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        is_wanted: impl Fn(ChunkHash) -> bool,
    ) -> Result<Vec<(ChunkHash, f32)>, Fault> {
        if self.rows.dimensions == 0 || vector.len() != self.rows.dimensions {
            return Ok(Vec::new());
        }
        let mut sought = vector.to_vec();
        normalise(&mut sought);
        let near = self.rows.near(&sought, limit, |row| is_wanted(self.rows.hashes[row]));
        let mut exact = Vec::with_capacity(near.len());
        for (row, _) in near {
            let vector = self.file.read(row)?;
            let likeness: f32 = vector.iter().zip(&sought).map(|(a, b)| a * b).sum();
            exact.push((self.rows.hashes[row], likeness));
        }
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(exact)
    }
}

impl Rows {
    fn new(dimensions: usize) -> Self {
        Self { dimensions, hashes: vec![], known: HashSet::new(), bytes: vec![], scales: vec![] }
    }

    /// Keeps the bytes of a vector that is on disk.
    fn keep(&mut self, hash: ChunkHash, vector: &[f32]) {
        let scale = coarse(vector, &mut self.bytes);
        self.push(hash, scale);
    }

    /// Completes a row whose bytes are there.
    fn push(&mut self, hash: ChunkHash, scale: f32) {
        self.scales.push(scale);
        self.hashes.push(hash);
        self.known.insert(hash);
    }

    /// The rows most like a vector as bytes, in no order. Of most rows nobody asks whether they are wanted: only of the
    /// best, and of twice as many more each time those were too few.
    fn near(&self, sought: &[f32], limit: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<Scored> {
        let mut bytes = Vec::with_capacity(self.dimensions);
        coarse(sought, &mut bytes);
        let rows = self.bytes.chunks_exact(self.dimensions).zip(&self.scales);
        let mut scored: Vec<Scored> =
            rows.map(|(row, scale)| dot(row, &bytes) as f32 * scale).enumerate().collect();
        let (mut near, mut rest, mut next) = (Vec::new(), scored.as_mut_slice(), limit);
        while near.len() < limit && !rest.is_empty() {
            let count = next.min(rest.len());
            let (best, others) = best_first(rest, count);
            near.extend(best.iter().copied().filter(|(row, _)| is_wanted(*row)));
            (rest, next) = (others, next * 2);
        }
        let count = limit.min(near.len());
        best_first(&mut near, count);
        near.truncate(count);
        near
    }
}

/// The so many best, which are put before the others, and those.
fn best_first(rows: &mut [Scored], count: usize) -> (&mut [Scored], &mut [Scored]) {
    if (1..rows.len()).contains(&count) {
        rows.select_nth_unstable_by(count - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    rows.split_at_mut(count)
}

/// A table that is to take the place of another one.
pub(super) struct Successor {
    table: Table,
    /// How many rows of the other one were looked at.
    rows: usize,
}

impl Successor {
    /// Takes the place, with what was added to the other one meanwhile.
    pub(super) fn replaces(mut self, other: &mut Table) -> Result<(), Fault> {
        for (row, hash) in other.rows.hashes.iter().enumerate().skip(self.rows) {
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

    fn vector(seed: u64) -> Vec<f32> {
        (0..16_u64).map(|place| ((seed * 31 + place * 17) as f32 * 0.7).sin()).collect()
    }

    fn likeness(a: &[f32], b: &[f32]) -> f32 {
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        normalise(&mut a);
        normalise(&mut b);
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    }

    fn all(_: ChunkHash) -> bool {
        true
    }

    #[test]
    fn the_nearest_vectors_are_found_exactly_enough() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        let mut table = Table::open(&path, 16, "test").unwrap();
        table.add((0..500).map(|seed| (ChunkHash(seed), vector(seed))).collect()).unwrap();
        for seed in [3, 77, 499] {
            let mut exact: Vec<(u64, f32)> =
                (0..500).map(|other| (other, likeness(&vector(seed), &vector(other)))).collect();
            exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let found = table.nearest(&vector(seed), 40, all).unwrap();
            let best = |place: usize| (found[place].1 - exact[place].1).abs() < 1e-3;
            assert!((0..10).all(best), "{found:?}");
        }
        // What is left after the others are forgotten is what it was.
        let has = |table: &Table| {
            let found = table.nearest(&vector(77), 500, all).unwrap();
            found.iter().any(|(hash, likeness)| *hash == ChunkHash(77) && *likeness > 0.999)
        };
        assert!(has(&table));
        // Also what is added while that is done stays.
        let kept = table.only(|hash| (50..100).contains(&hash.0)).unwrap();
        table.add(vec![(ChunkHash(1000), vector(1000))]).unwrap();
        assert!(has(&table));
        kept.replaces(&mut table).unwrap();
        assert_eq!((has(&table), table.len(), table.rows.scales.len()), (true, 51, 51));
        drop(table);
        let table = Table::open(&path, 16, "test").unwrap();
        let hashes: Vec<u64> = table.rows.hashes.iter().map(|hash| hash.0).collect();
        assert_eq!(hashes, (50..100).chain([1000]).collect::<Vec<_>>());
        assert!(has(&table) && table.has(ChunkHash(50)) && !table.has(ChunkHash(49)));
        assert_eq!(table.nearest(&[1.0], 3, all).unwrap(), vec![]);
        assert_eq!(table.nearest(&[f32::NAN; 16], 3, all).unwrap().len(), 3);
    }

    #[test]
    fn what_is_not_wanted_takes_no_places_in_the_answer() {
        let directory = tempfile::tempdir().unwrap();
        let mut table = Table::open(&directory.path().join("vectors"), 16, "test").unwrap();
        // Many of the same, as of a function that was edited often; then others.
        let edited =
            |seed: u64| -> Vec<f32> { vector(0).iter().map(|value| value + seed as f32 * 1e-6).collect() };
        table.add((0..1000).map(|seed| (ChunkHash(seed), edited(seed))).collect()).unwrap();
        table.add((1000..1030).map(|seed| (ChunkHash(seed), vector(seed))).collect()).unwrap();
        let found = |limit| -> Vec<u64> {
            let rows = table.nearest(&vector(0), limit, |hash| hash.0 >= 999).unwrap();
            rows.iter().map(|(hash, _)| hash.0).collect()
        };
        let mut expected: Vec<(u64, f32)> =
            (1000..1030).map(|seed| (seed, likeness(&vector(0), &vector(seed)))).collect();
        expected.push((999, likeness(&vector(0), &edited(999))));
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        let expected: Vec<u64> = expected.iter().map(|(seed, _)| *seed).collect();
        assert_eq!(found(31), expected);
        assert_eq!(found(40), expected);
        assert_eq!(found(3).len(), 3);
        assert_eq!(found(0), Vec::<u64>::new());
    }

    #[test]
    fn what_has_a_vector_gets_no_second_one() {
        let directory = tempfile::tempdir().unwrap();
        let mut table = Table::open(&directory.path().join("vectors"), 16, "test").unwrap();
        table.add(vec![(ChunkHash(1), vector(1))]).unwrap();
        table.add(vec![(ChunkHash(1), vector(1)), (ChunkHash(2), vector(2))]).unwrap();
        assert_eq!(table.len(), 2);
    }
}
