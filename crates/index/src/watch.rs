//! Hearing of changes from the file system.
//!
//! Knows directories, events and patience; what a change means is for the keeper. Only directories that the rules keep
//! are watched, each by itself: a tree of build products would otherwise use up what the system allows. Changes that
//! come together are told together. Where the system lost events, the whole tree is looked at.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loggia_domain::IndexBuild;
use loggia_tree::{Kind, Root, TreePath};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::index::FileIndex;
use crate::keeper::Shared;

/// How long it must be quiet before changes are told: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(50);

/// How long changes wait at most while more come.
const LONGEST: Duration = Duration::from_millis(500);

/// How many changed paths are kept by name; beyond, the whole tree is looked at.
const MAX_PATHS: usize = 10_000;

/// Why changes cannot be heard of.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system allows fewer watches than there are directories.
    #[error(
        "the system allows too few watches for {directories} directories; raise fs.inotify.max_user_watches"
    )]
    TooMany {
        /// Directories that were to be watched.
        directories: usize,
    },
    /// The system refuses for another reason.
    #[error("changes of files cannot be heard of: {reason}")]
    Unavailable {
        /// What it says.
        reason: String,
    },
}

/// Changes are heard of as long as this lives.
#[derive(Debug)]
pub struct Watch {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Event(notify::Result<Event>),
    Stop,
}

impl FileIndex {
    /// Begins to hear of changes from the file system, and looks once for those that came before.
    pub fn watch(&self) -> Result<Watch, WatchError> {
        let (messages, incoming) = channel();
        let events = messages.clone();
        let watcher = notify::recommended_watcher(move |event| {
            // Whoever listened is gone when the watch is.
            let _ = events.send(Message::Event(event));
        });
        let watcher = watcher.map_err(|error| unavailable(&error))?;
        let mut ears = Ears { shared: Arc::clone(&self.shared), watcher, watched: HashSet::new() };
        ears.cover(&TreePath::root())?;
        ears.cover_git();
        let (answer, _) = tokio::sync::oneshot::channel();
        self.shared.inbox.build(IndexBuild::Refresh, answer);
        let thread =
            std::thread::Builder::new().name("index-watch".to_owned()).spawn(move || ears.run(&incoming));
        let thread = thread.map_err(|error| WatchError::Unavailable { reason: error.to_string() })?;
        Ok(Watch { messages, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that hears of changes panicked");
        }
    }
}

/// Hears, and tells.
struct Ears {
    shared: Arc<Shared>,
    watcher: RecommendedWatcher,
    watched: HashSet<PathBuf>,
}

/// What was heard and not told yet.
#[derive(Default)]
struct Heard {
    paths: BTreeSet<String>,
    is_lost: bool,
}

impl Ears {
    fn run(mut self, incoming: &Receiver<Message>) {
        while let Ok(first) = incoming.recv() {
            let mut heard = Heard::default();
            let began = Instant::now();
            let mut next = Some(first);
            loop {
                match next {
                    Some(Message::Stop) => return,
                    Some(Message::Event(event)) => self.take(event, &mut heard),
                    None => break,
                }
                let patience = QUIET.min(LONGEST.saturating_sub(began.elapsed()));
                next = match incoming.recv_timeout(patience) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
            }
            self.tell(heard);
        }
    }

    fn take(&self, event: notify::Result<Event>, heard: &mut Heard) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "events of changed files were lost");
                heard.is_lost = true;
                return;
            }
        };
        heard.is_lost |= event.need_rescan();
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        let root = self.shared.settings.root.path();
        for path in event.paths {
            let Some(path) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            // Git writes much beside its head that is not about files.
            let is_git = path == ".git" || path.starts_with(".git/");
            if !is_git || matches!(path, ".git/HEAD" | ".git/info/exclude") {
                heard.paths.insert(path.to_owned());
            }
        }
        if heard.paths.len() > MAX_PATHS {
            heard.paths.clear();
            heard.is_lost = true;
        }
    }

    fn tell(&mut self, heard: Heard) {
        // New directories are watched before they are looked at, so that nothing falls between.
        for path in &heard.paths {
            let Ok(path) = TreePath::parse(path) else { continue };
            let meta = self.shared.settings.root.stat(&path).ok().flatten();
            if meta.is_some_and(|meta| meta.kind == Kind::Directory)
                && let Err(error) = self.cover(&path)
            {
                tracing::warn!(%error, "a new directory is not watched");
            }
        }
        if heard.is_lost {
            let (answer, _) = tokio::sync::oneshot::channel();
            self.shared.inbox.build(IndexBuild::Refresh, answer);
        }
        if !heard.paths.is_empty() {
            // Nobody waits for these.
            drop(self.shared.inbox.changed(heard.paths.into_iter().collect()));
        }
    }

    /// Watches a directory and those below it that the rules keep.
    fn cover(&mut self, start: &TreePath) -> Result<(), WatchError> {
        let root = Arc::clone(&self.shared.settings.root);
        let directories = directories(&root, start);
        let count = directories.len();
        for directory in directories {
            let path = root.path().join(directory.as_str());
            if self.watched.contains(&path) && start.is_root() {
                continue;
            }
            match self.watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(path)),
                Err(error) => match error.kind {
                    notify::ErrorKind::MaxFilesWatch => {
                        return Err(WatchError::TooMany { directories: count });
                    }
                    // It went away meanwhile.
                    notify::ErrorKind::PathNotFound => {}
                    notify::ErrorKind::Io(ref cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
                    _ => return Err(unavailable(&error)),
                },
            }
        }
        Ok(())
    }

    /// Hears when another branch is checked out.
    fn cover_git(&mut self) {
        for directory in [".git", ".git/info"] {
            let path = self.shared.settings.root.path().join(directory);
            if path.is_dir()
                && let Err(error) = self.watcher.watch(&path, RecursiveMode::NonRecursive)
            {
                tracing::debug!(%error, "the repository's own directory is not watched");
            }
        }
    }
}

/// The directories at and below a path that the rules keep.
fn directories(root: &Root, start: &TreePath) -> Vec<TreePath> {
    let mut ignoring = root.ignoring();
    let mut found = Vec::new();
    let mut ahead = vec![start.clone()];
    while let Some(directory) = ahead.pop() {
        if !directory.is_root() && ignoring.is_ignored(&directory, true).unwrap_or(true) {
            continue;
        }
        for entry in root.list(&directory).unwrap_or_default() {
            if entry.meta.kind == Kind::Directory
                && let Some(path) = entry.path
            {
                ahead.push(path);
            }
        }
        found.push(directory);
    }
    found
}

fn unavailable(error: &notify::Error) -> WatchError {
    WatchError::Unavailable { reason: error.to_string() }
}
