//! The place of one workspace's index: closed, or open and perhaps kept fresh.
//!
//! Fills [`CodeIndex`] for everybody, so that nobody needs to know whether it is open. What always holds: the lock is held
//! for a few lines, and never while an index is opened for the first time by an asynchronous caller.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, IndexBuild, IndexControl,
    IndexDetails, IndexError, IndexState, IndexStatus, ReferenceQuery, Retrieved, SkippedFile,
};
use loggia_index::{FileIndex, IndexSettings, Watch};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use tokio::sync::watch;

use super::{Habits, Inner};

/// How long whoever asks waits for an index that has nothing yet. A small workspace is indexed within it; for a large one
/// the answer comes without.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long an index that is to be dropped may still be searched by others.
const LAST_SEARCHES: Duration = Duration::from_secs(2);

/// How often it is looked whether those searches are over.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The place of one workspace's index.
pub(super) struct Slot {
    directory: PathBuf,
    root: PathBuf,
    habits: Habits,
    home: Weak<Inner>,
    state: Mutex<State>,
    last_use: AtomicU64,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    /// Why it could not be opened last.
    failure: Option<String>,
}

struct Open {
    index: Arc<FileIndex>,
    fresh: Fresh,
}

/// Whether an index is kept fresh.
enum Fresh {
    /// Nobody asked for that yet.
    No,
    /// It is. `first` tells when the first look at the files is over.
    Yes { first: watch::Receiver<bool>, watch: Option<Watch>, note: Option<String> },
}

