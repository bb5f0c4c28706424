//! One connection: who it is, what it wants, and the session it is on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door as Way, Intent, ModelCatalogue, ModelName, Preset, Role,
    SessionId, SessionQuery, StoreError, Timestamp, Workspace,
};
use loggia_engine::{Engine, EngineError, NewSession, OnLeave};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::codes;
use serde_json::json;
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::approvals::Approvals;
use crate::launch::{Launch, LaunchError, StartWith};
use crate::place::{Place, has_no_words};
use crate::tell::{Ear, ModelFacts, Teller};

/// What a client is called that does not say.
const NAMELESS: &str = "autohand client";

/// What a door is made of.
#[derive(Clone)]
pub struct Parts {
    /// All sessions and workspaces.
    pub engine: Engine,
    /// The models there are; those the engine uses.
    pub models: Arc<dyn ModelCatalogue>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// Why a connection could not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// Its command line cannot be meant.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What the client wants refused would be allowed there without a question.
    #[error(
        "the session `{0}` allows more than this client may; begin a new one, or leave the restriction out"
    )]
    TooFree(SessionId),
}

impl StartError {
    /// As the client is told.
    pub(crate) fn to_error(&self) -> ErrorObject {
        let reason = self.to_string();
        let workspace = matches!(self, Self::Engine(EngineError::Root(_) | EngineError::OwnDirectory(_)));
        let flags = matches!(self, Self::Launch(LaunchError::Yolo(_) | LaunchError::NoSuchSession(_)));
        if workspace || flags || matches!(self, Self::TooFree(_)) {
            return ErrorObject::internal(reason);
        }
        let data = json!({ "kind": "initialization_failed", "stage": "startup", "retryable": false });
        ErrorObject::new(codes::INITIALIZATION_FAILED, reason).with_data(data)
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) parts: Parts,
    pub(crate) launch: Launch,
    pub(crate) client: Client,
    /// What the client has set since.
    wishes: Mutex<Wishes>,
    place: Mutex<Option<Arc<Place>>>,
    /// Held by whoever must not be interrupted by what the session tells.
    gate: Arc<tokio::sync::Mutex<()>>,
    /// The connection is to end.
    pub(crate) leave: CancellationToken,
    /// The connection has ended.
    pub(crate) life: CancellationToken,
    closing: AtomicBool,
    under_way: watch::Sender<usize>,
}

/// What a client has set.
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    /// How much it wants to be asked.
    pub(crate) approvals: Approvals,
    /// Whether changes are shown before they are written.
    pub(crate) preview: bool,
}

