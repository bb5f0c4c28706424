//! The turn under way as its session sees it: a task that asks for things, and those who wait for an answer.

use std::collections::HashMap;

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, CallId, ClientId, CommandReport, ContentHash, FileState, PatchId,
    PatchReport, TurnEnd, TurnFailure,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::session::asks::Ask;
use crate::turn::Chosen;
use crate::workspace::Watch;

/// A turn's task. Dropping it ends it at its next pause: its model stops, its command is killed.
pub(crate) struct RunningTurn {
    pub(crate) task: AbortOnDropHandle<TurnEnd>,
    pub(crate) asks: mpsc::Receiver<Ask>,
    /// The call whose command runs on this machine now, and what the files were before it.
    pub(crate) command: Option<(CallId, Watch)>,
    /// What a client is applying now.
    pub(crate) handed_out: Option<HandedOut>,
}

/// Patches of one call that a client was given to apply.
#[derive(Debug)]
pub(crate) struct HandedOut {
    pub(crate) call: CallId,
    pub(crate) client: ClientId,
    pub(crate) chosen: Vec<Chosen>,
    /// What each file was, kept for undoing.
    pub(crate) before: Vec<Option<FileState>>,
    /// What each file is to hold; nothing if it is to go.
    pub(crate) wanted: Vec<Option<ContentHash>>,
}

/// What was under way when a turn was cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) command: Option<(CallId, Watch)>,
    pub(super) handed_out: Option<HandedOut>,
}

impl RunningTurn {
    /// What the turn asks next, or how it ended. Waits for ever if there is none.
    pub(super) async fn next(turn: &mut Option<Self>) -> Result<Ask, TurnEnd> {
        let Some(turn) = turn else { return std::future::pending().await };
        // The task holds the other end; when that is gone, so is the task.
        if let Some(ask) = turn.asks.recv().await {
            return Ok(ask);
        }
        Err((&mut turn.task).await.unwrap_or_else(|error| {
            TurnEnd::Failed(TurnFailure::Internal { message: format!("the turn broke: {error}") })
        }))
    }

    /// Ends the task and waits until it has gone, so that nothing of it comes after: a piece of its reply would be
    /// told and not kept. Gives what was cut.
    pub(super) async fn stop(mut self) -> Cut {
        self.task.abort();
        // One that has ended by itself may have been asked for its end already, which can be done only once.
        if !self.task.is_finished() {
            let _ = (&mut self.task).await;
        }
        Cut { command: self.command, handed_out: self.handed_out }
    }
}

/// Those a turn waits for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) approvals: HashMap<ApprovalId, oneshot::Sender<(ApprovalAnswer, Actor)>>,
    /// Each with the client that is to report.
    pub(super) commands: HashMap<CallId, (ClientId, oneshot::Sender<CommandReport>)>,
    /// Each with the client that is to report.
    pub(super) patches: HashMap<PatchId, (ClientId, oneshot::Sender<PatchReport>)>,
    pub(super) steps: Steps,
}

/// Whether a turn that is taken step by step goes on. The word about a step may come before the turn asks for it: whoever
/// watches the journal sees the end of a step as soon as the turn does.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The newest step that was decided about, and whether it is the last.
    decided: Option<(u32, bool)>,
    asked: Option<(u32, oneshot::Sender<bool>)>,
}

impl Steps {
    /// Answers now or when the word comes.
    pub(super) fn ask(&mut self, step: u32, answer: oneshot::Sender<bool>) {
        match self.decided {
            // A turn that has gone in the meantime is not missed.
            Some((decided, stop)) if decided == step => drop(answer.send(stop)),
            _ => self.asked = Some((step, answer)),
        }
    }

    /// Takes the word about a step; false if somebody was first.
    pub(super) fn decide(&mut self, step: u32, stop: bool) -> bool {
        if self.decided.is_some_and(|(decided, _)| decided >= step) {
            return false;
        }
        self.decided = Some((step, stop));
        if let Some((_, answer)) = self.asked.take_if(|(asked, _)| *asked == step) {
            let _ = answer.send(stop);
        }
        true
    }
}

impl Waiting {
    /// Nobody waits any more.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