impl Slot {
    pub(super) fn new(directory: PathBuf, root: PathBuf, habits: Habits, home: Weak<Inner>) -> Arc<Self> {
        Arc::new(Self { directory, root, habits, home, state: Mutex::default(), last_use: AtomicU64::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().open.is_some()
    }

    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Closes it, whoever still searches. Blocks until what waits is written.
    pub(super) fn close(&self) {
        let open = self.state().open.take();
        drop(open);
    }

    /// Closes it unless somebody searches right now.
    pub(super) fn close_if_idle(&self) {
        let open = {
            let mut state = self.state();
            let is_idle = state.open.as_ref().is_some_and(|open| Arc::strong_count(&open.index) == 1);
            if is_idle { state.open.take() } else { None }
        };
        drop(open);
    }

    /// The index, if it is open.
    fn opened_index(&self) -> Option<Arc<FileIndex>> {
        self.state().open.as_ref().map(|open| Arc::clone(&open.index))
    }

    /// Opens it, unless it is. Blocks.
    fn open_now(&self) -> Result<Arc<FileIndex>, IndexError> {
        let mut state = self.state();
        if let Some(open) = &state.open {
            return Ok(Arc::clone(&open.index));
        }
        match self.open_file() {
            Ok(index) => {
                let index = Arc::new(index);
                *state =
                    State { open: Some(Open { index: Arc::clone(&index), fresh: Fresh::No }), failure: None };
                // Here, where it cannot be missed: whoever asked may not wait any more.
                self.habits.embedder.iter().for_each(|embedder| embedder.serve(&index));
                Ok(index)
            }
            Err(reason) => {
                state.failure = Some(reason.clone());
                Err(IndexError::Unavailable(reason))
            }
        }
    }

    fn open_file(&self) -> Result<FileIndex, String> {
        let settings = RootSettings { hard_links: HardLinkRule::Refuse, home: None };
        let root = Root::open(&self.root, settings).map_err(|error| error.to_string())?;
        let settings = IndexSettings {
            // What no model is shown, nobody who makes vectors is sent.
            is_secret: |path| loggia_engine::policy::credentials(path).is_some(),
            ..IndexSettings::new(&self.directory, Arc::new(root))
        };
        FileIndex::open(settings).map_err(|error| error.to_string())
    }

    /// Opens it where that may block, and waits until what was on disk is there.
    async fn open(self: Arc<Self>) -> Result<Arc<FileIndex>, IndexError> {
        if let Some(home) = self.home.upgrade() {
            self.last_use.store(home.one_more_use(), Ordering::Relaxed);
        }
        let index = match self.opened_index() {
            Some(index) => index,
            None => {
                let slot = Arc::clone(&self);
                let opening = tokio::task::spawn_blocking(move || {
                    let opened = slot.open_now();
                    if let Some(home) = slot.home.upgrade() {
                        home.make_room();
                    }
                    opened
                });
                let cut_off = |error| IndexError::Unavailable(format!("the work was cut off: {error}"));
                opening.await.map_err(cut_off)??
            }
        };
        index.loaded().await;
        Ok(index)
    }

    /// Begins to keep it fresh, if that is wanted and was not begun, and waits a little if nothing is there yet.
    async fn ready(self: Arc<Self>) -> Result<Arc<FileIndex>, IndexError> {
        let index = Arc::clone(&self).open().await?;
        if !self.habits.auto {
            return Ok(index);
        }
        let mut first = self.keep_fresh(&index);
        if index.status().files == 0 {
            // Whoever looks first ends with it, so its end is no reason to wait on.
            let _ = tokio::time::timeout(FIRST_WAIT, first.wait_for(|is_over| *is_over)).await;
        }
        Ok(index)
    }

    /// Begins to hear of changes and looks at the files once; only the first call does.
    fn keep_fresh(self: &Arc<Self>, index: &Arc<FileIndex>) -> watch::Receiver<bool> {
        let mut state = self.state();
        let Some(open) = state.open.as_mut() else { return watch::channel(true).1 };
        if let Fresh::Yes { first, .. } = &open.fresh {
            return first.clone();
        }
        let (over, first) = watch::channel(false);
        open.fresh = Fresh::Yes { first: first.clone(), watch: None, note: None };
        drop(state);
        let (slot, index) = (Arc::downgrade(self), Arc::clone(index));
        tokio::spawn(async move {
            let watched = {
                let index = Arc::clone(&index);
                tokio::task::spawn_blocking(move || index.watch()).await
            };
            // Also where changes are not heard of, what is there now is looked at.
            if let Err(error) = index.build(IndexBuild::Refresh).await {
                tracing::warn!(%error, "an index could not be built");
            }
            if let (Some(slot), Ok(watched)) = (slot.upgrade(), watched) {
                slot.watched(watched);
            }
            drop(index);
            over.send_replace(true);
        });
        first
    }

    /// An index knows that it has no embedder; why it was not given the one that was chosen is known here.
    fn explained(&self, error: IndexError) -> IndexError {
        match (error, &self.habits.embedder) {
            (IndexError::NoVectors(_), Some(embedder)) => {
                let not_yet = || "the embedder is still being looked for".to_owned();
                IndexError::NoVectors(embedder.trouble().unwrap_or_else(not_yet))
            }
            (error, _) => error,
        }
    }

    /// Keeps the watch as long as the index is open.
    fn watched(&self, watched: Result<Watch, loggia_index::WatchError>) {
        let unwanted = {
            let mut state = self.state();
            match (state.open.as_mut().map(|open| &mut open.fresh), watched) {
                (Some(Fresh::Yes { watch, .. }), Ok(new)) => watch.replace(new),
                (Some(Fresh::Yes { note, .. }), Err(error)) => {
                    tracing::warn!(root = %self.root.display(), %error, "the index is not kept fresh by itself");
                    *note = Some(format!("{error}; `loggia index build` brings it up to date"));
                    None
                }
                (_, Ok(new)) => Some(new),
                (_, Err(_)) => None,
            }
        };
        drop(unwanted);
    }

    /// How it is without being opened.
    fn closed(&self) -> IndexStatus {
        let last_error = self.state().failure.clone();
        let state = match (&last_error, self.directory.is_dir()) {
            (Some(_), _) => IndexState::Failed,
            (None, true) => IndexState::Stale,
            (None, false) => IndexState::Empty,
        };
        IndexStatus { state, files: 0, symbols: 0, chunks: 0, bytes: 0, done: 0, total: 0, last_error }
    }

    /// Closes it and takes it off the disk.
    async fn take_away(self: Arc<Self>) -> Result<(), IndexError> {
        let open = self.state().open.take();
        let directory = self.directory.clone();
        let removing = tokio::task::spawn_blocking(move || {
            if let Some(Open { index, fresh }) = open {
                drop(fresh);
                index.control(IndexControl::Cancel);
                let until = std::time::Instant::now() + LAST_SEARCHES;
                while Arc::strong_count(&index) > 1 {
                    if std::time::Instant::now() > until {
                        return Err("others are searching it".to_owned());
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                drop(index);
            }
            match std::fs::remove_dir_all(&directory) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
                _ => Ok(()),
            }
        });
        let removed = removing.await.unwrap_or_else(|error| Err(error.to_string()));
        removed.map_err(|why| IndexError::Unavailable(format!("it cannot be dropped: {why}")))
    }
}

/// What an open index answers, and what is said while it is closed.
impl CodeIndex for Handle {
    fn status(&self) -> IndexStatus {
        self.0.opened_index().map_or_else(|| self.0.closed(), |index| index.status())
    }

    fn opened(&self) -> BoxFuture<'_, IndexStatus> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            let is_there = slot.is_open() || slot.directory.is_dir();
            match is_there {
                true => Arc::clone(&slot).open().await.map_or_else(|_| slot.closed(), |index| index.status()),
                false => slot.closed(),
            }
        })
    }

