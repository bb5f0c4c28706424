//! One file with many copies, one after the other, and beside it a list of what is in it.
//!
//! Invariant: the list names bytes only after they were written, so that a kill between the two leaves bytes that
//! nothing names, and never a name without its bytes. Lists are believed only as far as the bytes go.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use loggia_domain::ContentHash;

/// How long a line of the list is: a hash, an offset and a length.
const LINE: usize = 32 + 8 + 8;

/// A line of the list: where a copy is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) hash: ContentHash,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// A segment that can be written to.
#[derive(Debug)]
pub(super) struct Segment {
    number: u32,
    data: File,
    list: File,
    size: u64,
    list_len: u64,
}

impl Segment {
    pub(super) fn create(dir: &Path, number: u32) -> io::Result<Self> {
        let data = options().create(true).truncate(true).open(data_path(dir, number))?;
        let list = options().create(true).truncate(true).open(list_path(dir, number))?;
        Ok(Self { number, data, list, size: 0, list_len: 0 })
    }

    /// Opens what an earlier process wrote: the segment, and what is in it.
    pub(super) fn open(dir: &Path, number: u32) -> io::Result<(Self, Vec<Line>)> {
        let data = options().open(data_path(dir, number))?;
        let list = options().create(true).truncate(false).open(list_path(dir, number))?;
        let size = data.metadata()?.len();
        let bytes = fs::read(list_path(dir, number))?;
        let (lines, _) = bytes.as_chunks::<LINE>();
        // A line that was cut is written over.
        let list_len = (lines.len() * LINE) as u64;
        let is_within = |line: &Line| line.offset.checked_add(line.len).is_some_and(|end| end <= size);
        let lines = lines.iter().map(Line::decode).filter(is_within).collect();
        Ok((Self { number, data, list, size, list_len }, lines))
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Adds a copy and says where it begins. After an error, what was written of it is written over.
    pub(super) fn append(&mut self, hash: ContentHash, bytes: &[u8]) -> io::Result<u64> {
        let (offset, len) = (self.size, bytes.len() as u64);
        self.data.write_all_at(bytes, offset)?;
        self.list.write_all_at(&Line { hash, offset, len }.encode(), self.list_len)?;
        self.size += len;
        self.list_len += LINE as u64;
        Ok(offset)
    }
}

impl Line {
    fn encode(self) -> [u8; LINE] {
        let mut bytes = [0; LINE];
        bytes[..32].copy_from_slice(&self.hash.0);
        bytes[32..40].copy_from_slice(&self.offset.to_le_bytes());
        bytes[40..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; LINE]) -> Self {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let hash = ContentHash(std::array::from_fn(|index| bytes[index]));
        Self { hash, offset: number(32), len: number(40) }
    }
}

/// The numbers of all segments, rising. Other files are let be.
pub(super) fn numbers(dir: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(number) = number
            && path == data_path(dir, number)
        {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes a segment: its list first, for bytes without a list are only unused.
pub(super) fn remove(dir: &Path, number: u32) -> io::Result<()> {
    for path in [list_path(dir, number), data_path(dir, number)] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The file of the copies.
pub(super) fn data_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.data"))
}

fn list_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.list"))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}
