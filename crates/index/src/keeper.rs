//! The one thread that changes an index.
//!
//! Knows what to do next and in which order; how a state is made is beneath it. What always holds: readers see the last
//! finished state until a new one takes its place at once; a failure leaves the state as it was and is told.

mod commit;
mod load;
mod pass;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use loggia_domain::{IndexBuild, IndexError, IndexState};
use loggia_tree::TreePath;

use crate::control::{Control, Work, lock};
use crate::disk::lock::Lock;
use crate::fault::Fault;
use crate::inbox::{ChangeAnswer, Inbox, Task};
use crate::keeper::pass::Read;
use crate::settings::IndexSettings;
use crate::snapshot::{Delta, Snapshot};
use crate::survey::Survey;
use crate::vectors::Vectors;
use crate::workers;

/// How many changed files are searched in memory. Each costs a query some microseconds; with more, a new state is
/// written, which is quicker for many files than for few.
pub(crate) const MAX_DELTA: usize = 256;

/// A changed file over this size is found by its words first, and by its symbols a moment later: a megabyte is parsed in a
/// tenth of a second.
const LARGE: usize = 96 * 1024;

/// Changes that become searchable together: whoever waits for the first does not wait for all.
const SLICE: usize = 16;

/// How many files that changed lately are known.
const MAX_LATELY: usize = 16;

/// What readers and the keeper share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: IndexSettings,
    pub(crate) control: Control,
    pub(crate) inbox: Inbox,
    published: Mutex<Published>,
    /// Whether it was looked for an index on disk.
    pub(crate) is_loaded: tokio::sync::watch::Sender<bool>,
    /// Nothing until there is an embedder.
    pub(crate) vectors: OnceLock<Vectors>,
    /// Why an embedder that is there is not used.
    pub(crate) no_vectors: Mutex<Option<String>>,
    /// Why changes in some directories are not heard of.
    pub(crate) not_heard: Mutex<Option<String>>,
    /// Files that changed by themselves and not with many others, the latest first.
    lately: Mutex<Vec<Box<str>>>,
}

/// What readers see.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) state: IndexState,
    pub(crate) last_error: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) bytes: u64,
    /// Whether the last build was ended before its time.
    pub(crate) was_cancelled: bool,
}

impl Shared {
    pub(crate) fn new(settings: IndexSettings) -> Self {
        Self {
            settings,
            vectors: OnceLock::new(),
            no_vectors: Mutex::default(),
            not_heard: Mutex::default(),
            lately: Mutex::default(),
            control: Control::default(),
            inbox: Inbox::default(),
            published: Mutex::new(Published {
                snapshot: None,
                state: IndexState::Building,
                last_error: None,
                notes: Vec::new(),
                bytes: 0,
                was_cancelled: false,
            }),
            is_loaded: tokio::sync::watch::Sender::new(false),
        }
    }

    /// What readers see now.
    pub(crate) fn published(&self) -> Published {
        lock(&self.published).clone()
    }

    /// Files that changed lately, the latest first.
    pub(crate) fn lately(&self) -> Vec<String> {
        lock(&self.lately).iter().map(ToString::to_string).collect()
    }

    /// Puts files before the others that changed, unless they are so many that nobody worked on each.
    fn remember_changes(&self, survey: &Survey) {
        if survey.read.len() > MAX_LATELY {
            return;
        }
        let mut lately = lock(&self.lately);
        for path in &survey.read {
            lately.retain(|known| **known != *path.as_str());
            lately.insert(0, path.as_str().into());
        }
        lately.truncate(MAX_LATELY);
    }

    fn publish(&self, change: impl FnOnce(&mut Published)) {
        change(&mut lock(&self.published));
    }
}

/// Changes an index.
#[derive(Debug)]
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    _lock: Lock,
    /// The state that readers see.
    snapshot: Option<Snapshot>,
    /// When changes that are only in memory are written.
    settle_at: Option<Instant>,
    next_key: AtomicU64,
    /// Changed files that are found by their words and not by their symbols yet.
    unfinished: Vec<TreePath>,
    /// When the whole tree is looked at again, since something failed.
    owed: Option<Owed>,
    /// Whether something on disk turned out to be damaged: then a look at the tree, which need not meet it, builds anew.
    is_damaged: bool,
}

