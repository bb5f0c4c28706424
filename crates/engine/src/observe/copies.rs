//! Copies of files' bytes in a directory, found by their hash.
//!
//! Knows nothing of paths or manifests. Copies are put one after the other into files of some megabytes
//! ([`segment`]), because making a file for each would take longer than reading all of them. A segment of which a
//! good part is no longer used is emptied into another one. Nothing is synced: a power cut may leave anything.
//! Invariants: bytes that [`Copies::get`] gives have the hash that was asked for, and the segments together never
//! take more than the bound.

mod segment;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_domain::ContentHash;

use self::segment::{Line, Segment, data_path};
use super::bounds::MOVED_BYTES;

/// The bound is this many segments. One of them is kept free, so that there is always room to empty one.
const SEGMENTS: u64 = 32;

/// A segment is emptied when this part of it is unused. More often would move more bytes than it gains.
const UNUSED_PART: u64 = 4;

/// The copies of one workspace.
#[derive(Debug)]
pub(super) struct Copies {
    dir: PathBuf,
    limit: u64,
    stock: Mutex<Stock>,
}

/// What there is.
#[derive(Debug, Default)]
struct Stock {
    places: HashMap<ContentHash, Place>,
    /// How long each segment is.
    sizes: BTreeMap<u32, u64>,
    /// The one that is written to.
    open: Option<Segment>,
}

/// Where a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    segment: u32,
    offset: u64,
    len: u64,
}

/// What became of bytes that were to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    NoRoom,
}

/// What removing unused copies did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) bytes: u64,
    /// Whether there is more to do next time.
    pub(super) more: bool,
}

impl Copies {
    /// Opens or makes the directory and takes stock of it.
    pub(super) fn open(dir: PathBuf, limit: u64) -> io::Result<Self> {
        make_dir(&dir)?;
        let stock = Mutex::new(Stock::take(&dir)?);
        Ok(Self { dir, limit, stock })
    }

    /// Whether a copy of this hash and length is there, as far as the stock tells.
    pub(super) fn has(&self, hash: ContentHash, len: u64) -> bool {
        self.stock().places.get(&hash).is_some_and(|place| place.len == len)
    }

    /// How many more bytes may be kept.
    pub(super) fn room(&self) -> u64 {
        self.room_in(&self.stock())
    }

    /// Keeps bytes under their hash, if they fit.
    pub(super) fn put(&self, hash: ContentHash, bytes: &[u8]) -> io::Result<Kept> {
        let len = bytes.len() as u64;
        let mut stock = self.stock();
        if stock.places.get(&hash).is_some_and(|place| place.len == len) {
            return Ok(Kept::Yes);
        }
        if len > self.room_in(&stock) {
            return Ok(Kept::NoRoom);
        }
        stock.append(&self.dir, self.limit / SEGMENTS, hash, bytes)?;
        Ok(Kept::Yes)
    }

    /// The bytes of a copy. Nothing if it is not there or is not what it should be; it is forgotten then.
    pub(super) fn get(&self, hash: ContentHash) -> Option<Vec<u8>> {
        let (place, file) = {
            let stock = self.stock();
            let place = *stock.places.get(&hash)?;
            // Opened while nobody empties the segment; read at leisure.
            (place, File::open(data_path(&self.dir, place.segment)))
        };
        let bytes = file.ok().and_then(|file| read(&file, place, hash));
        if bytes.is_none() {
            let mut stock = self.stock();
            if stock.places.get(&hash) == Some(&place) {
                stock.places.remove(&hash);
            }
        }
        bytes
    }

    /// Forgets all copies but these, and makes room where that is worth it, with a bounded amount of work.
    pub(super) fn keep_only(&self, in_use: &HashSet<ContentHash>) -> io::Result<Removed> {
        let mut stock = self.stock();
        stock.places.retain(|hash, _| in_use.contains(hash));
        let size_before = stock.size();
        let mut to_empty = stock.segments_to_empty();
        let mut moved = 0;
        while let Some((live, segment)) = to_empty.pop() {
            if moved + live > MOVED_BYTES {
                to_empty.push((live, segment));
                break;
            }
            stock.empty(&self.dir, self.limit / SEGMENTS, segment)?;
            moved += live;
        }
        let bytes = size_before.saturating_sub(stock.size());
        Ok(Removed { bytes, more: !to_empty.is_empty() })
    }

    /// How many copies there are.
    pub(super) fn count(&self) -> usize {
        self.stock().places.len()
    }

    fn room_in(&self, stock: &Stock) -> u64 {
        (self.limit - self.limit / SEGMENTS).saturating_sub(stock.size())
    }

