//! One life of an engine: from its start over what an earlier one left to its stop or death.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{Abilities, Actor, Client, ClientId, Door, Event, Preset, Role, Seq, SessionId, Store};
use loggia_engine::{Engine, NewSession, NoGuests, OnLeave, Parts, Seat, Settings, State, Subscription};
use loggia_runner::CommandRunner;
use loggia_tests::{Layer, open_store};
use loggia_wire::child::Keeper;

use super::fuse::Fuse;
use super::heard::{Heard, Listener};
use super::puppet::{Hand, Puppet};
use super::steps::{CLIENTS, Manner};
use crate::KEEPER;

const MORE_THAN_ANY_RUN_HAS: usize = 100_000;

/// An engine and everybody on its one session.
pub(super) struct Life {
    pub(super) engine: Engine,
    pub(super) store: Arc<dyn Store>,
    /// What its store dies of.
    pub(super) fuse: Arc<Fuse>,
    pub(super) session: SessionId,
    pub(super) guests: [Option<Guest>; CLIENTS],
    /// What the life before left.
    pub(super) found: Vec<Event>,
    /// Somebody who is always there and may do nothing.
    _watcher: Seat,
    pub(super) told: Subscription,
}

/// Somebody on the session.
pub(super) struct Guest {
    pub(super) client: Client,
    pub(super) seat: Seat,
    pub(super) listener: Listener,
}

impl Life {
    /// Starts an engine in a directory. Without a session it opens one.
    pub(super) async fn begin(
        directory: &Path,
        puppet: &Arc<Puppet>,
        preset: Preset,
        session: Option<SessionId>,
    ) -> Self {
        let fuse = Fuse::new();
        let store = Layer::over(open_store(directory), Arc::clone(&fuse));
        let found = match session {
            Some(session) => store.events(session, Seq(0), MORE_THAN_ANY_RUN_HAS).await.unwrap(),
            None => Vec::new(),
        };
        let keeper = Keeper::new(KEEPER, ["keep"]);
        let parts = Parts {
            store: Arc::clone(&store),
            models: Arc::new(Hand(Arc::clone(puppet))),
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories: loggia_engine::NoRepository::finder(),
            sources: Arc::new(|_| Vec::new()),
            runner: Arc::new(CommandRunner::new(keeper, loggia_runner::Settings::default())),
            index: Arc::new(|_| None),
            guests: Arc::new(NoGuests),
            desks: loggia_engine::Desks::default(),
        };
        let engine = Engine::start(parts, Settings::new(directory.join("data"))).await.unwrap();
        let session = match session {
            Some(session) => session,
            None => {
                let workspace = engine.register_workspace(&directory.join("work"), None).await.unwrap();
                let new = NewSession { preset: Some(preset), ..NewSession::new(workspace.id) };
                engine.open_session(new, Actor::Engine).await.unwrap()
            }
        };
        let watcher = client("watcher", Role::Watch, false);
        let (watcher, state) = engine.join(session, watcher, OnLeave::Keep).await.unwrap();
        let told = watcher.subscribe(state.last_seq);
        Self { engine, store, fuse, session, guests: Default::default(), found, _watcher: watcher, told }
    }

    pub(super) async fn state(&self) -> Arc<State> {
        self.engine.state(self.session).await.unwrap()
    }

    /// The events of a session after a number.
    pub(super) async fn events(&self, session: SessionId, after: Seq) -> Vec<Event> {
        self.store.events(session, after, MORE_THAN_ANY_RUN_HAS).await.unwrap()
    }

    /// Somebody takes a place; whoever had it before has gone.
    pub(super) async fn join(&mut self, who: usize, manner: Manner) {
        let role = if manner.watches { Role::Watch } else { Role::Drive };
        let client = client(["alice", "bob", "carol"][who], role, manner.auto_approves);
        let on_leave = if manner.aborts { OnLeave::Abort } else { OnLeave::Keep };
        self.guests[who] = None;
        let (seat, state) = self.engine.join(self.session, client.clone(), on_leave).await.unwrap();
        let subscription = seat.subscribe(Seq(state.last_seq.0 * manner.from / 100));
        let listener = match manner.eager {
            true => Listener::eager(subscription),
            false => Listener::lazy(subscription),
        };
        self.guests[who] = Some(Guest { client, seat, listener });
    }

    /// Whoever has this place; somebody new if nobody has.
    pub(super) async fn guest(&mut self, who: usize) -> &mut Guest {
        if self.guests[who].is_none() {
            self.join(who, DRIVES).await;
        }
        self.guests[who].as_mut().expect("just joined")
    }

    /// What everybody was told.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.guests.iter().flatten().map(|guest| guest.listener.heard()).collect()
    }
}

/// Somebody who drives and hears everything from now on.
pub(super) const DRIVES: Manner =
    Manner { watches: false, auto_approves: false, aborts: false, eager: true, from: 100 };

pub(super) fn client(name: &str, role: Role, auto_approves: bool) -> Client {
    let abilities = Abilities { auto_approves, ..Abilities::default() };
    Client { id: ClientId::new(), name: name.to_owned(), door: Door::Inside, role, abilities }
}
