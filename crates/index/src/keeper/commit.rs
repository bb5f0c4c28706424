//! Making a new state: what is kept of the old one, what changed, and the order in which it comes to disk.
//!
//! Knows builds, packs and catalogues. A state is written beside the old one and takes its place with one commit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use loggia_domain::IndexStep;

use crate::base::{Base, Known, Piece};
use crate::disk;
use crate::disk::catalogue::Catalogue;
use crate::disk::packs::PackWriter;
use crate::entry::{Entry, Skipped};
use crate::facts;
use crate::fault::Fault;
use crate::keeper::load::{CATALOGUE, TEXT, sweep};
use crate::keeper::pass::Depth;
use crate::keeper::{Keeper, Symbols};
use crate::names::Defined;
use crate::snapshot::Snapshot;
use crate::survey::Survey;
use crate::text::TextIndex;

/// Memory for the words of a build, before they are written: a build's files come to some hundred megabytes, and more
/// memory makes fewer, larger parts.
const BUILD_MEMORY: usize = 96 * 1024 * 1024;

/// The least that tantivy takes for a thread.
const THREAD_MEMORY: usize = 15 * 1024 * 1024;

/// How many packs there may be before they are made one.
const MAX_PACKS: usize = 12;

/// How much larger packs may be than what is needed of them.
const MAX_WASTE: u64 = 2;

/// What packs may have too much whatever they hold.
const FREE_WASTE: u64 = 1024 * 1024;

impl Keeper {
    /// Builds from nothing, words first.
    pub(super) fn rebuild(&mut self) -> Result<(), Fault> {
        let directory = self.shared.settings.directory.clone();
        let build = disk::new_build(&directory)?;
        let rebuilt = self.rebuild_in(&directory, &build);
        self.is_damaged &= rebuilt.is_err();
        let is_used = self.snapshot.as_ref().is_some_and(|snapshot| snapshot.base.build == build);
        if rebuilt.is_err() && !is_used {
            // What is left of it would be swept away by the next start.
            if let Err(error) = std::fs::remove_dir_all(&build) {
                tracing::warn!(%error, "a failed build could not be removed");
            }
        }
        rebuilt
    }

    fn rebuild_in(&mut self, directory: &Path, build: &Path) -> Result<(), Fault> {
        let text = Arc::new(TextIndex::create(&build.join(TEXT))?);
        let control = &self.shared.control;
        let survey = Survey::whole(&self.shared.settings.root, None, control)?;
        control.step(IndexStep::Text, survey.read.len() as u64);
        let writer = self.writer(&text, survey.read.len())?;
        let pack = Mutex::new(PackWriter::begin(build, &[])?);
        let passed = self.pass(&survey.read, None, Depth::Text, &writer, &pack)?;
        pack.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        let mut skipped = survey.skipped;
        skipped.extend(passed.skipped);
        let mut catalogue = self.catalogue(passed.entries, skipped);
        control.step(IndexStep::Writing, 0);
        writer.commit(&write_catalogue(build, &catalogue)?)?;
        if self.snapshot.is_none() {
            // Nobody can search yet: words are better than nothing.
            let base = Base::open(build, Arc::clone(&text), catalogue.clone(), Known::default())?;
            disk::make_current(directory, build)?;
            self.see(Snapshot::of(base));
        }
        let (name, again) = self.finish_symbols(build, &text, &mut catalogue)?;
        sweep(build, &name, &catalogue)?;
        let base = Base::open(build, text, catalogue, Known::default())?;
        disk::make_current(directory, build)?;
        self.see(Snapshot::of(base));
        self.settle_at = None;
        disk::sweep(directory, Some(build))?;
        self.changed(&again);
        self.finish_large();
        Ok(())
    }

    /// Finds the symbols of every file that wants them, and commits. Gives the catalogue's name, and the files that changed
    /// meanwhile.
    fn finish_symbols(
        &self,
        build: &Path,
        text: &TextIndex,
        catalogue: &mut Catalogue,
    ) -> Result<(String, BTreeSet<String>), Fault> {
        let pack = Mutex::new(PackWriter::begin(build, &catalogue.entries)?);
        let changed = self.symbols(&mut catalogue.entries, &pack)?;
        self.shared.control.step(IndexStep::Writing, 0);
        pack.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        catalogue.next_key = self.next_key.load(Ordering::Relaxed);
        let name = write_catalogue(build, catalogue)?;
        text.writer(1, THREAD_MEMORY)?.commit(&name)?;
        Ok((name, changed.iter().map(ToString::to_string).collect()))
    }

