//! Sessions: one task each, which owns the session's state.
//!
//! Knows how intents become events and who hears of them. Refuses to know wire protocols and how models, tools
//! and stores work inside.
//!
//! What always holds:
//! - one task owns a session's state and changes it only by events that are stored; nothing else touches it;
//! - intents wait in a bounded queue, and everybody hears of what came of them in the same order;
//! - nobody is told of an event before it is stored.

mod actor;
mod asks;
pub(crate) mod chronicle;
mod closing;
mod ending;
mod feed;
mod intents;
mod load;
pub(crate) mod mask;
mod presence;
mod renewing;
mod running;
mod seat;
mod seats;
mod shown;
pub(crate) mod state;

use std::sync::Arc;

use loggia_domain::{
    Abilities, Accepted, Actor as Who, Client, ClientId, EventBody, Instruction, Intent, SessionId,
    StoreError, TurnId,
};
use tokio::sync::{mpsc, oneshot};

pub(crate) use asks::{Halt, Link};
pub(crate) use feed::Feed;
pub use feed::{FeedClosed, ReplyPiece, Subscription, Told};
pub(crate) use load::load;
pub(crate) use running::{HandedOut, RunningTurn};
pub use seat::{OnLeave, Orphans, Seat};
pub use state::{
    Batch, CallStage, History, HistoryItem, MAX_APPLIED, OpenCall, OpenTurn, Opened, Pending, Queued, Said,
    StandIn, State, Status, UndoStack, Undoable, can_remember,
};
pub(crate) use state::{partly, says};

use crate::error::IntentError;
use crate::session::presence::Presence;
use crate::session::seats::Departures;
use crate::session::shown::Shown;

/// How many requests may wait for a session. More than people can send; a flood is told so.
const QUEUE: usize = 64;

/// What reaches a session's task.
#[derive(Debug)]
pub(crate) enum Command {
    /// Somebody comes.
    Join { client: Client, on_leave: OnLeave, answer: oneshot::Sender<Arc<State>> },
    /// Somebody changes what it can do.
    SetAbilities { client: ClientId, abilities: Abilities },
    /// Somebody asks for something.
    Intent { client: ClientId, intent: Intent, answer: oneshot::Sender<Result<Accepted, IntentError>> },
    /// What happened to the session's task is to be stored.
    Record { bodies: Vec<EventBody>, answer: oneshot::Sender<Result<(), StoreError>> },
    /// A turn is to do the work of a step of the session's task.
    Work {
        instruction: Box<Instruction>,
        step: String,
        by: Who,
        answer: oneshot::Sender<Result<TurnId, IntentError>>,
    },
    /// Somebody wants to know the state.
    State { answer: oneshot::Sender<Arc<State>> },
    /// Somebody wants to know who is there.
    Clients { answer: oneshot::Sender<Vec<Client>> },
    /// Somebody wants to know what nobody is left to do.
    Orphans { answer: oneshot::Sender<Orphans> },
    /// The session is to leave memory, if a condition holds. Answered with whether it does.
    Close { why: FeedClosed, condition: Option<Condition>, answer: oneshot::Sender<bool> },
}

/// Something about a session and who is on it that must hold at the moment it is looked at.
pub(crate) struct Condition(pub(crate) Box<Holds>);

type Holds = dyn FnOnce(&State, &[Client]) -> bool + Send;

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Condition").finish_non_exhaustive()
    }
}

/// A way to a session's task. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct SessionHandle {
    pub(crate) id: SessionId,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) departures: Arc<Departures>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) shown: Arc<Shown>,
}

impl SessionHandle {
    /// How the session is; nothing if its task has gone. The task is asked only if something has happened since it was
    /// asked last.
    pub(crate) async fn state(&self) -> Option<Arc<State>> {
        match self.shown.get() {
            Some(state) => Some(state),
            None => self.ask(|answer| Command::State { answer }).await,
        }
    }

    /// Asks the task something and waits for its answer; nothing if it has gone.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(command(answer)).await.ok()?;
        answered.await.ok()
    }
}
