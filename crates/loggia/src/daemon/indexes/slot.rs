//! The place of one workspace's index: closed, or open and perhaps kept fresh.
//!
//! Fills [`CodeIndex`] for everybody, so that nobody needs to know whether it is open. What always holds: one at a time opens
//! it, closes it or takes it off the disk, and whoever wants it meanwhile waits for that; it counts as closed only when its
//! directory is free; nobody waits for that who only asks how it is.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, IndexBuild, IndexControl,
    IndexDetails, IndexError, IndexState, IndexStatus, ReferenceQuery, Retrieved, SkippedFile,
};
use loggia_index::{FileIndex, IndexSettings, Watch};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use tokio::sync::watch;

use super::place::Place;
use super::{Habits, Inner};

/// How long whoever asks waits for an index that has nothing yet. A small workspace is indexed within it; for a large one
/// the answer comes without.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long a search waits until what changed before it can be found: a tree of ten thousands of files is looked through in
/// less.
const CATCHING_UP: Duration = Duration::from_secs(1);

/// How long a turn waits for that, which gets hints and no answers.
const HINT_PATIENCE: Duration = Duration::from_millis(300);

/// How long a search by meaning waits for an embedder that is being looked for.
const EMBEDDER_WAIT: Duration = Duration::from_secs(10);

/// How long an index that is to be closed may still be searched by others.
const LAST_SEARCHES: Duration = Duration::from_secs(2);

/// How often it is looked whether those searches are over.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The place of one workspace's index.
pub(super) struct Slot {
    directory: PathBuf,
    root: PathBuf,
    habits: Habits,
    home: Weak<Inner>,
    place: Place<Open>,
    /// Why it could not be opened last.
    failure: Mutex<Option<String>>,
    last_use: AtomicU64,
    /// Whether its builds are held up, whether it is open or not.
    is_paused: AtomicBool,
}

struct Open {
    index: Arc<FileIndex>,
    fresh: Fresh,
    /// The directory it was opened for, which may have been moved away since.
    root: Option<Identity>,
}

/// Which directory a path leads to, whatever its name: device and number.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Whether an index is kept fresh.
enum Fresh {
    /// Nobody asked for that yet.
    No,
    /// It is. `first` tells when the first look at the files is over, which began at `since`.
    Yes { first: watch::Receiver<bool>, since: Instant, watch: Option<Watch>, note: Option<String> },
}