    fn stock(&self) -> MutexGuard<'_, Stock> {
        // A place is noted after its bytes are written: a panic leaves nothing that is not true.
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stock {
    fn take(dir: &Path) -> io::Result<Self> {
        let mut stock = Self::default();
        for number in segment::numbers(dir)? {
            let (segment, lines) = Segment::open(dir, number)?;
            for Line { hash, offset, len } in lines {
                // A copy that was written again later, because the first was damaged, is the one that counts.
                stock.places.insert(hash, Place { segment: number, offset, len });
            }
            stock.sizes.insert(number, segment.size());
            stock.open = Some(segment);
        }
        Ok(stock)
    }

    fn size(&self) -> u64 {
        self.sizes.values().sum()
    }

    fn append(&mut self, dir: &Path, segment_limit: u64, hash: ContentHash, bytes: &[u8]) -> io::Result<()> {
        let len = bytes.len() as u64;
        let segment = match self.open.take() {
            Some(segment) if segment.size() == 0 || segment.size() + len <= segment_limit => segment,
            _ => self.start(dir)?,
        };
        let segment = self.open.insert(segment);
        let offset = segment.append(hash, bytes)?;
        self.sizes.insert(segment.number(), segment.size());
        self.places.insert(hash, Place { segment: segment.number(), offset, len });
        Ok(())
    }

    fn start(&mut self, dir: &Path) -> io::Result<Segment> {
        let number = self.sizes.last_key_value().map_or(0, |(last, _)| last.wrapping_add(1));
        let segment = Segment::create(dir, number)?;
        self.sizes.insert(number, 0);
        Ok(segment)
    }

    /// The segments that are worth emptying, with how much of them is in use, the most rewarding last.
    fn segments_to_empty(&self) -> Vec<(u64, u32)> {
        let mut live: BTreeMap<u32, u64> = self.sizes.keys().map(|number| (*number, 0)).collect();
        for place in self.places.values() {
            *live.entry(place.segment).or_default() += place.len;
        }
        let is_worth_it = |number: &u32, live: u64| {
            let size = self.sizes.get(number).copied().unwrap_or(0);
            let unused = size.saturating_sub(live);
            unused > 0 && unused >= size / UNUSED_PART
        };
        let mut worth_it: Vec<(u64, u32)> = live
            .into_iter()
            .filter(|(number, live)| is_worth_it(number, *live))
            .map(|(n, l)| (l, n))
            .collect();
        worth_it.sort_unstable_by(|a, b| b.cmp(a));
        worth_it
    }

    /// Moves what is in use out of a segment and removes it.
    fn empty(&mut self, dir: &Path, segment_limit: u64, number: u32) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|open| open.number() == number) {
            self.open = None;
        }
        let places = self.places.iter().filter(|(_, place)| place.segment == number);
        let mut moving: Vec<(ContentHash, Place)> = places.map(|(hash, place)| (*hash, *place)).collect();
        moving.sort_unstable_by_key(|(_, place)| place.offset);
        if !moving.is_empty() {
            let file = File::open(data_path(dir, number))?;
            for (hash, place) in moving {
                match read(&file, place, hash) {
                    Some(bytes) => self.append(dir, segment_limit, hash, &bytes)?,
                    None => _ = self.places.remove(&hash),
                }
            }
        }
        segment::remove(dir, number)?;
        self.sizes.remove(&number);
        Ok(())
    }
}

fn read(file: &File, place: Place, hash: ContentHash) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(place.len).ok()?];
    file.read_exact_at(&mut bytes, place.offset).ok()?;
    (ContentHash::of(&bytes) == hash).then_some(bytes)
}

/// Makes a directory that only its owner reads, with its parents.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only its owner reads, and gives it its name when it is whole.
pub(super) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(temporary)?;
    file.write_all(bytes)?;
    fs::rename(temporary, path)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Thirty-two segments of some copies each.
    const LIMIT: u64 = 32 * 100;

    #[derive(Debug, Clone)]
    enum Step {
        Put(Vec<u8>),
        /// Keep those of the hashes so far whose bit is set.
        Keep(u64),
        Reopen,
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            12 => (any::<u8>(), 0_usize..60).prop_map(|(byte, len)| Step::Put(vec![byte; len])),
            2 => any::<u64>().prop_map(Step::Keep),
            1 => Just(Step::Reopen),
        ]
    }

    fn bytes_in(dir: &Path) -> u64 {
        let is_data = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "data");
        let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(is_data).map(|path| path.metadata().unwrap().len()).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn what_is_kept_is_given_back_and_the_bound_holds(steps in vec(any_step(), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let mut copies = Copies::open(dir.path().to_owned(), LIMIT).unwrap();
            let mut model: Vec<Vec<u8>> = Vec::new();
            for step in steps {
                match step {
                    Step::Put(bytes) => {
                        let hash = ContentHash::of(&bytes);
                        let room = copies.room();
                        let is_known = model.contains(&bytes);
                        let kept = copies.put(hash, &bytes).unwrap();
                        let fits = is_known || bytes.len() as u64 <= room;
                        prop_assert_eq!(kept, if fits { Kept::Yes } else { Kept::NoRoom });
                        if kept == Kept::Yes && !is_known {
                            model.push(bytes);
                        }
                    }
                    Step::Keep(bits) => {
                        let mut index = 0;
                        model.retain(|_| { index += 1; bits >> (index % 64) & 1 == 1 });
                        let in_use = model.iter().map(|bytes| ContentHash::of(bytes)).collect();
                        copies.keep_only(&in_use).unwrap();
                    }
                    Step::Reopen => {
                        drop(copies);
                        copies = Copies::open(dir.path().to_owned(), LIMIT).unwrap();
                        // Copies that were forgotten may come back, until they are forgotten again.
                        let in_use = model.iter().map(|bytes| ContentHash::of(bytes)).collect();
                        copies.keep_only(&in_use).unwrap();
                    }
                }
                prop_assert!(bytes_in(dir.path()) <= LIMIT);
            }
            for bytes in &model {
                let hash = ContentHash::of(bytes);
                prop_assert!(copies.has(hash, bytes.len() as u64));
                prop_assert_eq!(copies.get(hash), Some(bytes.clone()));
            }
            // What is unused is at most a part of each segment.
            let live: u64 = model.iter().map(|bytes| bytes.len() as u64).sum();
            let in_use = model.iter().map(|bytes| ContentHash::of(bytes)).collect();
            prop_assert!(!copies.keep_only(&in_use).unwrap().more);
            prop_assert!(bytes_in(dir.path()) <= live * UNUSED_PART / (UNUSED_PART - 1) + SEGMENTS * UNUSED_PART);
        }
    }
}