    fn prepare(&self) -> BoxFuture<'_, IndexStatus> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            Arc::clone(&slot).ready().await.map_or_else(|_| slot.closed(), |index| index.status())
        })
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            let found = Arc::clone(&slot).ready().await?.search(query).await;
            found.map_err(|error| slot.explained(error))
        })
    }

    fn retrieve(&self, mut question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            let index = slot.ready().await?;
            // What changed on disk while we looked is later than what anybody knows of commits.
            let mut recent = index.changed_lately();
            question.context.recent.retain(|path| !recent.contains(path));
            recent.append(&mut question.context.recent);
            question.context.recent = recent;
            index.retrieve(question).await
        })
    }

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move { slot.ready().await?.references(query).await })
    }

    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        // One that is closed looks at all files when it is next opened.
        let index = self.0.opened_index();
        Box::pin(async move {
            match index {
                Some(index) => index.changed(paths).await,
                None => Ok(()),
            }
        })
    }

    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            let index = Arc::clone(&slot).open().await?;
            let built = index.build(how).await;
            // Whoever wants an index wants it to stay true.
            if built.is_ok() && slot.habits.auto {
                drop(slot.keep_fresh(&index));
            }
            built
        })
    }

    fn details(&self) -> IndexDetails {
        let (index, note) = {
            let state = self.0.state();
            let open = state.open.as_ref();
            let note = open.and_then(|open| match &open.fresh {
                Fresh::Yes { note, .. } => note.clone(),
                Fresh::No => None,
            });
            (open.map(|open| Arc::clone(&open.index)), note)
        };
        let mut details = index.map_or_else(IndexDetails::default, |index| index.details());
        details.notes.extend(note);
        if let Some(embedder) = &self.0.habits.embedder {
            // It is set up, though it may be away.
            details.vectors.get_or_insert(0);
            let off = |why| format!("search by meaning is off for now: {why}");
            details.notes.extend(embedder.trouble().map(off));
        }
        details
    }

    fn skipped(&self, limit: usize) -> Vec<SkippedFile> {
        self.0.opened_index().map(|index| index.skipped(limit)).unwrap_or_default()
    }

    fn control(&self, control: IndexControl) {
        if let Some(index) = self.0.opened_index() {
            index.control(control);
        }
    }

    fn forget(&self) -> BoxFuture<'_, Result<(), IndexError>> {
        Box::pin(Arc::clone(&self.0).take_away())
    }
}

/// A slot as others hold it.
pub(super) struct Handle(pub(super) Arc<Slot>);