/// A call that is being served; dropping it says that it is answered.
pub(crate) struct UnderWay(Arc<Door>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Door {
    /// Opens what the launch asks for.
    ///
    /// # Errors
    /// If the workspace cannot be one, or the session cannot be opened.
    pub(crate) async fn start(
        parts: Parts,
        launch: Result<Launch, LaunchError>,
    ) -> Result<Arc<Self>, StartError> {
        let launch = launch?;
        let client = Client {
            id: ClientId::new(),
            name: launch.client_name.clone().unwrap_or_else(|| NAMELESS.to_owned()),
            door: Way::Rpc,
            role: Role::Drive,
            abilities: Abilities::default(),
        };
        let wishes = Wishes { approvals: launch.approvals.clone(), preview: launch.preview };
        let door = Arc::new(Self {
            parts,
            client,
            wishes: Mutex::new(wishes),
            place: Mutex::new(None),
            gate: Arc::default(),
            leave: CancellationToken::new(),
            life: CancellationToken::new(),
            closing: AtomicBool::new(false),
            under_way: watch::Sender::new(0),
            launch,
        });
        let workspace = door.parts.engine.register_workspace(&door.launch.workspace, None).await?;
        let session = match &door.launch.session {
            StartWith::Fresh => None,
            StartWith::Resume(id) => Some(*id),
            StartWith::Latest => door.latest(&workspace).await?,
        };
        let place = match session {
            None => door.open(workspace).await?,
            Some(id) => door.resume(id).await?,
        };
        door.set_place(place);
        Ok(door)
    }

    /// The session of a workspace in which something happened last; one in which nothing was said only if there is no other.
    async fn latest(&self, workspace: &Workspace) -> Result<Option<SessionId>, EngineError> {
        /// A few may have been closed for good; those are passed over.
        const LOOKED_AT: usize = 32;
        let query = SessionQuery { workspace: Some(workspace.id), limit: LOOKED_AT, cursor: None };
        let page = self.parts.engine.sessions(query).await?;
        let open = page.items.iter().filter(|session| !session.closed).map(|session| session.id);
        let newest = open.clone().next();
        for id in open {
            if !has_no_words(&self.parts.engine.peek(id).await?) {
                return Ok(Some(id));
            }
        }
        Ok(newest)
    }

    /// A place on a new session.
    pub(crate) async fn open(&self, workspace: Workspace) -> Result<Place, EngineError> {
        let new = NewSession {
            model: self.launch.model.clone().map(ModelName),
            preset: self.launch.preset,
            ..NewSession::new(workspace.id)
        };
        let id = self.parts.engine.open_session(new, Actor::from(&self.client)).await?;
        self.join(id, workspace, false).await
    }

    /// A place on a session there is. Its preset is its own: one that allows more than this client may is not gone on with.
    pub(crate) async fn resume(&self, id: SessionId) -> Result<Place, StartError> {
        let summary = self.parts.engine.session(id).await?;
        if summary.closed {
            return Err(EngineError::from(StoreError::NoSuchSession(id)).into());
        }
        let workspace = self.parts.engine.workspace(summary.workspace).await?;
        let place = self.join(id, workspace, true).await?;
        let preset = self.preset(&place).await?;
        let fits = self.launch.preset.is_none_or(|most| preset <= most);
        if !fits || !self.wishes().approvals.holds_under(preset) {
            return Err(StartError::TooFree(id));
        }
        if let Some(model) = &self.launch.model {
            let chosen = place.seat.intend(Intent::SetModel { model: ModelName(model.clone()) }).await;
            if let Err(error) = chosen {
                tracing::warn!(session = %id, %error, "the model of a resumed session stays what it was");
            }
        }
        Ok(place)
    }

    /// Removes a session that this connection opened and nobody used. To be done once the connection has left it.
    pub(crate) async fn discard(&self, place: &Place) {
        if !place.is_unused().await {
            return;
        }
        let id = place.seat.session();
        if let Err(error) = self.parts.engine.delete_session(id).await {
            tracing::debug!(session = %id, %error, "a session that nobody used stays");
        }
    }

    /// The preset in force in a session.
    pub(crate) async fn preset(&self, place: &Place) -> Result<Preset, EngineError> {
        if let Some(preset) = place.teller().state.opened.preset {
            return Ok(preset);
        }
        let (engine, workspace) = (self.parts.engine.clone(), place.workspace.id);
        let policy = tokio::task::spawn_blocking(move || engine.policy(workspace)).await;
        let policy = policy.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        Ok(policy.preset)
    }

    async fn join(&self, id: SessionId, workspace: Workspace, resumed: bool) -> Result<Place, EngineError> {
        // What becomes of a turn is decided when the client says that it goes; one that just vanishes may come back.
        let (seat, state) = self.parts.engine.join(id, self.client.clone(), OnLeave::Keep).await?;
        let subscription = seat.subscribe(state.last_seq);
        let model = self.facts(state.model.as_ref());
        let state = loggia_engine::State::clone(&state);
        let teller = Teller::new(id, self.client.id, self.launch.end_of_turn, state, model);
        Ok(Place::new(seat, workspace, teller, subscription, resumed, self.life.child_token()))
    }

    /// What is known of a model; of the default one if none is named.
    pub(crate) fn facts(&self, name: Option<&ModelName>) -> ModelFacts {
        let named = || name.map_or_else(|| ModelName::NO_PROVIDER.to_owned(), |name| name.0.clone());
        match self.parts.models.find(name) {
            Ok(model) => {
                let info = model.info();
                ModelFacts { name: info.name.0, window: info.context_tokens, sees: info.abilities.images }
            }
            Err(_) => ModelFacts { name: named(), window: 0, sees: false },
        }
    }

    /// The session this connection is on.
    pub(crate) fn place(&self) -> Arc<Place> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(place.as_ref().expect("a started door has a place"))
    }

    /// Moves to another session; gives the one left.
    pub(crate) fn set_place(&self, place: Place) -> Option<Arc<Place>> {
        let mut held = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        held.replace(Arc::new(place))
    }

    pub(crate) fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The circumstances of telling something now.
    pub(crate) fn ear(&self) -> Ear {
        let approvals = self.wishes().approvals.clone();
        Ear { now: Timestamp::now(), instant: Instant::now(), approvals }
    }

    /// Keeps what the session tells back for as long as the guard lives.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.gate).lock_owned().await
    }

    /// Counts a call until it is answered.
    pub(crate) fn serving(self: &Arc<Self>) -> UnderWay {
        self.under_way.send_modify(|count| *count += 1);
        UnderWay(Arc::clone(self))
    }

    /// Waits until every call is answered.
    pub(crate) async fn served(&self) {
        // It fails only when the sender is gone, and that is here.
        let _ = self.under_way.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Takes no more prompts.
    pub(crate) fn close(&self) {
        self.closing.store(true, Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Relaxed)
    }
}
