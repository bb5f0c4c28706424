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

    /// How many words a file has, by field; it is there.
    pub(crate) fn lengths(&self, file: u32) -> &[u32; FIELDS] {
        let of_base = self.base.lengths.get(file as usize);
        let changed = || self.changed(file).map(|changed| &changed.entry.lengths);
        of_base.or_else(changed).unwrap_or(&[0; FIELDS])
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
        let place = self.delta.files.binary_search_by(|file| (*file.entry.path).cmp(path)).ok();
        let changed = place.and_then(|place| u32::try_from(self.base.entries().len() + place).ok());
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

    /// Every path that is known, indexed or skipped, that is this one or lies below it; one may come twice.
    pub(crate) fn paths_below(&self, path: &str) -> Vec<&str> {
        let base = self.base.entries();
        let kept =
            |place: &usize| u32::try_from(*place).is_ok_and(|file| !self.delta.removed.contains(&file));
        let mut found: Vec<&str> =
            below(base, |entry| &entry.path, path).filter(kept).map(|place| &*base[place].path).collect();
        let files = &self.delta.files;
        found.extend(below(files, |file| &file.entry.path, path).map(|place| &*files[place].entry.path));
        let skipped = &self.base.catalogue.skipped;
        let stays = |path: &&str| !self.delta.skipped.contains_key(*path);
        found.extend(
            below(skipped, |skipped| &skipped.path, path).map(|place| &*skipped[place].path).filter(stays),
        );
        let is_below = |other: &str| is_below(other, path);
        let later = self.delta.skipped.iter().filter(|(path, skipped)| skipped.is_some() && is_below(path));
        found.extend(later.map(|(path, _)| &**path));
        found
    }

    /// Whether a file is skipped for this very reason.
    pub(crate) fn is_skipped(&self, skipped: &Skipped) -> bool {
        if let Some(changed) = self.delta.skipped.get(&skipped.path) {
            return changed.as_ref() == Some(skipped);
        }
        let base = &self.base.catalogue.skipped;
        base.binary_search_by(|other| other.path.cmp(&skipped.path)).is_ok_and(|at| base[at] == *skipped)
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

/// Whether a path is another one or lies below it. All lie below the root, which has no name.
fn is_below(path: &str, other: &str) -> bool {
    other.is_empty() || path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The places of those in a list, sorted by path, that are a path or lie below it.
fn below<'l, T>(
    list: &'l [T],
    path_of: impl Fn(&T) -> &str + Copy + 'l,
    path: &'l str,
) -> impl Iterator<Item = usize> + 'l {
    // Between a directory and what is in it come names that go on with a sign that sorts before the slash.
    let inside = if path.is_empty() { String::new() } else { format!("{path}/") };
    let itself = list.binary_search_by(|one| path_of(one).cmp(path)).ok();
    let from = list.partition_point(|one| path_of(one) < inside.as_str());
    let rest = (from..list.len()).take_while(move |place| path_of(&list[*place]).starts_with(&inside));
    itself.into_iter().chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_path_is_found_in_a_sorted_list() {
        let list = ["a", "a-b", "a.rs", "a/b", "a/c/d", "ab", "b"];
        let check = |path: &str, expected: &[&str]| {
            let found: Vec<&str> = below(&list, |path| path, path).map(|place| list[place]).collect();
            assert_eq!(found, expected, "{path}");
            let also: Vec<&str> = list.into_iter().filter(|other| is_below(other, path)).collect();
            assert_eq!(also, expected, "{path}");
        };
        check("a", &["a", "a/b", "a/c/d"]);
        check("a/c", &["a/c/d"]);
        check("a.rs", &["a.rs"]);
        check("c", &[]);
        check("", &list);
    }
}
