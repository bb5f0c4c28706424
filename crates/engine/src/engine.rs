//! The engine: all sessions and workspaces behind one handle.
//!
//! Knows which sessions are in memory and brings others there when somebody comes. Refuses to know what they do.

mod current_model;
mod look;
mod start;
mod transfer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use loggia_domain::{
    Actor, Budget, Client, EventBody, ModelName, NewEvent, Page, Policy, Preset, SessionId, SessionQuery,
    SessionSummary, Timestamp, Workspace, WorkspaceId,
};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use look::LookError;

use crate::counts::Counters;
use crate::engine::current_model::CurrentModel;
use crate::error::EngineError;
use crate::parts::{Parts, Settings};
use crate::policies::Policies;
use crate::secrets::Masker;
use crate::session::{self, Command, FeedClosed, OnLeave, Seat, SessionHandle, State};
use crate::trust::TrustStore;
use crate::workspace::OpenWorkspace;

/// All sessions and workspaces. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) policies: Policies,
    pub(crate) masker: Arc<Masker>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) counters: Counters,
    current_model: CurrentModel,
    trust: TrustStore,
    sessions: Mutex<HashMap<SessionId, Slot>>,
    workspaces: Mutex<HashMap<WorkspaceId, Weak<OpenWorkspace>>>,
}

/// A session in memory, or on its way there. Whoever comes while it is loaded waits for the same loading.
type Slot = Arc<tokio::sync::Mutex<Option<SessionHandle>>>;

/// What a session is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Where it works.
    pub workspace: WorkspaceId,
    /// Its name, if it has one.
    pub title: Option<String>,
    /// Its model, if not the default.
    pub model: Option<ModelName>,
    /// Its preset, if not the workspace's.
    pub preset: Option<Preset>,
    /// What it may use up.
    pub budget: Budget,
}

impl NewSession {
    /// A session with defaults.
    pub fn new(workspace: WorkspaceId) -> Self {
        Self { workspace, title: None, model: None, preset: None, budget: Budget::default() }
    }
}

impl Engine {
    /// Registers a directory as a workspace. One that is registered already is given back.
    ///
    /// # Errors
    /// If the directory cannot be one, or the store cannot keep it.
    pub async fn register_workspace(
        &self,
        path: &Path,
        name: Option<String>,
    ) -> Result<Workspace, EngineError> {
        Ok(self.add_workspace(path, name).await?.0)
    }

