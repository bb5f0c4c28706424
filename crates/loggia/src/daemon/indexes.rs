//! The code indexes of a daemon: one for each workspace, opened when somebody first needs it.
//!
//! Knows where an index is kept, when it is opened, kept fresh and closed again. Refuses to know what is in it; that is for
//! the index.
//!
//! What always holds:
//! - a workspace that nobody asks about costs nothing: no thread, no watch, no file;
//! - at most [`MAX_OPEN`] indexes are open, as far as they are not all in use at the same moment;
//! - nothing here waits for a whole build, except whoever asked for it.

mod place;
mod slot;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_domain::{CodeIndex, Workspace, WorkspaceId};
use loggia_engine::IndexFinder;

use super::embedder::EmbedderSource;
use crate::config::endpoints::Endpoint;
use slot::{Handle, Slot};

/// How many indexes are open at once: more workspaces than people work in at a time. Each keeps its list of files and the
/// names of definitions in memory.
const MAX_OPEN: usize = 8;

/// How long all indexes together may take to write what waits when the daemon ends.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// The directory that all indexes share, among lasting data.
const DIRECTORY: &str = "indexes";

/// How indexes are kept, as somebody chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexRules {
    /// Whether an index is built and kept fresh without anybody saying so.
    pub(crate) auto: bool,
    /// Who makes vectors, if anybody does: `minilm`, or `provider:model`.
    pub(crate) embedder: Option<String>,
    /// Where the files of a model in this process are, if somebody said so.
    pub(crate) weights: Option<PathBuf>,
    /// Endpoints that may make vectors of every workspace: none that a workspace named.
    pub(crate) endpoints: Vec<Endpoint>,
}

/// All indexes of a daemon. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Indexes(Arc<Inner>);

/// What all indexes of a daemon have in common.
#[derive(Clone)]
struct Habits {
    auto: bool,
    embedder: Option<EmbedderSource>,
}

struct Inner {
    directory: PathBuf,
    habits: Habits,
    slots: Mutex<HashMap<WorkspaceId, Arc<Slot>>>,
    /// Counts uses, so that the one that was used longest ago is known.
    uses: AtomicU64,
}

impl Indexes {
    pub(crate) fn new(data: &std::path::Path, auto: bool, embedder: Option<EmbedderSource>) -> Self {
        let (slots, uses) = (Mutex::default(), AtomicU64::new(0));
        let habits = Habits { auto, embedder };
        Self(Arc::new(Inner { directory: data.join(DIRECTORY), habits, slots, uses }))
    }

    /// Finds indexes for whoever asks. Finding opens none.
    pub(crate) fn finder(&self) -> IndexFinder {
        let indexes = self.clone();
        Arc::new(move |workspace| Some(indexes.of(workspace)))
    }

    fn of(&self, workspace: &Workspace) -> Arc<dyn CodeIndex> {
        let mut slots = self.0.slots();
        let slot = slots.entry(workspace.id).or_insert_with(|| {
            let directory = self.0.directory.join(workspace.id.to_string());
            Slot::new(directory, workspace.root.clone(), self.0.habits.clone(), Arc::downgrade(&self.0))
        });
        Arc::new(Handle(Arc::clone(slot)))
    }

    /// Closes all of them, in bounded time. What a build had not finished is done again when it is next asked for.
    pub(crate) async fn stop(&self) {
        let slots: Vec<_> = self.0.slots().drain().map(|(_, slot)| slot).collect();
        let closing = tokio::task::spawn_blocking(move || slots.iter().for_each(|slot| slot.close()));
        match tokio::time::timeout(STOP_LIMIT, closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "an index was not closed cleanly"),
            Err(_) => tracing::warn!("not every index was closed in time; what is on disk stays as it was"),
        }
    }
}

