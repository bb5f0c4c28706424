//! Hearing of changes from the file system.
//!
//! Knows directories, events and patience; what a change means is for the keeper. Only directories that the rules keep
//! are watched, each by itself: a tree of build products would otherwise use up what the system allows. Changes that
//! come together are told together. Where the system lost events, the whole tree is looked at.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loggia_tree::{Kind, TreePath};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::oneshot;

use crate::control::lock;
use crate::index::FileIndex;
use crate::keeper::{Shared, is_rules};

/// How long it must be quiet before changes are told: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(50);

/// How long an event is on its way to us.
const ON_ITS_WAY: Duration = Duration::from_millis(3);

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
    /// Somebody does not want to wait until it is quiet.
    Ask(oneshot::Sender<Taken>),
    Stop,
}

/// Tells when what was heard before can be searched.
type Taken = oneshot::Receiver<()>;

impl Watch {
    /// Waits until what has been heard so far can be searched: whoever changed a file and then looks for it finds it.
    pub fn caught_up(&self) -> impl Future<Output = ()> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        // Where nobody hears any more, there is nothing to wait for.
        let _ = self.messages.send(Message::Ask(answer));
        async move {
            if let Ok(taken) = answered.await {
                let _ = taken.await;
            }
        }
    }
}

impl FileIndex {
    /// Begins to hear of changes from the file system. Those that came before are for whoever builds afterwards.
    pub fn watch(&self) -> Result<Watch, WatchError> {
        let (messages, incoming) = channel();
        let events = messages.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // Files are read all the time, by searches too: that is no news, and no reason to wait for more.
            if !event.as_ref().is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                // Whoever listened is gone when the watch is.
                let _ = events.send(Message::Event(event));
            }
        });
        let watcher = watcher.map_err(|error| unavailable(&error))?;
        let mut ears = Ears { shared: Arc::clone(&self.shared), watcher };
        let root = ears.cover(&TreePath::root())?;
        ears.told(root);
        ears.cover_git();
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
}

/// Directories that cannot be watched, the first of them with the reason.
#[derive(Debug, Default)]
struct Deaf {
    count: usize,
    first: Option<String>,
}

/// What was heard and not told yet.
#[derive(Default)]
struct Heard {
    paths: BTreeSet<String>,
    is_lost: bool,
    asked: Vec<oneshot::Sender<Taken>>,
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
                    Some(Message::Ask(answer)) => heard.asked.push(answer),
                    None => break,
                }
                let patience = match heard.asked.is_empty() {
                    true => QUIET.min(LONGEST.saturating_sub(began.elapsed())),
                    // What was written before the question comes within this, if the machine is not very busy.
                    false => ON_ITS_WAY,
                };
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
            if meta.is_some_and(|meta| meta.kind == Kind::Directory) {
                match self.cover(&path) {
                    Ok(deaf) if deaf.count == 0 => {}
                    Ok(deaf) => self.told(deaf),
                    Err(error) => self.told(Deaf::of(&path, &error)),
                }
            }
        }
        if heard.is_lost || heard.paths.iter().any(|path| is_rules(path)) {
            // There may be directories that nobody told of, or that were left out until now.
            self.cover_all();
        }
        if heard.is_lost {
            self.shared.inbox.look_again();
        }
        let mut asked = heard.asked.into_iter();
        if !heard.paths.is_empty() {
            let taken = self.shared.inbox.behind(heard.paths.into_iter().collect());
            // Of several who ask, the first waits for these, and the others for what comes after them.
            if let Some(first) = asked.next() {
                let _ = first.send(taken);
            }
        }
        for other in asked {
            let _ = other.send(self.shared.inbox.behind(Vec::new()));
        }
    }

    /// Watches all directories that the rules keep now.
    fn cover_all(&mut self) {
        let root = TreePath::root();
        let deaf = self.cover(&root).unwrap_or_else(|error| Deaf::of(&root, &error));
        self.told(deaf);
    }

    /// Tells people that changes in some directories are not heard of; nothing if there are none.
    fn told(&self, deaf: Deaf) {
        let note = deaf.first.map(|first| {
            let more = deaf.count.saturating_sub(1);
            let more = if more > 0 { format!(", and in {more} more directories") } else { String::new() };
            format!(
                "changes are not heard of in {first}{more}; `loggia index build` brings the index up to date"
            )
        });
        if let Some(note) = &note {
            tracing::warn!("{note}");
        }
        *lock(&self.shared.not_heard) = note;
    }

    /// Watches a directory and those below it that the rules keep. Each is watched before it is listed, so that nothing
    /// is made in it between. Gives those that cannot be watched.
    fn cover(&mut self, start: &TreePath) -> Result<Deaf, WatchError> {
        let root = Arc::clone(&self.shared.settings.root);
        let mut ignoring = root.ignoring();
        let (mut deaf, mut count) = (Deaf::default(), 0);
        let mut ahead = vec![start.clone()];
        while let Some(directory) = ahead.pop() {
            if !directory.is_root() && ignoring.is_ignored(&directory, true).unwrap_or(true) {
                continue;
            }
            count += 1;
            let path = root.path().join(directory.as_str());
            if let Err(error) = self.watcher.watch(&path, RecursiveMode::NonRecursive) {
                match error.kind {
                    notify::ErrorKind::MaxFilesWatch => {
                        return Err(WatchError::TooMany { directories: count + ahead.len() });
                    }
                    // It went away meanwhile.
                    notify::ErrorKind::PathNotFound => continue,
                    notify::ErrorKind::Io(ref cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                        continue;
                    }
                    _ if directory.is_root() => return Err(unavailable(&error)),
                    // What is in it cannot be read either, or can be without our hearing of it.
                    _ => deaf.add(&directory, &error),
                }
            }
            for entry in root.list(&directory).unwrap_or_default() {
                ahead.extend(entry.path.filter(|_| entry.meta.kind == Kind::Directory));
            }
        }
        Ok(deaf)
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

impl Deaf {
    fn of(directory: &TreePath, error: &dyn std::fmt::Display) -> Self {
        let mut deaf = Self::default();
        deaf.add(directory, error);
        deaf
    }

    fn add(&mut self, directory: &TreePath, error: &dyn std::fmt::Display) {
        self.count += 1;
        let shown = if directory.is_root() { "." } else { directory.as_str() };
        self.first.get_or_insert_with(|| format!("`{shown}` ({error})"));
    }
}

fn unavailable(error: &notify::Error) -> WatchError {
    WatchError::Unavailable { reason: error.to_string() }
}
