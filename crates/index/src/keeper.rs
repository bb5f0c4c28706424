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
use std::time::Instant;

use loggia_domain::{IndexBuild, IndexError, IndexState, IndexStep};
use loggia_tree::TreePath;

use crate::control::{Control, lock};
use crate::disk::lock::Lock;
use crate::fault::Fault;
use crate::inbox::{Inbox, Task};
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
}

impl Shared {
    pub(crate) fn new(settings: IndexSettings) -> Self {
        Self {
            settings,
            vectors: OnceLock::new(),
            no_vectors: Mutex::default(),
            lately: Mutex::default(),
            control: Control::default(),
            inbox: Inbox::default(),
            published: Mutex::new(Published {
                snapshot: None,
                state: IndexState::Building,
                last_error: None,
                notes: Vec::new(),
                bytes: 0,
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
        }
    }

    /// Does what is asked for, until the end is.
    pub(crate) fn run(mut self) {
        workers::lower_priority();
        let rebuild = self.load();
        self.shared.is_loaded.send_replace(true);
        if rebuild {
            // How it went is in the state; nobody waits for it.
            let _ = self.build(IndexBuild::Rebuild);
        }
        loop {
            match self.shared.inbox.next(self.settle_at) {
                Task::Stop => break,
                Task::Settled => self.settle(),
                Task::Build { how, answers } => {
                    let outcome = self.build(how);
                    let status = || self.shared.status();
                    for answer in answers.into_iter().chain(self.shared.inbox.built()) {
                        // Whoever asked may have gone.
                        let _ = answer.send(outcome.clone().map(|()| status()));
                    }
                }
                Task::Changed { paths, answers } => {
                    self.changed(&paths);
                    for answer in answers {
                        let _ = answer.send(());
                    }
                    self.finish_large();
                }
            }
        }
        self.settle();
    }

    /// Builds, and tells how it went.
    fn build(&mut self, how: IndexBuild) -> Result<(), IndexError> {
        self.shared.control.begin();
        self.shared.control.step(IndexStep::Walking, 0);
        let before = self.shared.published().state;
        self.shared.publish(|published| published.state = IndexState::Building);
        let built = match (how, &self.snapshot) {
            (IndexBuild::Refresh, Some(_)) => self.refresh(),
            _ => self.rebuild(),
        };
        self.shared.control.end();
        match built {
            Ok(()) => {
                self.told(IndexState::Ready, None);
                Ok(())
            }
            Err(Fault::Cancelled) => {
                let state = match (&self.snapshot, before) {
                    (None, _) => IndexState::Empty,
                    (Some(_), IndexState::Failed) => IndexState::Failed,
                    (Some(_), _) => IndexState::Stale,
                };
                self.told(state, None);
                Err(IndexError::Cancelled)
            }
            Err(fault) => {
                let fault = fault.to_string();
                tracing::warn!(%fault, "an index could not be built");
                self.told(IndexState::Failed, Some(fault.clone()));
                Err(IndexError::Unavailable(fault))
            }
        }
    }

    /// Looks at the whole tree and does what differs.
    fn refresh(&mut self) -> Result<(), Fault> {
        let Some(snapshot) = self.snapshot.clone() else { return self.rebuild() };
        let control = &self.shared.control;
        let survey = Survey::whole(&self.shared.settings.root, Some(&snapshot), control)?;
        let unfinished =
            snapshot.entries().any(|(file, entry)| entry.facts.is_none() && snapshot.changed(file).is_none());
        if unfinished || snapshot.delta.files.len() + survey.len() > MAX_DELTA {
            self.write(&survey)
        } else {
            let taken = self.take_in(&survey);
            // Also after a failure: what was published without its symbols must not be written so.
            self.finish_large();
            taken
        }
    }

    /// Takes changes in, and tells if that failed.
    fn changed(&mut self, paths: &BTreeSet<String>) {
        let Some(snapshot) = self.snapshot.clone() else { return };
        if paths.is_empty() {
            return;
        }
        let paths: BTreeSet<TreePath> = paths.iter().filter_map(|path| TreePath::parse(path).ok()).collect();
        if paths.iter().any(changes_rules) {
            // What is ignored may have changed, or which branch is checked out.
            let _ = self.build(IndexBuild::Refresh);
            return;
        }
        self.shared.control.begin();
        let survey = Survey::of_paths(&self.shared.settings.root, &paths, &snapshot, &self.shared.control);
        let done = survey.and_then(|survey| {
            self.shared.remember_changes(&survey);
            if snapshot.delta.files.len() + survey.len() > MAX_DELTA {
                self.write(&survey)
            } else {
                self.take_in(&survey)
            }
        });
        self.shared.control.end();
        if let Err(fault) = done {
            tracing::warn!(%fault, "changes could not be indexed");
            self.told(IndexState::Stale, Some(fault.to_string()));
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
        for slice in survey.read.chunks(SLICE) {
            for found in self.read(slice, Some(&snapshot), LARGE)? {
                if let Read::ChangedLarge(_, path) = &found {
                    self.unfinished.push(path.clone());
                }
                found.put_into(&mut delta, &snapshot.base);
            }
            self.see(Snapshot { base: Arc::clone(&snapshot.base), delta: Arc::new(delta.clone()) });
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
                tracing::warn!(%fault, "symbols of changed files were not found");
                paths.iter().for_each(|path| delta.forget(&snapshot.base, path.as_str()));
                self.told(IndexState::Stale, Some(fault.to_string()));
            }
        }
        self.see(Snapshot { base: snapshot.base, delta: Arc::new(delta) });
    }

    /// Writes changes that are only in memory.
    fn settle(&mut self) {
        self.settle_at = None;
        let has_changes = self.snapshot.as_ref().is_some_and(|snapshot| !snapshot.delta.is_empty());
        if !has_changes {
            return;
        }
        self.shared.control.begin();
        if let Err(fault) = self.write(&Survey::default()) {
            tracing::warn!(%fault, "changes could not be written");
            self.shared.publish(|published| published.last_error = Some(fault.to_string()));
            if !self.shared.inbox.is_stopping() {
                self.settle_at = Some(Instant::now() + self.shared.settings.settle);
            }
        }
        self.shared.control.end();
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

/// Whether a change of this file may change which files there are.
fn changes_rules(path: &TreePath) -> bool {
    matches!(path.name(), Some(".gitignore" | ".ignore"))
        || matches!(path.as_str(), ".git/HEAD" | ".git/info/exclude")
}
