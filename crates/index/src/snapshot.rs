//! What queries see: a state on disk, and the files that changed since, in memory.
//!
//! Knows how the two are one: files are numbered, first those on disk and then those in memory, and a file that changed
//! or went is not asked for in the state on disk. It never changes; each change makes a new one, which shares all but
//! what changed. The changes in memory are bounded by whoever makes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::base::Base;
use crate::chunks::Chunk;
use crate::entry::{Entry, Skipped};
use crate::facts::Facts;
use crate::fault::Fault;
use crate::fields::{FIELDS, Field};
use crate::text::FileWords;
use crate::words::Words;

/// A state to search.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) base: Arc<Base>,
    pub(crate) delta: Arc<Delta>,
}

/// What changed since a state was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    /// Files of the state on disk that are not what they were.
    pub(crate) removed: BTreeSet<u32>,
    /// Sorted by path.
    pub(crate) files: Vec<Arc<DeltaFile>>,
    /// What was found about files that are skipped, or are not any more.
    pub(crate) skipped: BTreeMap<Box<str>, Option<Skipped>>,
}

/// A file that changed.
#[derive(Debug)]
pub(crate) struct DeltaFile {
    pub(crate) entry: Entry,
    pub(crate) words: FileWords,
    pub(crate) facts: Facts,
    /// How often each word is in each field.
    counts: HashMap<Box<str>, [u32; FIELDS]>,
}

impl DeltaFile {
    pub(crate) fn new(entry: Entry, words: FileWords, facts: Facts) -> Self {
        let mut counts: HashMap<Box<str>, [u32; FIELDS]> = HashMap::new();
        let mut count = |field: Field, word: &str| match counts.get_mut(word) {
            Some(found) => found[field as usize] += 1,
            None => {
                let mut found = [0; FIELDS];
                found[field as usize] = 1;
                counts.insert(word.into(), found);
            }
        };
        words.each(&mut count);
        let mut split = Words::default();
        for symbol in &facts.symbols {
            split.split(&symbol.name, |word| count(Field::Names, word));
        }
        Self { entry, words, facts, counts }
    }

    /// How often a word is in each field.
    pub(crate) fn count(&self, word: &str) -> [u32; FIELDS] {
        self.counts.get(word).copied().unwrap_or_default()
    }

    /// Whether a word of its code or comments contains a text.
    pub(crate) fn contains(&self, part: &str) -> bool {
        self.counts.iter().any(|(word, counts)| {
            (counts[Field::Body as usize] > 0 || counts[Field::Comments as usize] > 0) && word.contains(part)
        })
    }
}

impl Delta {
    /// Whether nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.files.is_empty() && self.skipped.is_empty()
    }

    /// Puts a file in, in the place of what was known of its path.
    pub(crate) fn put(&mut self, base: &Base, file: DeltaFile) {
        self.forget(base, &file.entry.path);
        let at = self.files.partition_point(|other| other.entry.path < file.entry.path);
        self.files.insert(at, Arc::new(file));
    }

    /// Takes a file out.
    pub(crate) fn forget(&mut self, base: &Base, path: &str) {
        if let Some(file) = base.find(path) {
            self.removed.insert(file);
        }
        self.files.retain(|file| &*file.entry.path != path);
        let is_skipped = base.catalogue.skipped.binary_search_by(|skipped| (*skipped.path).cmp(path)).is_ok();
        if is_skipped {
            self.skipped.insert(path.into(), None);
        } else {
            self.skipped.remove(path);
        }
    }

    /// Takes a file out and says why it is not indexed.
    pub(crate) fn skip(&mut self, base: &Base, skipped: Skipped) {
        self.forget(base, &skipped.path);
        self.skipped.insert(skipped.path.clone(), Some(skipped));
    }
}

impl Snapshot {
    /// A state without changes.
    pub(crate) fn of(base: Base) -> Self {
        Self { base: Arc::new(base), delta: Arc::default() }
    }

    /// How many numbers there are for files; some of them are of files that changed.
    pub(crate) fn numbers(&self) -> usize {
        self.base.entries().len() + self.delta.files.len()
    }

    /// A file by its number; nothing if it changed or went.
    pub(crate) fn entry(&self, file: u32) -> Option<&Entry> {
        let place = file as usize;
        match self.base.entries().get(place) {
            Some(entry) => (!self.delta.removed.contains(&file)).then_some(entry),
            None => self.delta.files.get(place - self.base.entries().len()).map(|file| &file.entry),
        }
    }

    /// A file in memory, by its number.
    pub(crate) fn changed(&self, file: u32) -> Option<&Arc<DeltaFile>> {
        (file as usize).checked_sub(self.base.entries().len()).and_then(|place| self.delta.files.get(place))
    }

    /// Every file with its number.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let numbers = u32::try_from(self.numbers()).unwrap_or(u32::MAX);
        (0..numbers).filter_map(|file| self.entry(file).map(|entry| (file, entry)))
    }

    /// The files in memory with their numbers.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (u32, &Arc<DeltaFile>)> {
        let from = u32::try_from(self.base.entries().len()).unwrap_or(u32::MAX);
        (from..).zip(&self.delta.files)
    }

    /// The number of the file with a path.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let changed = self.changes().find(|(_, file)| &*file.entry.path == path).map(|(file, _)| file);
        changed.or_else(|| self.base.find(path).filter(|file| !self.delta.removed.contains(file)))
    }

    /// The symbols and uses of a file.
    pub(crate) fn facts(&self, file: u32) -> Result<Option<Facts>, Fault> {
        match self.changed(file) {
            Some(changed) => Ok(Some(changed.facts.clone())),
            None => self.base.facts(file),
        }
    }

    /// The symbols and the pieces of a file.
    pub(crate) fn outline(&self, file: u32) -> Result<Option<Facts>, Fault> {
        match self.changed(file) {
            Some(changed) => {
                let Facts { symbols, uses: _, chunks } = &changed.facts;
                Ok(Some(Facts { symbols: symbols.clone(), uses: Vec::new(), chunks: chunks.clone() }))
            }
            None => self.base.outline(file),
        }
    }

    /// The pieces of a file.
    pub(crate) fn pieces(&self, file: u32) -> Result<Option<Vec<Chunk>>, Fault> {
        match self.changed(file) {
            Some(changed) => Ok(Some(changed.facts.chunks.clone())),
            None => self.base.pieces(file),
        }
    }

    /// The skipped files, sorted by path.
    pub(crate) fn skipped(&self) -> Vec<&Skipped> {
        let base = self.base.catalogue.skipped.iter();
        let mut skipped: Vec<&Skipped> =
            base.filter(|skipped| !self.delta.skipped.contains_key(&skipped.path)).collect();
        skipped.extend(self.delta.skipped.values().flatten());
        skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        skipped
    }
}
