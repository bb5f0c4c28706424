//! What commands change, found by comparing before and after.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use loggia_domain::{CallId, CheckpointId, EventBody, FileChange, ObservedChange, SessionId, Store};
use loggia_tree::Root;
use tokio::sync::Mutex;

use crate::observe::{Mirror, MirrorError, Observed, Snapshot};
use crate::workspace::OpenWorkspace;
use crate::workspace::files::blocking;

/// How long the processes of a killed command may take to be gone. What they write later is not found.
const DYING: Duration = Duration::from_millis(100);

/// Where commands that run are marked, in the mirror's directory. The name is the session and the call.
pub(crate) const RUNNING: &str = "running";

/// The mirror of one workspace, opened with the first command.
#[derive(Debug, Clone)]
pub(super) struct Watcher {
    directory: PathBuf,
    root: Arc<Root>,
    mirror: Arc<Mutex<Option<Mirror>>>,
    running: Arc<Running>,
}

/// The commands under watch in one workspace: each would take what another changes for its own.
#[derive(Debug, Default)]
struct Running {
    commands: std::sync::Mutex<Vec<Weak<Company>>>,
}

/// Whether others ran beside a command.
#[derive(Debug, Default)]
struct Company(AtomicBool);

impl Running {
    /// One more runs, until what is given is dropped.
    fn enter(&self) -> Arc<Company> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<Arc<Company>> = commands.iter().filter_map(Weak::upgrade).collect();
        let company = Arc::new(Company(AtomicBool::new(!others.is_empty())));
        others.iter().for_each(|other| other.0.store(true, Ordering::Relaxed));
        *commands = others.iter().chain([&company]).map(Arc::downgrade).collect();
        company
    }
}

/// A command under watch.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    watcher: Watcher,
    /// Nothing if the files could not be looked at.
    before: Option<Snapshot>,
    /// Says on disk that the command runs, so that a restart knows whose the changes are.
    mark: PathBuf,
    company: Arc<Company>,
}

/// What a command changed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    changes: Vec<ObservedChange>,
    beyond_undo: u64,
    shared: bool,
}

impl Watcher {
    pub(super) fn new(directory: PathBuf, root: Arc<Root>) -> Self {
        Self { directory, root, mirror: Arc::new(Mutex::new(None)), running: Arc::default() }
    }

    /// Where it is said that a command runs.
    fn mark(&self, session: SessionId, call: CallId) -> PathBuf {
        self.directory.join(RUNNING).join(format!("{session}.{call}"))
    }

    /// Does something with the mirror, one at a time; stops when the future is dropped.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Mirror, &AtomicBool) -> Result<T, MirrorError> + Send + 'static,
    ) -> Result<T, MirrorError> {
        let mut mirror = Arc::clone(&self.mirror).lock_owned().await;
        let (directory, root) = (self.directory.clone(), Arc::clone(&self.root));
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        blocking(move || {
            let mirror = match &mut *mirror {
                Some(mirror) => mirror,
                none => none.insert(Mirror::open(directory, root)?),
            };
            work(mirror, &flag)
        })
        .await
    }
}

fn set_mark(file: &Path) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(file, "")
}

