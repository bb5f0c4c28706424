//! Vectors on disk: appended one after the other, each with a checksum.
//!
//! Knows records of one size. What a crash cut off, and all that is not ours, is dropped when the file is opened: a
//! vector that is lost is made again.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::chunks::ChunkHash;
use crate::fault::{AtFile, Fault};

const MAGIC: [u8; 8] = *b"lgvecs\x00\x01";
const HASH: usize = 8;
const SUM: usize = 4;

/// A file of vectors.
#[derive(Debug)]
pub(super) struct VectorFile {
    path: PathBuf,
    file: File,
    head: u64,
    dimensions: usize,
    rows: u64,
    pending: Vec<u8>,
}

impl VectorFile {
    /// Opens the file and hands on what is in it, one vector after the other: all of them would be some gigabytes. One of
    /// other vectors is begun anew.
    pub(super) fn open(
        path: &Path,
        dimensions: usize,
        identity: &str,
        mut take: impl FnMut(ChunkHash, &[f32]),
    ) -> Result<Self, Fault> {
        let head = head(dimensions, identity);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).at(path)?;
        let mut reader = BufReader::with_capacity(1 << 18, &file);
        let mut found = vec![0; head.len()];
        let is_ours = reader.read_exact(&mut found).is_ok() && found == head;
        let (mut rows, mut vector) = (0, Vec::with_capacity(dimensions));
        let mut record = vec![0; size(dimensions)];
        while is_ours && reader.read_exact(&mut record).is_ok() {
            let Some(hash) = parse(&record, &mut vector) else { break };
            take(hash, &vector);
            rows += 1;
        }
        drop(reader);
        let mut made = Self {
            path: path.to_owned(),
            file,
            head: head.len() as u64,
            dimensions,
            rows,
            pending: Vec::new(),
        };
        if !is_ours {
            made.file.set_len(0).at(path)?;
            made.file.rewind().at(path)?;
            made.file.write_all(&head).at(path)?;
        }
        let end = made.head + made.rows * size(dimensions) as u64;
        made.file.set_len(end).at(path)?;
        made.file.seek(SeekFrom::Start(end)).at(path)?;
        Ok(made)
    }

    /// Adds a vector, to be written with the next flush.
    pub(super) fn append(&mut self, hash: ChunkHash, vector: &[f32]) {
        let start = self.pending.len();
        self.pending.extend_from_slice(&hash.0.to_le_bytes());
        vector.iter().for_each(|value| self.pending.extend_from_slice(&value.to_le_bytes()));
        let sum = crc32fast::hash(&self.pending[start..]);
        self.pending.extend_from_slice(&sum.to_le_bytes());
    }

    /// Writes what was added. If that fails, none of it is there, and what was there before is.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        let pending = std::mem::take(&mut self.pending);
        let record = size(self.dimensions);
        let end = self.head + self.rows * record as u64;
        let written = self.file.write_all_at(&pending, end);
        match written {
            Ok(()) => self.rows += (pending.len() / record) as u64,
            // What is behind the last whole record would be dropped when the file is next opened; this is for the time
            // until then.
            Err(_) => self.file.set_len(end).at(&self.path)?,
        }
        written.at(&self.path)
    }

    /// Writes what was added, and waits until the disk has it.
    pub(super) fn sync(&mut self) -> Result<(), Fault> {
        self.flush()?;
        self.file.sync_all().at(&self.path)
    }

    /// An empty file beside this one, which takes its place when it is told to.
    pub(super) fn successor(&self) -> Result<Self, Fault> {
        let path = self.path.with_extension("new");
        let mut head = vec![0; usize::try_from(self.head).unwrap_or_default()];
        self.file.read_exact_at(&mut head, 0).at(&self.path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path).at(&path)?;
        let mut made =
            Self { path, file, head: self.head, dimensions: self.dimensions, rows: 0, pending: Vec::new() };
        made.file.write_all(&head).at(&made.path)?;
        Ok(made)
    }

    /// Takes the place of the file it is the successor of. A crash leaves one of the two.
    pub(super) fn take_place(&mut self) -> Result<(), Fault> {
        self.sync()?;
        let place = self.path.with_extension("");
        std::fs::rename(&self.path, &place).at(&place)?;
        self.path = place;
        Ok(())
    }

    /// The vector of a row, exactly.
    pub(super) fn read(&self, row: usize) -> Result<Vec<f32>, Fault> {
        let mut record = vec![0; size(self.dimensions)];
        let offset = self.head + (row * record.len()) as u64;
        self.file.read_exact_at(&mut record, offset).at(&self.path)?;
        let damaged = || Fault::Damaged { path: self.path.clone() };
        let mut vector = Vec::with_capacity(self.dimensions);
        parse(&record, &mut vector).ok_or_else(damaged)?;
        Ok(vector)
    }
}

fn head(dimensions: usize, identity: &str) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&(dimensions as u64).to_le_bytes());
    head.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(identity.as_bytes()).to_le_bytes());
    head
}

const fn size(dimensions: usize) -> usize {
    HASH + dimensions * 4 + SUM
}

/// Reads a record into a vector, and says whose it is; nothing if it is damaged.
fn parse(record: &[u8], vector: &mut Vec<f32>) -> Option<ChunkHash> {
    let (body, sum) = record.split_last_chunk::<SUM>()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (hash, values) = body.split_first_chunk::<HASH>()?;
    let value = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap_or_default());
    vector.clear();
    vector.extend(values.chunks_exact(4).map(value));
    Some(ChunkHash(u64::from_le_bytes(*hash)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file, and what was in it.
    fn opened(path: &Path, dimensions: usize, identity: &str) -> (VectorFile, Vec<(u64, Vec<f32>)>) {
        let mut rows = Vec::new();
        let take = |hash: ChunkHash, vector: &[f32]| rows.push((hash.0, vector.to_vec()));
        let file = VectorFile::open(path, dimensions, identity, take).unwrap();
        (file, rows)
    }

    #[test]
    fn vectors_survive_and_what_is_cut_off_or_of_others_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        let (mut file, rows) = opened(&path, 2, "one");
        assert_eq!(rows, vec![]);
        for number in 0..3_u8 {
            file.append(ChunkHash(number.into()), &[f32::from(number), 0.5]);
        }
        file.flush().unwrap();
        assert_eq!(file.read(1).unwrap(), [1.0, 0.5]);
        drop(file);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let (mut file, rows) = opened(&path, 2, "one");
        assert_eq!(rows, [(0, vec![0.0, 0.5]), (1, vec![1.0, 0.5])]);
        file.append(ChunkHash(9), &[9.0, 0.0]);
        file.flush().unwrap();
        assert_eq!(opened(&path, 2, "one").1.last().unwrap(), &(9, vec![9.0, 0.0]));
        assert_eq!(opened(&path, 2, "other").1, vec![]);
        assert_eq!(opened(&path, 3, "other").1, vec![]);
    }

    #[test]
    fn vectors_are_read_one_after_the_other_into_the_room_of_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        let (mut file, _) = opened(&path, 64, "one");
        (0..1000).for_each(|number| file.append(ChunkHash(number), &[0.5; 64]));
        file.flush().unwrap();
        let mut rooms = Vec::new();
        VectorFile::open(&path, 64, "one", |_, vector| rooms.push(vector.as_ptr_range())).unwrap();
        assert_eq!(rooms.len(), 1000);
        rooms.dedup();
        assert_eq!(rooms.len(), 1);
    }
}
