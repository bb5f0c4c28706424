//! The engine: all sessions and workspaces behind one handle.
//!
//! Knows which sessions are in memory and brings others there when somebody comes. Refuses to know what they do.

mod arrivals;
mod current_model;
mod images;
mod look;
mod mask;
mod search;
mod start;
mod transfer;
mod trusting;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use loggia_domain::{
    Actor, Budget, Client, EventBody, ModelName, NewEvent, Page, Policy, Preset, SessionId, SessionQuery,
    SessionSummary, Timestamp, Workspace, WorkspaceId,
};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use tokio::sync::{OwnedMutexGuard, broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use arrivals::Arrivals;
pub use images::{MAX_IMAGE_NAME, MAX_IMAGES, MAX_IMAGES_BYTES};
pub use look::LookError;
pub use mask::Mask;
pub use search::SearchError;
pub(crate) use search::masked;

use crate::counts::Counters;
use crate::engine::current_model::CurrentModel;
pub use crate::engine::current_model::chosen_model;
use crate::error::EngineError;
use crate::parts::{Parts, Settings};
use crate::policies::Policies;
use crate::secrets::Masker;
use crate::session::{self, Command, Condition, FeedClosed, OnLeave, Seat, SessionHandle, State, Status};
use crate::tasks::Desk;
use crate::trust::TrustStore;
use crate::workspace::OpenWorkspace;

/// All sessions and workspaces. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) policies: Arc<Policies>,
    pub(crate) masker: Arc<Masker>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) counters: Counters,
    current_model: CurrentModel,
    pub(crate) trust: Arc<TrustStore>,
    pub(crate) desk: Desk,
    sessions: Mutex<HashMap<SessionId, Slot>>,
    arrivals: broadcast::Sender<arrivals::Arrival>,
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