    /// Writes a new state of the same build: the old one, the changes in memory, and what a survey found. It may be done
    /// again after it failed half-way.
    pub(super) fn write(&mut self, survey: &Survey, symbols: Symbols) -> Result<(), Fault> {
        let Some(snapshot) = self.snapshot.clone() else { return self.rebuild() };
        let build = snapshot.base.build.clone();
        let control = &self.shared.control;
        control.step(IndexStep::Text, survey.read.len() as u64);
        let writer = self.writer(&snapshot.base.text, survey.read.len())?;
        let pack = Mutex::new(PackWriter::begin(&build, snapshot.base.entries())?);
        let passed = self.pass(&survey.read, Some(&snapshot), Depth::All, &writer, &pack)?;
        control.step(IndexStep::Writing, 0);
        let mut pack = pack.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut state = State::of(&snapshot);
        // What was read is what the survey says of it; what is neither in `entries` nor in `skipped` is gone.
        let read = survey.read.iter().map(loggia_tree::TreePath::as_str);
        read.chain(survey.gone.iter().map(|path| &**path)).for_each(|path| state.remove(path));
        for (_, changed) in snapshot.changes() {
            if state.has(&changed.entry) {
                // An attempt that failed after its commit has left it there.
                writer.remove(changed.entry.key);
                writer.add(changed.entry.key, &changed.words)?;
                let place = pack.append(&facts::encode(&changed.facts))?;
                state.put(Entry { facts: Some(place), ..changed.entry.clone() });
            }
        }
        passed.entries.into_iter().for_each(|entry| state.put(entry));
        survey.skipped.iter().cloned().chain(passed.skipped).for_each(|skipped| state.skip(skipped));
        for entry in snapshot.base.entries().iter().filter(|entry| !state.has(entry)) {
            writer.remove(entry.key);
        }
        let (mut entries, skipped) = state.into_parts();
        if is_wasteful(&snapshot.base, &entries) {
            repack(&snapshot.base, &mut entries, &mut pack)?;
        }
        pack.finish()?;
        let catalogue = self.catalogue(entries, skipped);
        let name = write_catalogue(&build, &catalogue)?;
        writer.commit(&name)?;
        let all = (symbols == Symbols::OfAll).then(|| catalogue.clone());
        self.written(&build, &name, catalogue)?;
        self.settle_at = None;
        self.told(self.shared.published().state, None);
        let Some(mut catalogue) = all.filter(|all| all.entries.iter().any(|entry| entry.facts.is_none()))
        else {
            return Ok(());
        };
        let (name, again) = self.finish_symbols(&build, &snapshot.base.text, &mut catalogue)?;
        self.written(&build, &name, catalogue)?;
        self.changed(&again);
        self.finish_large();
        Ok(())
    }

    /// Makes a state that was committed the one that readers see.
    fn written(&mut self, build: &Path, name: &str, catalogue: Catalogue) -> Result<(), Fault> {
        let Some(snapshot) = self.snapshot.clone() else { return Ok(()) };
        sweep(build, name, &catalogue)?;
        let known = known(&snapshot, &catalogue);
        let base = Base::open(build, Arc::clone(&snapshot.base.text), catalogue, known)?;
        self.see(Snapshot::of(base));
        Ok(())
    }

    fn writer(&self, text: &TextIndex, files: usize) -> Result<crate::text::TextWriter, Fault> {
        /// Files that one thread has written before a second one has started.
        const FEW: usize = 200;
        let threads =
            if files < FEW { 1 } else { self.shared.settings.threads.min(BUILD_MEMORY / THREAD_MEMORY) };
        let memory = if files < FEW { THREAD_MEMORY } else { BUILD_MEMORY };
        text.writer(threads, memory)
    }

    fn catalogue(&self, mut entries: Vec<Entry>, mut skipped: Vec<Skipped>) -> Catalogue {
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        skipped.dedup_by(|a, b| a.path == b.path);
        Catalogue { entries, skipped, next_key: self.next_key.load(Ordering::Relaxed) }
    }
}

