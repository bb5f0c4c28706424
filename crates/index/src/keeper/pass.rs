//! Passes over files: reading them on several threads and keeping what was found.
//!
//! Knows files and workers; what is made of the results is for [`super::commit`]. One bad file never fails a pass.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use loggia_tree::TreePath;

use crate::analyse::Analyser;
use crate::base::Base;
use crate::control::lock;
use crate::disk::packs::PackWriter;
use crate::entry::{Entry, Skipped};
use crate::facts::{self, Facts};
use crate::fault::Fault;
use crate::inspect::{Skip, inspect, read_again};
use crate::keeper::Keeper;
use crate::snapshot::{Delta, DeltaFile, Snapshot};
use crate::survey;
use crate::text::{FileWords, TextWriter};
use crate::workers;

/// The hash of no content.
const UNKNOWN: u128 = 0;

/// What became of a file that was read for the delta.
pub(super) enum Read {
    Changed(Box<DeltaFile>),
    /// The same without symbols, which take long to find in so large a file.
    ChangedLarge(Box<DeltaFile>, TreePath),
    Same,
    Skipped(Skipped),
    Gone(TreePath),
}

impl Read {
    /// Takes it into a delta.
    pub(super) fn put_into(self, delta: &mut Delta, base: &Base) {
        match self {
            Self::Changed(file) | Self::ChangedLarge(file, _) => delta.put(base, *file),
            Self::Same => {}
            Self::Skipped(skipped) => delta.skip(base, skipped),
            Self::Gone(path) => delta.forget(base, path.as_str()),
        }
    }
}

/// What a pass found.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub(super) entries: Vec<Entry>,
    pub(super) skipped: Vec<Skipped>,
}

/// Whether a pass looks for symbols, or leaves that for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Text,
    All,
}

impl Keeper {
    /// Reads some files whole, into memory: those that are not known as they are now. Of files over a size no symbols are
    /// looked for.
    pub(super) fn read(
        &self,
        paths: &[TreePath],
        known: Option<&Snapshot>,
        size: usize,
    ) -> Result<Vec<Read>, Fault> {
        let shared = &*self.shared;
        let results: Mutex<Vec<Read>> = Mutex::default();
        workers::each(shared.settings.threads, paths, Analyser::default, |analyser, path| {
            shared.control.check()?;
            let read = match inspect(&shared.settings.root, path) {
                Err(Skip::Gone) => Read::Gone(path.clone()),
                Err(skip) => {
                    let skipped = self.skipped(path, &skip);
                    let is_known = known.is_some_and(|known| known.is_skipped(&skipped));
                    if is_known { Read::Same } else { Read::Skipped(skipped) }
                }
                Ok(text) => {
                    let entry = known.and_then(|known| known.entry(known.find(path.as_str())?));
                    if entry.is_some_and(|entry| entry.hash == text.hash) {
                        Read::Same
                    } else {
                        let mut words = FileWords::default();
                        let key = self.next_key.fetch_add(1, Ordering::Relaxed);
                        let mut entry = analyser.text(path.as_str(), &text, key, &mut words);
                        if text.text.len() > size {
                            let file = DeltaFile::new(entry, words, Facts::default());
                            Read::ChangedLarge(Box::new(file), path.clone())
                        } else {
                            let facts = analyser.facts(&text.text, &mut entry);
                            Read::Changed(Box::new(DeltaFile::new(entry, words, facts)))
                        }
                    }
                }
            };
            lock(&results).push(read);
            Ok(())
        })?;
        Ok(results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn skipped(&self, path: &TreePath, skip: &Skip) -> Skipped {
        let meta = self.shared.settings.root.stat(path).ok().flatten();
        survey::skipped(path.as_str(), skip, meta.as_ref())
    }

    /// Reads files into a text index, and their symbols into a pack.
    pub(super) fn pass(
        &self,
        paths: &[TreePath],
        known: Option<&Snapshot>,
        depth: Depth,
        text: &TextWriter,
        pack: &Mutex<PackWriter>,
    ) -> Result<Passed, Fault> {
        let shared = &*self.shared;
        let passed: Mutex<Passed> = Mutex::default();
        let state = || (Analyser::default(), FileWords::default());
        workers::each(shared.settings.threads, paths, state, |(analyser, words), path| {
            shared.control.tick()?;
            let read = match inspect(&shared.settings.root, path) {
                Ok(read) => read,
                Err(Skip::Gone) => return Ok(()),
                Err(skip) => {
                    lock(&passed).skipped.push(self.skipped(path, &skip));
                    return Ok(());
                }
            };
            // What is only in memory has no words on disk yet, and is read anew.
            let same =
                known.and_then(|known| known.base.entries().get(known.base.find(path.as_str())? as usize));
            if let Some(same) = same.filter(|same| same.hash == read.hash) {
                // Its times changed and nothing else: the entry stays, with the times it has now. Whether its symbols are
                // looked for now is not decided here.
                let stamp = crate::entry::Stamp::of(&read.meta, crate::entry::now_ns());
                lock(&passed).entries.push(Entry { stamp, ..same.clone() });
                return Ok(());
            }
            let key = next(&self.next_key);
            let mut entry = analyser.text(path.as_str(), &read, key, words);
            text.add(key, words)?;
            if depth == Depth::All {
                let found = facts::encode(&analyser.facts(&read.text, &mut entry));
                entry.facts = Some(lock(pack).append(&found)?);
            }
            lock(&passed).entries.push(entry);
            Ok(())
        })?;
        Ok(passed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Finds the symbols of files whose words are known. Files that are not what they were are given back.
    pub(super) fn symbols(
        &self,
        entries: &mut [Entry],
        pack: &Mutex<PackWriter>,
    ) -> Result<Vec<TreePath>, Fault> {
        let shared = &*self.shared;
        let changed: Mutex<Vec<TreePath>> = Mutex::default();
        let wanting: Vec<Mutex<&mut Entry>> =
            entries.iter_mut().filter(|entry| entry.facts.is_none()).map(Mutex::new).collect();
        shared.control.step(loggia_domain::IndexStep::Symbols, wanting.len() as u64);
        workers::each(shared.settings.threads, &wanting, Analyser::default, |analyser, entry| {
            shared.control.tick()?;
            let entry = &mut **lock(entry);
            let Ok(path) = TreePath::parse(&entry.path) else { return Ok(()) };
            match read_again(&shared.settings.root, &path, entry.hash) {
                Some(text) => {
                    let found = facts::encode(&analyser.facts(&text, entry));
                    entry.facts = Some(lock(pack).append(&found)?);
                }
                None => {
                    // It is as good as a file without symbols, until its change is taken in; also if it is by then
                    // what it was, as after a file was written anew.
                    (entry.hash, entry.stamp) = (UNKNOWN, None);
                    entry.facts = Some(lock(pack).append(&facts::encode(&facts::Facts::default()))?);
                    lock(&changed).push(path);
                }
            }
            Ok(())
        })?;
        Ok(changed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

fn next(key: &AtomicU64) -> u64 {
    key.fetch_add(1, Ordering::Relaxed)
}