/// What the sessions in memory are doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// How many there are.
    pub loaded: usize,
    /// How many of them have a turn that runs.
    pub running: usize,
    /// How many have one that waits for an answer.
    pub waiting: usize,
    /// How many clients are on them, one that is on two counted twice.
    pub clients: usize,
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
        let (path, own) = (path.to_owned(), self.shared.own_directories());
        let opened = tokio::task::spawn_blocking(move || {
            let root = Root::open(&path, settings)?.path().to_owned();
            match own.iter().any(|own| is_related(own, &root)) {
                true => Err(EngineError::OwnDirectory(root)),
                false => Ok(root),
            }
        });
        let root = opened.await.map_err(|error| EngineError::Unfinished(error.to_string()))??;
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

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
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

    /// A workspace's policy. Touches disks.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn policy(&self, workspace: WorkspaceId) -> Result<Arc<Policy>, EngineError> {
        Ok(self.shared.policies.get(workspace)?)
    }

    /// Changes a workspace's policy, if it still has the revision the change was made for. Holds from the next
    /// call of every session on. Touches disks.
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

    /// Opens a session.
    ///
    /// # Errors
    /// If there is no such workspace, no such agent in it, or the store cannot keep it.
    pub async fn open_session(&self, new: NewSession, by: Actor) -> Result<SessionId, EngineError> {
        let place = self.shared.parts.store.workspace(new.workspace).await?;
        let NewSession { workspace, title, model, preset, budget } = new;
        // Written down with the session, which keeps it when the default changes.
        let model = model.or_else(|| self.default_model());
        self.shared.check_model(place, model.as_ref()).await?;
        let id = SessionId::new();
        let name = session::chronicle::name(&by).to_owned();
        let body =
            EventBody::SessionOpened { workspace, title, model, preset, budget, forked_from: None, by };
        let body = session::mask::masked(&self.shared.masker, body);
        let opening = NewEvent { at: Timestamp::now(), turn: None, body };
        self.shared.parts.store.append(id, vec![opening]).await?;
        tracing::info!(session = %id, %workspace, by = name, "session opened");
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
            if let Some(state) = handle.state().await {
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
        self.delete(id, None).await?;
        Ok(())
    }

    /// Removes a session that is in memory, if something holds of it and of those who are on it at that moment: whoever
    /// comes to it is there before that, and seen, or finds no session. Gives whether it was removed.
    ///
    /// # Errors
    /// If the store cannot.
    pub async fn delete_session_if(
        &self,
        id: SessionId,
        holds: impl FnOnce(&State, &[Client]) -> bool + Send + 'static,
    ) -> Result<bool, EngineError> {
        self.delete(id, Some(Condition(Box::new(holds)))).await
    }

    async fn delete(&self, id: SessionId, condition: Option<Condition>) -> Result<bool, EngineError> {
        // Held until the journal is gone: whoever comes meanwhile waits, and then finds nothing.
        let mut place = self.shared.place_of(id).await;
        let shared = Arc::clone(&self.shared);
        let delete = async move {
            let is_conditional = condition.is_some();
            let close = |answer| Command::Close { why: FeedClosed::Deleted, condition, answer };
            let closed = match place.as_ref() {
                Some(handle) => handle.ask(close).await,
                None => None,
            };
            match closed {
                Some(false) => return Ok(false),
                // It has left memory by itself, and nobody can say what holds of it.
                None if is_conditional => return Ok(false),
                Some(true) | None => *place = None,
            }
            let deleted = shared.parts.store.delete_session(id).await;
            drop(place);
            shared.forget_session_now(id);
            deleted?;
            Ok(true)
        };
        self.shared.to_its_end(delete).await
    }

    /// How many sessions are in memory, or on their way there.
    pub fn loaded_sessions(&self) -> usize {
        self.shared.sessions().len()
    }

    /// What the sessions in memory are doing. Waits for none of them.
    pub fn activity(&self) -> Activity {
        let mut activity = Activity { loaded: 0, running: 0, waiting: 0, clients: 0 };
        for slot in self.shared.sessions().values() {
            activity.loaded += 1;
            // One that is locked is on its way in or out, and does nothing yet or any more.
            let Ok(place) = slot.try_lock() else { continue };
            let Some(handle) = place.as_ref() else { continue };
            activity.clients += handle.presence.clients();
            match handle.presence.status() {
                Status::Running => activity.running += 1,
                Status::Waiting => activity.waiting += 1,
                Status::Idle | Status::Closed => {}
            }
        }
        activity
    }

    /// Stops: running turns are closed as interrupted, questions keep waiting in the journal.
    pub async fn stop(&self) {
        self.shared.parts.desks.dialogs.stop();
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut place = self.place_of(id).await;
        if let Some(handle) = place.as_ref().filter(|handle| !handle.commands.is_closed()) {
            return Ok(handle.clone());
        }
        let shared = Arc::clone(self);
        let load = async move {
            match session::load(&shared, id).await {
                Ok(handle) => Ok(place.insert(handle).clone()),
                Err(error) => {
                    drop(place);
                    shared.forget_session_now(id);
                    Err(error)
                }
            }
        };
        self.to_its_end(load).await
    }

    /// A session's place in memory, for one at a time.
    async fn place_of(&self, id: SessionId) -> OwnedMutexGuard<Option<SessionHandle>> {
        let slot = Arc::clone(self.sessions().entry(id).or_default());
        slot.lock_owned().await
    }

    /// Does something that must not stop in the middle, also if whoever asked for it has gone: what it writes to a
    /// journal is on its way then, and the next one who looks must not come before it.
    async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        match self.tasks.spawn(work).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Tasks are only cancelled when everything ends.
                Err(_) => Err(EngineError::Stopping),
            },
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

/// Whether one of our own directories is in a root, or the root in it; links on the way to ours are followed.
fn is_related(own: &Path, root: &Path) -> bool {
    let related = |own: &Path| own.starts_with(root) || root.starts_with(own);
    related(own) || own.canonicalize().is_ok_and(|real| related(&real))
}

/// Takes a session's slot off the map, unless somebody is about to look into it: two slots for one session would be
/// two tasks that both think they own it. Slots are only handed out under the lock the caller holds.
fn forget(sessions: &mut HashMap<SessionId, Slot>, id: SessionId) {
    if sessions.get(&id).is_some_and(|slot| Arc::strong_count(slot) == 1) {
        sessions.remove(&id);
    }
}
