//! One connection: who it is, what it wants, and the session it is on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door as Way, Intent, ModelCatalogue, ModelName, OwnInstructions,
    Role, SessionId, SessionQuery, StoreError, ThinkingControl, Timestamp, Workspace,
};
use loggia_engine::{Engine, EngineError, NewSession, OnLeave, State};
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
}

impl StartError {
    /// As the client is told.
    pub(crate) fn to_error(&self) -> ErrorObject {
        let reason = self.to_string();
        let data = json!({ "kind": "initialization_failed", "stage": "startup", "retryable": false });
        let workspace = matches!(self, Self::Engine(EngineError::Root(_) | EngineError::OwnDirectory(_)));
        let flags = matches!(
            self,
            Self::Launch(
                LaunchError::Yolo(_)
                    | LaunchError::NoSuchSession(_)
                    | LaunchError::LongInstructions { .. }
                    | LaunchError::UnreadableInstructions { .. }
            )
        );
        if workspace || flags {
            return ErrorObject::internal(reason).with_data(data);
        }
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
            StartWith::Resume(id) | StartWith::Fork(Some(id)) => Some(*id),
            StartWith::Latest | StartWith::Fork(None) => door.latest(&workspace).await?,
        };
        let place = match (session, &door.launch.session) {
            (None, _) => door.open(workspace).await?,
            (Some(id), StartWith::Fork(_)) => door.fork(id).await?,
            (Some(id), _) => door.resume(id).await?,
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
        let place = self.join(id, workspace, false).await?;
        self.set_instructions(&place).await;
        self.set_thinking(&place).await;
        Ok(place)
    }

    /// Has the model told what the launch says, if it does.
    async fn set_instructions(&self, place: &Place) {
        let instructions = self.launch.instructions.clone();
        if instructions == OwnInstructions::default() {
            return;
        }
        if let Err(error) = place.seat.intend(Intent::SetInstructions { instructions }).await {
            tracing::warn!(session = %place.seat.session(), %error, "the model is not told what the client wants");
        }
    }

    /// A place on a copy of a session there is, as it is now. That one is left as it is.
    async fn fork(&self, from: SessionId) -> Result<Place, StartError> {
        let engine = &self.parts.engine;
        let at = engine.session(from).await?.last_seq;
        let id = engine.fork_session(from, at, Actor::from(&self.client)).await?;
        let place = self.resume(id).await;
        if place.is_err()
            && let Err(error) = engine.delete_session(id).await
        {
            tracing::debug!(session = %id, %error, "a copy that cannot be used stays");
        }
        place
    }

    /// A place on a session there is.
    pub(crate) async fn resume(&self, id: SessionId) -> Result<Place, StartError> {
        let summary = self.parts.engine.session(id).await?;
        if summary.closed {
            return Err(EngineError::from(StoreError::NoSuchSession(id)).into());
        }
        let workspace = self.parts.engine.workspace(summary.workspace).await?;
        let place = self.join(id, workspace, true).await?;
        if let Some(model) = &self.launch.model {
            let chosen = place.seat.intend(Intent::SetModel { model: ModelName(model.clone()) }).await;
            if let Err(error) = chosen {
                tracing::warn!(session = %id, %error, "the model of a resumed session stays what it was");
            }
        }
        self.set_instructions(&place).await;
        self.set_thinking(&place).await;
        Ok(place)
    }

    /// Has the model think as much as the launch says, if it does.
    async fn set_thinking(&self, place: &Place) {
        let Some(level) = self.launch.thinking else { return };
        if let Err(error) = place.seat.intend(Intent::SetThinking { thinking: level.thinking() }).await {
            tracing::warn!(session = %place.seat.session(), %error, "the model thinks as much as it did");
        }
    }

    /// Removes a session that this connection opened and nobody used. To be done once the connection has left it.
    pub(crate) async fn discard(&self, place: &Place) {
        if place.resumed {
            return;
        }
        let (id, me) = (place.seat.session(), place.seat.client());
        // Found out where it is removed, so that whoever comes to it in this moment does not lose it.
        let is_unused = move |state: &State, clients: &[Client]| {
            has_no_words(state) && clients.iter().all(|client| client.id == me)
        };
        if let Err(error) = self.parts.engine.delete_session_if(id, is_unused).await {
            tracing::debug!(session = %id, %error, "a session that nobody used stays");
        }
    }

    async fn join(&self, id: SessionId, workspace: Workspace, resumed: bool) -> Result<Place, EngineError> {
        // What becomes of a turn is decided when the client says that it goes; one that just vanishes may come back.
        let (seat, state) = self.parts.engine.join(id, self.client.clone(), OnLeave::Keep).await?;
        let subscription = seat.subscribe(state.last_seq);
        let model = self.facts(state.model.as_ref());
        let state = State::clone(&state);
        let teller =
            Teller::new(id, self.client.id, self.launch.end_of_turn, state, model, self.parts.engine.mask());
        Ok(Place::new(seat, workspace, teller, subscription, resumed, self.life.child_token()))
    }

    /// What is known of a model; of the default one if none is named.
    pub(crate) fn facts(&self, name: Option<&ModelName>) -> ModelFacts {
        let named = || name.map_or_else(|| ModelName::NO_PROVIDER.to_owned(), |name| name.0.clone());
        match self.parts.models.find(name) {
            Ok(model) => {
                let info = model.info();
                ModelFacts {
                    name: info.name.0,
                    window: info.context_tokens,
                    sees: info.abilities.images,
                    thinking: info.thinking,
                }
            }
            Err(_) => {
                let thinking = ThinkingControl::default();
                ModelFacts { name: named(), window: 0, sees: false, thinking }
            }
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