impl Inner {
    fn slots(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of one more use.
    fn one_more_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// Closes what was used longest ago, if too many are open. Takes its time: call it where that may block.
    fn make_room(&self) {
        let slots: Vec<Arc<Slot>> = self.slots().values().cloned().collect();
        let mut open: Vec<_> = slots.into_iter().filter(|slot| slot.is_open()).collect();
        open.sort_by_key(|slot| slot.last_use());
        let mut surplus = open.len().saturating_sub(MAX_OPEN);
        for slot in open {
            if surplus == 0 {
                break;
            }
            surplus -= usize::from(slot.close_if_idle());
        }
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CodeQuery, IndexBuild, IndexControl, IndexError, IndexState, QueryKind, Timestamp};

    use super::*;

    fn workspace(directory: &std::path::Path, number: usize) -> Workspace {
        let root = directory.join(format!("w{number}"));
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.rs"), format!("fn orchard_{number}() {{}}\n")).unwrap();
        Workspace { id: WorkspaceId::new(), name: format!("w{number}"), root, created: Timestamp::now() }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_many_indexes_those_used_longest_ago_are_closed_and_open_again_when_asked() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspaces: Vec<_> =
            (0..MAX_OPEN + 3).map(|number| workspace(directory.path(), number)).collect();
        let open = || {
            let slot = |workspace: &Workspace| indexes.0.slots()[&workspace.id].is_open();
            workspaces.iter().map(slot).collect::<Vec<_>>()
        };
        for workspace in &workspaces {
            indexes.of(workspace).build(IndexBuild::Rebuild).await.unwrap();
        }
        let expected: Vec<bool> = (0..workspaces.len()).map(|number| number >= 3).collect();
        assert_eq!(open(), expected);
        let query = CodeQuery::new("orchard_0", QueryKind::Symbols, 1);
        assert_eq!(indexes.of(&workspaces[0]).search(query).await.unwrap().len(), 1);
        let again: Vec<bool> = (0..workspaces.len()).map(|number| number == 0 || number >= 4).collect();
        assert_eq!(open(), again);
        indexes.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_that_is_in_use_stays_open_and_another_is_closed_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspaces: Vec<_> = (0..=MAX_OPEN).map(|number| workspace(directory.path(), number)).collect();
        let slot = |number: usize| Arc::clone(&indexes.0.slots()[&workspaces[number].id]);
        indexes.of(&workspaces[0]).build(IndexBuild::Rebuild).await.unwrap();
        let first = slot(0).opened_index();
        for workspace in &workspaces[1..] {
            indexes.of(workspace).build(IndexBuild::Rebuild).await.unwrap();
        }
        let open: Vec<bool> = (0..=MAX_OPEN).map(|number| slot(number).is_open()).collect();
        assert_eq!(open, (0..=MAX_OPEN).map(|number| number != 1).collect::<Vec<_>>());
        drop(first);
        indexes.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_directory_that_takes_the_place_of_a_workspace_s_is_the_one_that_is_searched() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspace = workspace(directory.path(), 0);
        let index = indexes.of(&workspace);
        index.build(IndexBuild::Rebuild).await.unwrap();
        std::fs::rename(&workspace.root, directory.path().join("away")).unwrap();
        std::fs::create_dir(&workspace.root).unwrap();
        std::fs::write(workspace.root.join("b.rs"), "fn meadow() {}\n").unwrap();
        index.build(IndexBuild::Refresh).await.unwrap();
        for (name, expected) in [("meadow", 1), ("orchard_0", 0)] {
            let query = CodeQuery::new(name, QueryKind::Symbols, 1);
            assert_eq!(index.search(query).await.unwrap().len(), expected, "{name}");
        }
        std::fs::remove_dir_all(&workspace.root).unwrap();
        let query = CodeQuery::new("meadow", QueryKind::Symbols, 1);
        let refused = index.search(query).await.unwrap_err();
        assert!(matches!(refused, IndexError::Unavailable(_)), "{refused:?}");
        indexes.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_pause_holds_also_for_an_index_that_was_closed_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspaces: Vec<_> = (0..=MAX_OPEN).map(|number| workspace(directory.path(), number)).collect();
        let paused = indexes.of(&workspaces[0]);
        paused.build(IndexBuild::Rebuild).await.unwrap();
        paused.control(IndexControl::Pause);
        for workspace in &workspaces[1..] {
            indexes.of(workspace).build(IndexBuild::Rebuild).await.unwrap();
        }
        let slot = Arc::clone(&indexes.0.slots()[&workspaces[0].id]);
        assert!(!slot.is_open() && paused.details().is_paused, "it is told also while it is closed");
        assert_eq!(paused.opened().await.files, 1);
        assert!(slot.is_open() && paused.details().is_paused);
        // Not only told: a build waits, until it is let go on.
        let building = indexes.of(&workspaces[0]);
        let build = tokio::spawn(async move { building.build(IndexBuild::Rebuild).await });
        while !paused.details().progress.is_some_and(|progress| progress.is_paused) {
            assert!(!build.is_finished(), "nothing held it up");
            tokio::task::yield_now().await;
        }
        paused.control(IndexControl::Resume);
        build.await.unwrap().unwrap();
        assert!(!paused.details().is_paused);
        indexes.stop().await;
    }

    /// People who go back and forth between more workspaces than can be open: what they come back to may just be closed.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn whoever_comes_back_to_an_index_that_is_being_closed_finds_it() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspaces: Vec<_> =
            (0..MAX_OPEN + 2).map(|number| workspace(directory.path(), number)).collect();
        for workspace in &workspaces {
            indexes.of(workspace).build(IndexBuild::Rebuild).await.unwrap();
        }
        let person = |step: usize| {
            let all: Vec<_> = workspaces.iter().map(|workspace| indexes.of(workspace)).collect();
            tokio::spawn(async move {
                for turn in 0..100 {
                    let number = turn * step % all.len();
                    let query = CodeQuery::new(format!("orchard_{number}"), QueryKind::Symbols, 1);
                    assert_eq!(all[number].search(query).await.map(|found| found.len()), Ok(1));
                }
            })
        };
        for person in [1, 3, 7, 9].map(person) {
            person.await.unwrap();
        }
        indexes.stop().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn an_index_is_dropped_while_others_want_it_and_is_whole_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspace = workspace(directory.path(), 0);
        let index = indexes.of(&workspace);
        for _ in 0..20 {
            index.build(IndexBuild::Rebuild).await.unwrap();
            let wanting: Vec<_> = (0..4)
                .map(|_| {
                    let index = indexes.of(&workspace);
                    tokio::spawn(async move { index.build(IndexBuild::Refresh).await })
                })
                .collect();
            let dropped = index.forget().await;
            for wanted in wanting {
                // Dropping ends the builds that run.
                let built = wanted.await.unwrap();
                assert!(matches!(built, Ok(_) | Err(IndexError::Cancelled)), "{built:?} {dropped:?}");
            }
            dropped.unwrap();
        }
        index.forget().await.unwrap();
        assert_eq!(index.status().state, IndexState::Empty);
        index.build(IndexBuild::Refresh).await.unwrap();
        let query = CodeQuery::new("orchard_0", QueryKind::Symbols, 1);
        assert_eq!(index.search(query).await.unwrap().len(), 1);
        indexes.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_crash_left_of_a_dropped_index_goes_when_it_is_next_opened() {
        let directory = tempfile::tempdir().unwrap();
        let indexes = Indexes::new(directory.path(), false, None);
        let workspace = workspace(directory.path(), 0);
        let index = indexes.of(&workspace);
        let kept = || {
            let names = std::fs::read_dir(directory.path().join(DIRECTORY)).unwrap();
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let left = directory.path().join(DIRECTORY).join(format!("{}.dropped", workspace.id));
        std::fs::create_dir_all(left.join("builds")).unwrap();
        assert_eq!(index.opened().await.state, IndexState::Empty);
        index.build(IndexBuild::Refresh).await.unwrap();
        assert_eq!(kept(), [workspace.id.to_string()]);
        std::fs::create_dir_all(left.join("builds")).unwrap();
        index.forget().await.unwrap();
        assert_eq!(kept(), [""; 0]);
        indexes.stop().await;
    }
}