impl Open {
    /// Closes it once nobody searches it any more, and blocks until what waits is written and its directory is free. One
    /// that is searched for longer comes back.
    fn close(self, patience: Duration) -> Result<(), Self> {
        let Self { mut index, fresh, root } = self;
        drop(fresh);
        let until = Instant::now() + patience;
        loop {
            // Each time: a build may have begun since.
            index.control(IndexControl::Cancel);
            // Whoever has the last of it closes it, so that has to be us.
            index = match Arc::try_unwrap(index) {
                Ok(index) => {
                    drop(index);
                    return Ok(());
                }
                Err(index) if Instant::now() >= until => {
                    return Err(Self { index, fresh: Fresh::No, root });
                }
                Err(index) => index,
            };
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Slot {
    pub(super) fn new(directory: PathBuf, root: PathBuf, habits: Habits, home: Weak<Inner>) -> Arc<Self> {
        let (place, failure, last_use) = (Place::new(), Mutex::default(), AtomicU64::new(0));
        let is_paused = AtomicBool::new(false);
        Arc::new(Self { directory, root, habits, home, place, failure, last_use, is_paused })
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        self.place.look(|open| open.is_some())
    }

    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Closes it for good. Blocks until what waits is written, unless somebody still searches: then it is written when
    /// they have found.
    pub(super) fn close(&self) {
        let open = self.place.hold().content.take();
        let _ = open.map(|open| open.close(Duration::ZERO));
    }

    /// Closes it unless somebody searches right now, and says whether it is closed. Blocks like [`Slot::close`].
    pub(super) fn close_if_idle(&self) -> bool {
        let is_idle = |open: &Open| Arc::strong_count(&open.index) == 1;
        let Some(mut hold) = self.place.hold_if(is_idle) else { return !self.is_open() };
        hold.content = hold.content.take().and_then(|open| open.close(LAST_SEARCHES).err());
        hold.content.is_none()
    }

    /// The index, if it is open.
    pub(super) fn opened_index(&self) -> Option<Arc<FileIndex>> {
        self.place.look(|open| open.map(|open| Arc::clone(&open.index)))
    }

    /// The index, if it is open for the directory that is there now.
    fn present_index(&self) -> Option<Arc<FileIndex>> {
        let root = identity(&self.root);
        self.place.look(|open| open.filter(|open| open.root == root).map(|open| Arc::clone(&open.index)))
    }

    /// Opens it, unless it is. Blocks. One whose directory was moved away is closed first, unless it is still searched.
    fn open_now(&self) -> Result<Arc<FileIndex>, IndexError> {
        if let Some(index) = self.present_index() {
            return Ok(index);
        }
        let mut hold = self.place.hold();
        let root = identity(&self.root);
        if let Some(moved) = hold.content.take_if(|open| open.root != root) {
            hold.content = moved.close(LAST_SEARCHES).err();
        }
        if let Some(open) = &hold.content {
            return Ok(Arc::clone(&open.index));
        }
        let opened = self.open_file();
        *self.failure() = opened.as_ref().err().cloned();
        let index = Arc::new(opened.map_err(IndexError::Unavailable)?);
        if self.is_paused.load(Ordering::Relaxed) {
            index.control(IndexControl::Pause);
        }
        hold.content = Some(Open { index: Arc::clone(&index), fresh: Fresh::No, root });
        // Here, where it cannot be missed: whoever asked may not wait any more.
        self.habits.embedder.iter().for_each(|embedder| embedder.serve(&index));
        Ok(index)
    }

    fn open_file(&self) -> Result<FileIndex, String> {
        if let Err(error) = remove(&self.aside()) {
            tracing::warn!(%error, "what is left of an index that was dropped stays on the disk");
        }
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
        let index = match self.present_index() {
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

    /// The same for whoever looks for something now: what changed before that is found, unless it is so much that it
    /// takes long.
    async fn up_to_date(self: Arc<Self>, patience: Duration) -> Result<Arc<FileIndex>, IndexError> {
        let index = Arc::clone(&self).ready().await?;
        if self.habits.auto {
            let mut first = self.keep_fresh(&index);
            // Once for all who look: of a first build that takes minutes nobody wants to wait again each time.
            let began = self.place.look(|open| match open.map(|open| &mut open.fresh) {
                Some(Fresh::Yes { since, .. }) => Some(*since),
                _ => None,
            });
            let left = began.map_or(patience, |began| patience.saturating_sub(began.elapsed()));
            if tokio::time::timeout(left, first.wait_for(|is_over| *is_over)).await.is_err() {
                return Ok(index);
            }
            let caught_up = self.place.look(|open| match open.map(|open| &mut open.fresh) {
                Some(Fresh::Yes { watch, .. }) => watch.as_ref().map(Watch::caught_up),
                _ => None,
            });
            if let Some(caught_up) = caught_up {
                let _ = tokio::time::timeout(patience, caught_up).await;
            }
        }
        Ok(index)
    }

    /// Looks by meaning also where the embedder is still being looked for: whoever wants that alone waits for it.
    async fn search(self: Arc<Self>, query: CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let index = Arc::clone(&self).up_to_date(CATCHING_UP).await?;
        let found = index.search(query.clone()).await;
        match (found, &self.habits.embedder) {
            (Err(IndexError::NoVectors(_)), Some(embedder)) if embedder.trouble().is_none() => {
                let _ = tokio::time::timeout(EMBEDDER_WAIT, embedder.given_to(&index)).await;
                index.search(query).await
            }
            (found, _) => found,
        }
    }

    /// Begins to hear of changes and looks at the files once; only the first call does.
    fn keep_fresh(self: &Arc<Self>, index: &Arc<FileIndex>) -> watch::Receiver<bool> {
        let begun = self.place.look(|open| match open.map(|open| &mut open.fresh) {
            // It is being closed.
            None => Err(watch::channel(true).1),
            Some(Fresh::Yes { first, .. }) => Err(first.clone()),
            Some(fresh @ Fresh::No) => {
                let (over, first) = watch::channel(false);
                let since = Instant::now();
                *fresh = Fresh::Yes { first: first.clone(), since, watch: None, note: None };
                Ok((over, first))
            }
        });
        let (over, first) = match begun {
            Ok(begun) => begun,
            Err(first) => return first,
        };
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
        let unwanted = self.place.look(|open| match (open.map(|open| &mut open.fresh), watched) {
            (Some(Fresh::Yes { watch, .. }), Ok(new)) => watch.replace(new),
            (Some(Fresh::Yes { note, .. }), Err(error)) => {
                tracing::warn!(root = %self.root.display(), %error, "the index is not kept fresh by itself");
                *note = Some(format!("{error}; `loggia index build` brings it up to date"));
                None
            }
            (_, Ok(new)) => Some(new),
            (_, Err(_)) => None,
        });
        drop(unwanted);
    }

    /// How it is without being opened.
    fn closed(&self) -> IndexStatus {
        let last_error = self.failure().clone();
        let state = match (&last_error, self.directory.is_dir()) {
            (Some(_), _) => IndexState::Failed,
            (None, true) => IndexState::Stale,
            (None, false) => IndexState::Empty,
        };
        IndexStatus { state, files: 0, symbols: 0, chunks: 0, bytes: 0, done: 0, total: 0, last_error }
    }

    /// Closes it and takes it off the disk.
    async fn take_away(self: Arc<Self>) -> Result<(), IndexError> {
        let removing = tokio::task::spawn_blocking(move || self.remove_now());
        let removed = removing.await.unwrap_or_else(|error| Err(error.to_string()));
        removed.map_err(|why| IndexError::Unavailable(format!("it cannot be dropped: {why}")))
    }

    /// The same at once. Blocks. Whoever wants it meanwhile waits, and then begins with nothing.
    fn remove_now(&self) -> Result<(), String> {
        let mut hold = self.place.hold();
        hold.content = hold.content.take().and_then(|open| open.close(LAST_SEARCHES).err());
        if hold.content.is_some() {
            return Err("others are searching it".to_owned());
        }
        self.remove_directory().map_err(|error| error.to_string())
    }

    /// Removes its directory. It has another name while that is done, so that what a crash leaves is no index.
    fn remove_directory(&self) -> io::Result<()> {
        let aside = self.aside();
        remove(&aside)?;
        match std::fs::rename(&self.directory, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => remove(&aside),
        }
    }

    /// What its directory is called while it is removed.
    fn aside(&self) -> PathBuf {
        self.directory.with_extension("dropped")
    }
}

/// Removes a directory, if it is there.
fn remove(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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
            let found = Arc::clone(&slot).search(query).await;
            found.map_err(|error| slot.explained(error))
        })
    }

    fn retrieve(&self, mut question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        let slot = Arc::clone(&self.0);
        Box::pin(async move {
            let index = slot.up_to_date(HINT_PATIENCE).await?;
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
        Box::pin(async move { slot.up_to_date(CATCHING_UP).await?.references(query).await })
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
        let note = |open: &Open| match &open.fresh {
            Fresh::Yes { note, .. } => note.clone(),
            Fresh::No => None,
        };
        let open = self.0.place.look(|open| open.map(|open| (Arc::clone(&open.index), note(open))));
        let is_paused = self.0.is_paused.load(Ordering::Relaxed);
        let mut details = IndexDetails { is_paused, ..IndexDetails::default() };
        if let Some((index, note)) = open {
            details = index.details();
            details.notes.extend(note);
        }
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
        // A pause holds also for when it is opened next.
        match control {
            IndexControl::Pause => self.0.is_paused.store(true, Ordering::Relaxed),
            IndexControl::Resume => self.0.is_paused.store(false, Ordering::Relaxed),
            IndexControl::Cancel => {}
        }
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
