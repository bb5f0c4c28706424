//! Packs: symbols and uses of many files, one after the other, each with a checksum of its own.
//!
//! Knows places and bytes. A pack is only ever appended to by whoever made it, before any state names it; afterwards it
//! is read, never written. What is not needed any more goes when the packs are written anew.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::chunks::Chunk;
use crate::disk::sync_directory;
use crate::entry::{Entry, Place};
use crate::facts::{self, Facts};
use crate::fault::{AtFile, Fault};

const NAME: &str = "facts-";
const SUM: usize = 4;

/// The packs of one state, open for reading.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    packs: BTreeMap<u32, (PathBuf, File)>,
}

impl Packs {
    /// Opens the packs that entries name.
    pub(crate) fn open(build: &Path, entries: &[Entry]) -> Result<Self, Fault> {
        let mut packs = BTreeMap::new();
        for place in entries.iter().filter_map(|entry| entry.facts) {
            if let std::collections::btree_map::Entry::Vacant(vacant) = packs.entry(place.pack) {
                let path = path_of(build, place.pack);
                let file = File::open(&path).map_err(|source| match source.kind() {
                    // The catalogue names it, so it was there.
                    std::io::ErrorKind::NotFound => Fault::Damaged { path: path.clone() },
                    _ => Fault::Io { path: path.clone(), source },
                })?;
                vacant.insert((path, file));
            }
        }
        Ok(Self { packs })
    }

    /// The facts at a place.
    pub(crate) fn read(&self, place: Place) -> Result<Facts, Fault> {
        let (path, bytes) = self.bytes(place)?;
        facts::decode(&bytes).map_err(|_| Fault::Damaged { path: path.to_owned() })
    }

    /// The facts at a place without uses of names.
    pub(crate) fn read_outline(&self, place: Place) -> Result<Facts, Fault> {
        let (path, bytes) = self.bytes(place)?;
        facts::decode_outline(&bytes).map_err(|_| Fault::Damaged { path: path.to_owned() })
    }

    /// The pieces of the file whose facts are at a place.
    pub(crate) fn read_pieces(&self, place: Place) -> Result<Vec<Chunk>, Fault> {
        let (path, bytes) = self.bytes(place)?;
        facts::decode_pieces(&bytes).map_err(|_| Fault::Damaged { path: path.to_owned() })
    }

    /// The bytes at a place, without their checksum, which is right.
    pub(crate) fn bytes(&self, place: Place) -> Result<(&Path, Vec<u8>), Fault> {
        let missing = || Fault::Damaged { path: PathBuf::from(format!("{NAME}{}", place.pack)) };
        let (path, file) = self.packs.get(&place.pack).ok_or_else(missing)?;
        let mut bytes = vec![0; SUM + place.len as usize];
        file.read_exact_at(&mut bytes, place.offset).at(path)?;
        let sum: [u8; SUM] = bytes.first_chunk().copied().unwrap_or_default();
        bytes.drain(..SUM);
        if crc32fast::hash(&bytes) != u32::from_le_bytes(sum) {
            return Err(Fault::Damaged { path: path.clone() });
        }
        Ok((path, bytes))
    }

    /// How many packs there are.
    pub(crate) fn count(&self) -> usize {
        self.packs.len()
    }

    /// How many bytes they have.
    pub(crate) fn size(&self) -> u64 {
        self.packs.values().filter_map(|(_, file)| file.metadata().ok()).map(|meta| meta.len()).sum()
    }
}

/// A pack being written.
#[derive(Debug)]
pub(crate) struct PackWriter {
    path: PathBuf,
    number: u32,
    file: BufWriter<File>,
    offset: u64,
}

impl PackWriter {
    /// Begins a pack with a number that no other has, nor one that these files have facts in: if that is missing, what
    /// is in this one must not be taken for it.
    pub(crate) fn begin(build: &Path, entries: &[Entry]) -> Result<Self, Fault> {
        let named = entries.iter().filter_map(|entry| entry.facts).map(|place| place.pack);
        let number = numbers(build)?.into_iter().chain(named).max().unwrap_or(0) + 1;
        let path = path_of(build, number);
        let file = File::create_new(&path).at(&path)?;
        Ok(Self { path, number, file: BufWriter::with_capacity(1 << 18, file), offset: 0 })
    }

    /// Appends the facts of a file.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<Place, Fault> {
        let sum = crc32fast::hash(bytes).to_le_bytes();
        self.file.write_all(&sum).and_then(|()| self.file.write_all(bytes)).at(&self.path)?;
        let len = u32::try_from(bytes.len()).map_err(|_| Fault::Damaged { path: self.path.clone() })?;
        let place = Place { pack: self.number, offset: self.offset, len };
        self.offset += (SUM + bytes.len()) as u64;
        Ok(place)
    }

    /// Makes sure that it is on disk. An empty one is not kept.
    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        self.file.flush().at(&self.path)?;
        if self.offset == 0 {
            return fs::remove_file(&self.path).at(&self.path);
        }
        self.file.get_ref().sync_all().at(&self.path)?;
        sync_directory(&self.path)
    }
}

/// Removes the packs that no entry names.
pub(crate) fn sweep(build: &Path, entries: &[Entry]) -> Result<(), Fault> {
    let named: std::collections::BTreeSet<u32> =
        entries.iter().filter_map(|entry| entry.facts).map(|place| place.pack).collect();
    for number in numbers(build)?.into_iter().filter(|number| !named.contains(number)) {
        let path = path_of(build, number);
        fs::remove_file(&path).at(&path)?;
    }
    Ok(())
}

fn path_of(build: &Path, number: u32) -> PathBuf {
    build.join(format!("{NAME}{number}"))
}

fn numbers(build: &Path) -> Result<Vec<u32>, Fault> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(build).at(build)? {
        let name = entry.at(build)?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse::<u32>().ok()));
    }
    Ok(numbers)
}