    /// As [`register_workspace`](Self::register_workspace), and says whether it is new.
    ///
    /// # Errors
    /// If the directory cannot be one, or the store cannot keep it.
    pub async fn add_workspace(
        &self,
        path: &Path,
        name: Option<String>,
    ) -> Result<(Workspace, bool), EngineError> {
        let settings =
            RootSettings { hard_links: HardLinkRule::Refuse, home: self.shared.settings.home.clone() };
        let path = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || Root::open(&path, settings)).await;
        let root = opened.map_err(|error| EngineError::Unfinished(error.to_string()))??.path().to_owned();
        let ours = |own: &PathBuf| own.starts_with(&root) || root.starts_with(own);
        if self.shared.own_directories().iter().any(ours) {
            return Err(EngineError::OwnDirectory(root));
        }
        let name = name.or_else(|| root.file_name().map(|name| name.to_string_lossy().into_owned()));
        let id = WorkspaceId::new();
        let workspace = Workspace {
            id,
            name: name.unwrap_or_else(|| "workspace".to_owned()),
            root,
            created: Timestamp::now(),
        };
        let kept = self.shared.parts.store.register_workspace(workspace).await?;
        let is_new = kept.id == id;
        Ok((kept, is_new))
    }

    /// Lists the workspaces, oldest first.
    ///
    /// # Errors
    /// If the store cannot.
    pub async fn workspaces(&self) -> Result<Vec<Workspace>, EngineError> {
        Ok(self.shared.parts.store.workspaces().await?)
    }

    /// One workspace.
    ///
    /// # Errors
    /// If there is none, or the store cannot.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Workspace, EngineError> {
        Ok(self.shared.parts.store.workspace(id).await?)
    }

    /// A workspace's policy.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn policy(&self, workspace: WorkspaceId) -> Result<Arc<Policy>, EngineError> {
        Ok(self.shared.policies.get(workspace)?)
    }

    /// Changes a workspace's policy, if it still has the revision the change was made for. Holds from the next
    /// call of every session on.
    ///
    /// # Errors
    /// If it is not right, was changed by somebody else, or cannot be written.
    pub fn set_policy(
        &self,
        workspace: WorkspaceId,
        policy: Policy,
        expected: u64,
    ) -> Result<Arc<Policy>, EngineError> {
        Ok(self.shared.policies.set(workspace, policy, expected)?)
    }

    /// Whether a workspace's own files may loosen anything.
    pub fn is_trusted(&self, root: &Path) -> bool {
        self.shared.is_trusted(root)
    }

    /// Trusts a workspace, or no longer.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn set_trusted(&self, root: &Path, trusted: bool) -> Result<(), EngineError> {
        match trusted {
            true => self.shared.trust.trust(root)?,
            false => self.shared.trust.distrust(root)?,
        };
        Ok(())
    }

    /// Opens a session.
    ///
    /// # Errors
    /// If there is no such workspace, or the store cannot keep it.
    pub async fn open_session(&self, new: NewSession, by: Actor) -> Result<SessionId, EngineError> {
        self.shared.parts.store.workspace(new.workspace).await?;
        let NewSession { workspace, title, model, preset, budget } = new;
        // Written down with the session, which keeps it when the default changes.
        let model = model.or_else(|| self.default_model());
        let id = SessionId::new();
        let body =
            EventBody::SessionOpened { workspace, title, model, preset, budget, forked_from: None, by };
        let opening = NewEvent { at: Timestamp::now(), turn: None, body };
        self.shared.parts.store.append(id, vec![opening]).await?;
        Ok(id)
    }

    /// Lists sessions, the most recently changed first.
    ///
    /// # Errors
    /// If the store cannot.
    pub async fn sessions(&self, query: SessionQuery) -> Result<Page<SessionSummary>, EngineError> {
        Ok(self.shared.parts.store.sessions(query).await?)
    }

    /// One session's summary.
    ///
    /// # Errors
    /// If there is none, or the store cannot.
    pub async fn session(&self, id: SessionId) -> Result<SessionSummary, EngineError> {
        Ok(self.shared.parts.store.session(id).await?)
    }

    /// Takes a place on a session, and says how the session is at that moment.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be brought into memory.
    pub async fn join(
        &self,
        id: SessionId,
        client: Client,
        on_leave: OnLeave,
    ) -> Result<(Seat, Arc<State>), EngineError> {
        loop {
            let handle = self.shared.loaded(id).await?;
            let store = Arc::clone(&self.shared.parts.store);
            if let Some(seated) = Seat::take(handle, client.clone(), on_leave, store).await {
                return Ok(seated);
            }
        }
    }

    /// How a session is now.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be brought into memory.
    pub async fn state(&self, id: SessionId) -> Result<Arc<State>, EngineError> {
        loop {
            let handle = self.shared.loaded(id).await?;
            if let Some(state) = handle.ask(|answer| Command::State { answer }).await {
                return Ok(state);
            }
        }
    }

    /// Removes a session and its journal. A running turn is cut first, and everybody on it is told.
    ///
    /// # Errors
    /// If there is no such session, or the store cannot.
    pub async fn delete_session(&self, id: SessionId) -> Result<(), EngineError> {
        self.shared.parts.store.session(id).await?;
        let slot = Arc::clone(self.shared.sessions().entry(id).or_default());
        // Held until the journal is gone: whoever comes meanwhile waits, and then finds nothing.
        let mut place = slot.lock().await;
        if let Some(handle) = place.take() {
            // Nobody answering means that it has just left memory by itself.
            let _ = handle.ask(|answer| Command::Close { why: FeedClosed::Deleted, answer }).await;
        }
        let deleted = self.shared.parts.store.delete_session(id).await;
        drop(place);
        drop(slot);
        self.shared.forget_session_now(id);
        Ok(deleted?)
    }

    /// How many sessions are in memory, or on their way there.
    pub fn loaded_sessions(&self) -> usize {
        self.shared.sessions().len()
    }

    /// Stops: running turns are closed as interrupted, questions keep waiting in the journal.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_trusted(&self, root: &Path) -> bool {
        self.trust.is_trusted(root)
    }

    /// Our own directories, which no command may see.
    pub(crate) fn own_directories(&self) -> Vec<PathBuf> {
        let mut own = self.settings.hidden.clone();
        own.push(self.settings.data.clone());
        own
    }

    /// Where unfinished changes are recorded.
    pub(crate) fn apply_journal(&self) -> PathBuf {
        self.settings.data.join("applying")
    }

    /// A session in memory.
    pub(crate) async fn loaded(self: &Arc<Self>, id: SessionId) -> Result<SessionHandle, EngineError> {
        if self.stop.is_cancelled() {
            return Err(EngineError::Stopping);
        }
        let slot = Arc::clone(self.sessions().entry(id).or_default());
        let place = Arc::clone(&slot).lock_owned().await;
        if let Some(handle) = place.as_ref().filter(|handle| !handle.commands.is_closed()) {
            return Ok(handle.clone());
        }
        drop(slot);
        // In a task of its own: who asked may give up meanwhile, and a loading cut in the middle could leave a write
        // under way that the next loading does not see.
        let loading = self.tasks.spawn(Arc::clone(self).load_into(place, id));
        match loading.await {
            Ok(loaded) => loaded,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(EngineError::Stopping),
        }
    }

    async fn load_into(
        self: Arc<Self>,
        mut place: OwnedMutexGuard<Option<SessionHandle>>,
        id: SessionId,
    ) -> Result<SessionHandle, EngineError> {
        match session::load(&self, id).await {
            Ok(handle) => Ok(place.insert(handle).clone()),
            Err(error) => {
                drop(place);
                self.forget_session_now(id);
                Err(error)
            }
        }
    }

    /// Takes a session out of memory, unless something has been asked of it meanwhile.
    pub(crate) fn forget_session(&self, id: SessionId, commands: &mut mpsc::Receiver<Command>) -> bool {
        let mut sessions = self.sessions();
        if !commands.is_empty() {
            return false;
        }
        // From here on whoever asks finds it closed and loads it again.
        commands.close();
        forget(&mut sessions, id);
        true
    }

    pub(crate) fn forget_session_now(&self, id: SessionId) {
        forget(&mut self.sessions(), id);
    }

    /// A workspace in use, shared by all who use it.
    pub(crate) async fn open_workspace(
        self: &Arc<Self>,
        id: WorkspaceId,
    ) -> Result<Arc<OpenWorkspace>, EngineError> {
        let known = |shared: &Self| {
            let workspaces = shared.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
            workspaces.get(&id).and_then(Weak::upgrade)
        };
        if let Some(open) = known(self) {
            return Ok(open);
        }
        let workspace = self.parts.store.workspace(id).await?;
        let shared = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || OpenWorkspace::open(&shared, workspace)).await;
        let reason = |error: tokio::task::JoinError| EngineError::Workspace {
            workspace: id,
            reason: error.to_string(),
        };
        let opened = Arc::new(opened.map_err(reason)??);
        let mut workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        // Two may have opened it at once: everybody uses the one that was first, since it guards the files.
        if let Some(first) = workspaces.get(&id).and_then(Weak::upgrade) {
            return Ok(first);
        }
        workspaces.insert(id, Arc::downgrade(&opened));
        Ok(opened)
    }
}

/// Takes a session's slot off the map, unless somebody is about to look into it: two slots for one session would be
/// two tasks that both think they own it. Slots are only handed out under the lock the caller holds.
fn forget(sessions: &mut HashMap<SessionId, Slot>, id: SessionId) {
    if sessions.get(&id).is_some_and(|slot| Arc::strong_count(slot) == 1) {
        sessions.remove(&id);
    }
}