/// The files of a state that is being made.
struct State {
    entries: BTreeMap<Box<str>, Entry>,
    skipped: BTreeMap<Box<str>, Skipped>,
}

impl State {
    fn of(snapshot: &Snapshot) -> Self {
        let entries = snapshot.entries().map(|(_, entry)| (entry.path.clone(), entry.clone())).collect();
        let skipped = snapshot.skipped().into_iter();
        let skipped = skipped.map(|skipped| (skipped.path.clone(), skipped.clone())).collect();
        Self { entries, skipped }
    }

    fn remove(&mut self, path: &str) {
        self.entries.remove(path);
        self.skipped.remove(path);
    }

    fn has(&self, entry: &Entry) -> bool {
        self.entries.get(&entry.path).is_some_and(|other| other.key == entry.key)
    }

    fn put(&mut self, entry: Entry) {
        self.skipped.remove(&entry.path);
        self.entries.insert(entry.path.clone(), entry);
    }

    fn skip(&mut self, skipped: Skipped) {
        self.entries.remove(&skipped.path);
        self.skipped.insert(skipped.path.clone(), skipped);
    }

    fn into_parts(self) -> (Vec<Entry>, Vec<Skipped>) {
        (self.entries.into_values().collect(), self.skipped.into_values().collect())
    }
}

/// Writes a catalogue under a name that no other has, and gives the name.
fn write_catalogue(build: &Path, catalogue: &Catalogue) -> Result<String, Fault> {
    let name = (1_u64..)
        .map(|number| format!("{CATALOGUE}{number}"))
        .find(|name| !PathBuf::from(build).join(name).exists())
        .unwrap_or_default();
    catalogue.write(&build.join(&name))?;
    Ok(name)
}

/// Whether packs have become many, or hold much that nobody needs.
fn is_wasteful(base: &Base, entries: &[Entry]) -> bool {
    let needed: u64 = entries.iter().filter_map(|entry| entry.facts).map(|place| u64::from(place.len)).sum();
    base.packs.count() >= MAX_PACKS || base.packs.size() > needed * MAX_WASTE + FREE_WASTE
}

/// Copies what is needed of the old packs into a new one.
fn repack(base: &Base, entries: &mut [Entry], pack: &mut PackWriter) -> Result<(), Fault> {
    let old: BTreeSet<u64> = base.entries().iter().map(|entry| entry.key).collect();
    for entry in entries.iter_mut().filter(|entry| old.contains(&entry.key)) {
        if let Some(place) = entry.facts {
            entry.facts = Some(pack.append(&base.packs.bytes(place)?.1)?);
        }
    }
    Ok(())
}

/// What a snapshot knows of the files of the state that comes after it.
fn known<'s>(snapshot: &'s Snapshot, catalogue: &Catalogue) -> Known<'s> {
    let numbers: HashMap<u64, u32> =
        (0..).zip(&catalogue.entries).map(|(file, entry)| (entry.key, file)).collect();
    let base = &snapshot.base;
    // By number in the old state: the number in the new one of a file whose symbols are known.
    let of_base = |entry: &Entry| entry.facts.and_then(|_| numbers.get(&entry.key).copied());
    let moved: Vec<Option<u32>> = base.entries().iter().map(of_base).collect();
    let kept = base.entries().iter().zip(&moved).filter(|(_, number)| number.is_some());
    let mut known = Known { files: kept.map(|(entry, _)| entry.key).collect(), ..Known::default() };
    known.names.extend(base.names.each().filter_map(|(name, defined)| {
        let file = moved[defined.file as usize]?;
        Some((name, Defined { file, ..defined }))
    }));
    known.chunks.extend(base.chunks.iter().filter_map(|piece| {
        let file = moved[piece.file as usize]?;
        Some(Piece { file, ..*piece })
    }));
    for (_, changed) in snapshot.changes() {
        let Some(&file) = numbers.get(&changed.entry.key) else { continue };
        known.files.insert(changed.entry.key);
        let symbols = (0..).zip(&changed.facts.symbols);
        known.names.extend(symbols.map(|(place, symbol)| (&*symbol.name, Defined::of(file, place, symbol))));
        let pieces = (0..).zip(&changed.facts.chunks);
        known.chunks.extend(pieces.map(|(place, chunk)| Piece { hash: chunk.hash, file, place }));
    }
    known
}