/// What a failure left to do.
#[derive(Debug, Clone, Copy)]
struct Owed {
    at: Instant,
    /// How long it was waited for this time.
    pause: Duration,
}

/// How long after a failure it is tried again.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// How long at most, when it fails again and again: a full disk is often emptied within minutes.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Of which files a new state finds the symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbols {
    /// Of those that changed. What a build that was ended left undone stays so.
    OfChanged,
    /// Of all that want them.
    OfAll,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>, lock: Lock) -> Self {
        Self {
            shared,
            _lock: lock,
            snapshot: None,
            settle_at: None,
            next_key: AtomicU64::new(1),
            unfinished: Vec::new(),
            owed: None,
            is_damaged: false,
        }
    }

    /// Does what is asked for, until the end is.
    pub(crate) fn run(mut self) {
        workers::lower_priority();
        let rebuild = self.load();
        self.shared.is_loaded.send_replace(true);
        if rebuild {
            self.shared.inbox.looking();
            // How it went is in the state; nobody waits for it.
            let _ = self.build(IndexBuild::Rebuild, Symbols::OfAll);
            drop(self.shared.inbox.built());
        }
        loop {
            let owed = self.owed.map(|owed| owed.at);
            match self.shared.inbox.next(owed.into_iter().chain(self.settle_at).min()) {
                Task::Stop => break,
                Task::Due if owed.is_some_and(|at| at <= Instant::now()) => self.shared.inbox.look_again(),
                Task::Due => self.settle(),
                Task::Build { how, answers } => {
                    let outcome = self.build(how, Symbols::OfAll);
                    let status = || self.shared.status();
                    for answer in answers.into_iter().chain(self.shared.inbox.built()) {
                        // Whoever asked may have gone.
                        let _ = answer.send(outcome.clone().map(|()| status()));
                    }
                }
                Task::LookAgain { answers } => self.look_again(answers),
                Task::Changed { paths, answers } if paths.iter().any(|path| is_rules(path)) => {
                    // What is ignored may have changed, or which branch is checked out.
                    self.look_again(answers);
                }
                Task::Changed { paths, answers } => {
                    self.changed(&paths);
                    answer(answers);
                    self.finish_large();
                }
            }
        }
        self.settle();
    }

    /// Looks at the whole tree for changes that nobody named. Without a state there is nothing that could have changed; but
    /// one that could not be built is tried again.
    fn look_again(&mut self, answers: Vec<ChangeAnswer>) {
        self.shared.inbox.looking();
        if self.snapshot.is_some() {
            self.look();
        } else if self.owed.is_some() {
            // How it went is in the state.
            let _ = self.build(IndexBuild::Rebuild, Symbols::OfAll);
        }
        drop(self.shared.inbox.built());
        answer(answers);
    }

    fn look(&mut self) {
        let owed = self.owed.take();
        self.shared.control.begin(Work::Look);
        let looked = self.refresh(Symbols::OfChanged);
        self.shared.control.end();
        match looked {
            Ok(()) => self.well(),
            Err(Fault::Cancelled) => {
                // Whoever wants quiet has it for a while; nothing is forgotten.
                self.owed = Some(Owed { at: Instant::now() + LONGEST_PAUSE, pause: LONGEST_PAUSE });
                self.told(IndexState::Stale, None);
                self.shared.publish(|published| published.was_cancelled = true);
            }
            Err(fault) => {
                self.owed = owed;
                self.failed(&fault);
            }
        }
    }

    /// Builds, and tells how it went.
    fn build(&mut self, how: IndexBuild, symbols: Symbols) -> Result<(), IndexError> {
        let before = self.shared.published().state;
        let owed = self.owed.take();
        self.shared.control.begin(Work::Build);
        self.shared.publish(|published| published.state = IndexState::Building);
        let built = match (how, &self.snapshot) {
            (IndexBuild::Refresh, Some(_)) => self.refresh(symbols),
            _ => self.rebuild(),
        };
        self.shared.control.end();
        match built {
            Ok(()) => {
                self.well();
                Ok(())
            }
            Err(Fault::Cancelled) => {
                self.owed = owed;
                let state = match (&self.snapshot, before) {
                    (None, _) => IndexState::Empty,
                    (Some(_), IndexState::Failed) => IndexState::Failed,
                    (Some(_), _) => IndexState::Stale,
                };
                self.told(state, None);
                self.shared.publish(|published| published.was_cancelled = true);
                Err(IndexError::Cancelled)
            }
            Err(fault) => {
                self.owe(owed);
                let fault = fault.to_string();
                tracing::warn!(%fault, "an index could not be built");
                self.told(IndexState::Failed, Some(fault.clone()));
                Err(IndexError::Unavailable(fault))
            }
        }
    }

    /// Tells that all went well, unless something on the way did not.
    fn well(&self) {
        let failure = self.owed.and_then(|_| self.shared.published().last_error);
        self.told(self.state(), failure);
        self.shared.publish(|published| published.was_cancelled = false);
    }

    /// How the index is after all that was to be done went well.
    fn state(&self) -> IndexState {
        let is_whole =
            self.owed.is_none() && self.snapshot.as_ref().is_some_and(|snapshot| !has_unfinished(snapshot));
        if is_whole { IndexState::Ready } else { IndexState::Stale }
    }

    /// Something failed that must not be forgotten: the whole tree is looked at again, later each time it fails.
    fn owe(&mut self, last: Option<Owed>) {
        let pause = last.map_or(FIRST_PAUSE, |last| (last.pause * 2).min(LONGEST_PAUSE));
        self.owed = Some(Owed { at: Instant::now() + pause, pause });
    }

    /// Looks at the whole tree and does what differs. What turns out to be damaged is built anew.
    fn refresh(&mut self, symbols: Symbols) -> Result<(), Fault> {
        if !self.is_damaged {
            match self.refresh_state(symbols) {
                Err(fault) if fault.is_damage() => {
                    tracing::warn!(%fault, "an index is built anew");
                    self.is_damaged = true;
                }
                refreshed => return refreshed,
            }
        }
        self.shared.publish(|published| published.state = IndexState::Building);
        self.rebuild()
    }

    fn refresh_state(&mut self, symbols: Symbols) -> Result<(), Fault> {
        let Some(snapshot) = self.snapshot.clone() else { return self.rebuild() };
        let survey = Survey::whole(&self.shared.settings.root, Some(&snapshot), &self.shared.control)?;
        if symbols == Symbols::OfAll && has_unfinished(&snapshot) {
            return self.write(&survey, symbols);
        }
        let brought = self.bring(&survey);
        // Also after a failure: what was published without its symbols must not be written so.
        self.finish_large();
        brought
    }

    /// Takes changes in, and tells if that failed.
    fn changed(&mut self, paths: &BTreeSet<String>) {
        let Some(snapshot) = self.snapshot.clone() else { return };
        if paths.is_empty() {
            return;
        }
        let paths: BTreeSet<TreePath> = paths.iter().filter_map(|path| TreePath::parse(path).ok()).collect();
        if paths.iter().any(changes_rules) {
            self.shared.inbox.look_again();
            return;
        }
        let survey = Survey::of_paths(&self.shared.settings.root, &paths, &snapshot, &self.shared.control);
        let done = survey.and_then(|survey| {
            self.shared.remember_changes(&survey);
            self.bring(&survey)
        });
        if let Err(fault) = done {
            self.failed(&fault);
        }
    }

    /// Tells that changes could not be taken in, and owes them.
    fn failed(&mut self, fault: &Fault) {
        tracing::warn!(%fault, "changes could not be indexed");
        self.is_damaged |= fault.is_damage();
        self.owe(self.owed);
        self.told(IndexState::Stale, Some(fault.to_string()));
    }

    /// Makes what a survey found searchable: in memory, or in a new state if it is much.
    fn bring(&mut self, survey: &Survey) -> Result<(), Fault> {
        let in_memory = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.delta.files.len());
        if in_memory + survey.len() > MAX_DELTA {
            // It takes its time, as a build does.
            self.shared.publish(|published| published.state = IndexState::Building);
            let written = self.write(survey, Symbols::OfChanged);
            let state = if written.is_ok() { self.state() } else { IndexState::Stale };
            self.shared.publish(|published| published.state = state);
            written
        } else {
            self.take_in(survey)
        }
    }

    /// Takes changes into memory, a slice at a time.
    fn take_in(&mut self, survey: &Survey) -> Result<(), Fault> {
        let Some(snapshot) = self.snapshot.clone() else { return Ok(()) };
        if survey.is_empty() {
            return Ok(());
        }
        let mut delta = Delta::clone(&snapshot.delta);
        survey.gone.iter().for_each(|path| delta.forget(&snapshot.base, path));
        survey.skipped.iter().for_each(|skipped| delta.skip(&snapshot.base, skipped.clone()));
        let mut is_same = survey.gone.is_empty() && survey.skipped.is_empty();
        for slice in survey.read.chunks(SLICE) {
            for found in self.read(slice, Some(&snapshot), LARGE)? {
                is_same &= matches!(found, Read::Same);
                if let Read::ChangedLarge(_, path) = &found {
                    self.unfinished.push(path.clone());
                }
                found.put_into(&mut delta, &snapshot.base);
            }
            if !is_same {
                self.see(Snapshot { base: Arc::clone(&snapshot.base), delta: Arc::new(delta.clone()) });
            }
        }
        if is_same {
            // What is looked at each time, since no time of it proves anything, is no news.
            return Ok(());
        }
        self.see(Snapshot { base: snapshot.base, delta: Arc::new(delta) });
        self.settle_at = Some(Instant::now() + self.shared.settings.settle);
        Ok(())
    }

    /// Finds the symbols of large files that changed. Where that fails, the file is as if it had not been looked at.
    fn finish_large(&mut self) {
        let paths = std::mem::take(&mut self.unfinished);
        let Some(snapshot) = self.snapshot.clone().filter(|_| !paths.is_empty()) else { return };
        let mut delta = Delta::clone(&snapshot.delta);
        match self.read(&paths, None, usize::MAX) {
            Ok(read) => read.into_iter().for_each(|found| found.put_into(&mut delta, &snapshot.base)),
            Err(fault) => {
                paths.iter().for_each(|path| delta.forget(&snapshot.base, path.as_str()));
                self.failed(&fault);
            }
        }
        self.see(Snapshot { base: snapshot.base, delta: Arc::new(delta) });
    }

    /// Writes changes that are only in memory. Where the state they belong to is damaged they wait for a new one.
    fn settle(&mut self) {
        self.settle_at = None;
        let has_changes = self.snapshot.as_ref().is_some_and(|snapshot| !snapshot.delta.is_empty());
        if !has_changes || self.is_damaged {
            return;
        }
        let Err(fault) = self.write(&Survey::default(), Symbols::OfChanged) else { return };
        let is_stopping = self.shared.inbox.is_stopping();
        if fault.is_damage() && !is_stopping {
            return self.failed(&fault);
        }
        tracing::warn!(%fault, "changes could not be written");
        self.shared.publish(|published| published.last_error = Some(fault.to_string()));
        if !is_stopping {
            self.settle_at = Some(Instant::now() + self.shared.settings.settle);
        }
    }

    /// Makes a state the one that readers see.
    fn see(&mut self, snapshot: Snapshot) {
        self.snapshot = Some(snapshot.clone());
        self.shared.publish(|published| published.snapshot = Some(snapshot));
        self.shared.vectors.get().into_iter().for_each(Vectors::wake);
    }

    fn told(&self, state: IndexState, error: Option<String>) {
        let bytes = self.snapshot.as_ref().map_or(0, |snapshot| crate::disk::size(&snapshot.base.build));
        self.shared.publish(|published| {
            published.state = state;
            published.last_error = error;
            published.bytes = bytes;
        });
    }
}

/// Tells those who wait that they need not any more.
fn answer(answers: Vec<ChangeAnswer>) {
    for answer in answers {
        // Whoever asked may have gone.
        let _ = answer.send(());
    }
}

/// Whether there are files on disk whose symbols were not looked for.
fn has_unfinished(snapshot: &Snapshot) -> bool {
    snapshot.entries().any(|(file, entry)| entry.facts.is_none() && snapshot.changed(file).is_none())
}

/// Whether a change at this path may change which files there are.
pub(crate) fn is_rules(path: &str) -> bool {
    TreePath::parse(path).is_ok_and(|path| changes_rules(&path))
}

fn changes_rules(path: &TreePath) -> bool {
    matches!(path.name(), Some(".gitignore" | ".ignore"))
        || matches!(path.as_str(), ".git/HEAD" | ".git/info/exclude")
}

#[cfg(test)]
mod tests;
