//! Bringing a session back from its journal.
//!
//! What always holds:
//! - after loading, the session has no turn, or one that waits for an answer. A turn that a crash cut anywhere else is
//!   closed as interrupted, with what was kept of its reply;
//! - the turn it has is its own: one that was copied from another session or came with an import is closed, with all
//!   that was asked and answered in it;
//! - what that turn waits for is an answer to what would be done on a yes, whatever the journal says was asked; an
//!   answer that the journal has is none to go on with.

use std::sync::Arc;

use loggia_domain::{Event, EventBody, Executor, NewEvent, Seq, SessionId, StoreError, Timestamp, TurnEnd};
use tokio::sync::mpsc;

use crate::engine::Shared;
use crate::error::EngineError;
use crate::session::actor::Actor;
use crate::session::chronicle::Chronicle;
use crate::session::closing::{closing, interrupted};
use crate::session::feed::Feed;
use crate::session::mask::masked;
use crate::session::presence::Presence;
use crate::session::renewing::renewed;
use crate::session::running::Waiting;
use crate::session::seats::{Departures, Seats};
use crate::session::shown::Shown;
use crate::session::state::{CallStage, State};
use crate::session::{QUEUE, SessionHandle};

/// How much of a journal is read at a time.
const PAGE: usize = 4096;

/// Loads a session and starts its task.
pub(crate) async fn load(shared: &Arc<Shared>, id: SessionId) -> Result<SessionHandle, EngineError> {
    let state = read(shared, id).await?;
    let workspace = shared.open_workspace(state.opened.workspace).await?;
    let mut loading = Loading { shared, id, state };
    loading.recover(&workspace).await?;
    let state = loading.state;
    let (commands, receiver) = mpsc::channel(QUEUE);
    let feed = Feed::new(state.last_seq);
    let (departures, presence) = (Arc::new(Departures::default()), Arc::new(Presence::default()));
    presence.set_status(state.status());
    let shown = Arc::new(Shown::default());
    let handle = SessionHandle { id, commands, feed, departures, presence, shown };
    let actor = Actor {
        id,
        shared: Arc::clone(shared),
        workspace,
        handle: handle.clone(),
        commands: receiver,
        state: Arc::new(state),
        seats: Seats::default(),
        turn: None,
        waiting: Waiting::default(),
        unsettled: None,
        chronicle: Chronicle::new(id),
    };
    shared.announce(&handle);
    shared.tasks.spawn(actor.run());
    Ok(handle)
}

/// Reads a journal into a state.
async fn read(shared: &Shared, id: SessionId) -> Result<State, EngineError> {
    let store = &shared.parts.store;
    let mut page = store.events(id, Seq(0), PAGE).await?;
    let Some(mut state) = page.first().and_then(State::begin) else {
        return Err(match page.is_empty() {
            true => StoreError::NoSuchSession(id).into(),
            false => EngineError::BadJournal(id),
        });
    };
    let mut fold = |page: &[Event]| page.iter().for_each(|event| state.apply(event));
    while let [.., last] = page.as_slice()
        && page.len() == PAGE
    {
        // The store reads the next page while this one is folded.
        let (next, ()) = tokio::join!(store.events(id, last.seq, PAGE), async { fold(&page) });
        page = next?;
    }
    fold(&page);
    Ok(state)
}

struct Loading<'a> {
    shared: &'a Arc<Shared>,
    id: SessionId,
    state: State,
}

impl Loading<'_> {
    async fn recover(&mut self, workspace: &crate::workspace::OpenWorkspace) -> Result<(), EngineError> {
        let Some(turn) = self.state.turn.clone() else { return Ok(()) };
        // What was copied from another session is that one's affair: no command of ours, no question of ours.
        let ours = |seq: Seq| !self.state.is_copied(seq);
        let mut started = turn
            .calls
            .iter()
            .filter(|open| open.stage == CallStage::Started(Executor::Server) && ours(open.seq));
        let waits = self.state.pending.values().any(|pending| ours(pending.seq));
        if let Some(open) = started.find(|open| workspace.was_running(self.id, open.call.id)) {
            // What the command did before it was cut can be undone like everything else.
            let found = workspace.changed_before_crash(&self.shared.parts.store, self.id, open.call.id).await;
            let events = found.events(open.call.id, turn.checkpoint.is_none());
            self.append(events).await?;
        }
        if waits {
            self.append(interrupted(&self.state)).await?;
            let questions = renewed(self.shared, workspace, &self.state).await;
            if !questions.is_empty() {
                tracing::warn!(session = %self.id, "questions were about other things than would be done");
            }
            self.append(questions).await?;
            if !self.state.pending.is_empty() {
                return Ok(());
            }
        }
        let reply = self.shared.parts.store.kept_reply(self.id).await?;
        // One of an older turn was written by a task that had been cut already.
        let reply = reply.filter(|reply| reply.turn == turn.id);
        self.append(closing(&self.state, TurnEnd::Interrupted, reply)).await
    }

    async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), EngineError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let turn = self.state.turn.as_ref().map(|turn| turn.id);
        let at = Timestamp::now();
        let masker = &self.shared.masker;
        let event = |body| NewEvent { at, turn, body: masked(masker, body) };
        let events = bodies.into_iter().map(event).collect();
        let stored = self.shared.parts.store.append(self.id, events).await?;
        stored.iter().for_each(|event| self.state.apply(event));
        Ok(())
    }
}