/// How many commands are marked as running.
fn count(marks: &Path) -> usize {
    std::fs::read_dir(marks).map_or(0, Iterator::count)
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl OpenWorkspace {
    /// Looks at the files before a command.
    pub(crate) async fn watch(&self, session: SessionId, call: CallId) -> Watch {
        // Before the files are looked at: what comes after that may be anybody's.
        let company = self.watcher.running.enter();
        let mark = self.watcher.mark(session, call);
        let file = mark.clone();
        let before = self.watcher.with(Mirror::refresh).await.map_err(|error| error.to_string());
        let marked = blocking(move || set_mark(&file).map_err(|error| error.to_string())).await;
        let before = before.and_then(|before| marked.map(|()| before));
        let before = before.map_err(|error| tracing::warn!(%error, "a command runs unwatched")).ok();
        Watch { watcher: self.watcher.clone(), before, mark, company }
    }

    /// Whether a command was running when the engine was last killed.
    pub(crate) fn was_running(&self, session: SessionId, call: CallId) -> bool {
        self.watcher.mark(session, call).exists()
    }

    /// What the last command changed that a crash cut.
    pub(crate) async fn changed_before_crash(
        &self,
        store: &Arc<dyn Store>,
        session: SessionId,
        call: CallId,
    ) -> Found {
        let mark = self.watcher.mark(session, call);
        let before = self.watcher.with(|mirror, _| Ok(mirror.last_snapshot())).await.ok().flatten();
        let company = self.watcher.running.enter();
        let marks = mark.parent().map(Path::to_owned);
        let others = blocking(move || marks.is_some_and(|marks| count(&marks) > 1)).await;
        company.0.fetch_or(others, Ordering::Relaxed);
        Watch { watcher: self.watcher.clone(), before, mark, company }.changes_of_killed(store).await
    }
}

impl Watch {
    /// What a command that was just killed has changed, once its processes are gone.
    pub(crate) async fn changes_of_killed(self, store: &Arc<dyn Store>) -> Found {
        tokio::time::sleep(DYING).await;
        self.changes(store).await
    }

    /// What has changed since, with the bytes of both sides kept.
    pub(crate) async fn changes(self, store: &Arc<dyn Store>) -> Found {
        let mark = self.mark.clone();
        let found = self.find(store).await;
        // A mark that stays makes the next start look once more, and find nothing.
        let _ = blocking(move || std::fs::remove_file(mark)).await;
        found
    }

    async fn find(self, store: &Arc<dyn Store>) -> Found {
        // Not known is told as beyond undoing, never as nothing.
        let company = Arc::clone(&self.company);
        let shared = || company.0.load(Ordering::Relaxed);
        let unknown = || Found { changes: Vec::new(), beyond_undo: 1, shared: shared() };
        let Some(before) = self.before else { return unknown() };
        let observed = self.watcher.with(move |mirror, stop| mirror.changes_since(&before, stop)).await;
        let observed = match observed {
            Ok(observed) => Arc::new(observed),
            Err(error) => {
                tracing::warn!(%error, "what a command changed could not be found");
                return unknown();
            }
        };
        let mut lost = 0;
        let mut kept = HashSet::new();
        for index in 0..observed.changes.len() {
            match keep(store, &observed, index).await {
                true => drop(kept.insert(observed.changes[index].path.clone())),
                false => lost += 1,
            }
        }
        let beyond_undo = observed.beyond_undo.saturating_add(lost);
        let mut changes = blocking(move || observed.observed_changes()).await;
        changes.retain(|seen| kept.contains(&seen.change.path));
        Found { changes, beyond_undo, shared: shared() }
    }
}

/// Keeps the bytes of both sides of a change; says whether that worked.
async fn keep(store: &Arc<dyn Store>, observed: &Arc<Observed>, index: usize) -> bool {
    let source = Arc::clone(observed);
    let sides = blocking(move || {
        let change = &source.changes[index];
        let before = change.before.map(|_| source.before_bytes(change));
        let after = change.after.map(|_| source.after_bytes(change));
        [before, after].into_iter().flatten().collect::<Option<Vec<Vec<u8>>>>()
    });
    let Some(sides) = sides.await else { return false };
    for bytes in sides {
        if let Err(error) = store.put_blob(bytes).await {
            tracing::warn!(%error, "what a command changed cannot be kept for undoing");
            return false;
        }
    }
    true
}

impl Found {
    /// The facts to record, with a checkpoint before them if the turn needs one.
    pub(crate) fn events(&self, call: CallId, needs_checkpoint: bool) -> Vec<EventBody> {
        if self.changes.is_empty() && self.beyond_undo == 0 {
            return Vec::new();
        }
        let taken = EventBody::CheckpointTaken { checkpoint: CheckpointId::new() };
        let mut events: Vec<EventBody> = needs_checkpoint.then_some(taken).into_iter().collect();
        events.push(EventBody::FilesChanged {
            call,
            changes: self.changes.clone(),
            beyond_undo: self.beyond_undo,
            shared: self.shared,
        });
        events
    }

    /// What happened to each file.
    pub(crate) fn files(&self) -> Vec<FileChange> {
        self.changes.iter().map(|seen| seen.change.clone()).collect()
    }
}
