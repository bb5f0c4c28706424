//! How turns end, seen from their session.

use loggia_domain::{
    Actor as Who, CallId, ClientId, ContentHash, EventBody, Executor, FileChange, PatchFailure, PatchId,
    StoreError, ToolOutcome, TurnEnd,
};

use crate::session::actor::{Actor, CutCommand};
use crate::session::closing::closing;
use crate::session::running::{Cut, HandedOut};
use crate::session::state::Status;
use crate::turn::{Chosen, applied_events};

/// What the disk shows of patches that a client did not report on.
struct Seen {
    call: CallId,
    client: ClientId,
    made: Vec<Chosen>,
    files: Vec<FileChange>,
    /// Files that are neither what they were nor what they were to be, or cannot be looked at.
    unknown: Vec<(PatchId, PatchFailure)>,
}

impl Actor {
    /// Cuts the turn under way in somebody's name.
    pub(super) async fn cancel_turn(&mut self, by: Who) -> Result<(), StoreError> {
        self.end_turn(TurnEnd::Cancelled, Some(by)).await
    }

    /// Cuts the turn under way and closes it.
    async fn end_turn(&mut self, end: TurnEnd, by: Option<Who>) -> Result<(), StoreError> {
        // The model stops and a command is killed here, whatever they were doing.
        let cut = match self.turn.take() {
            Some(turn) => turn.stop().await,
            None => Cut::default(),
        };
        self.waiting.clear();
        let turn = self.turn_id();
        let reply = self.handle.feed.running_reply().filter(|reply| Some(reply.turn) == turn);
        let mut events = closing(&self.state, end, reply);
        if let Some(patches) = cut.handed_out {
            let seen = self.seen_of(patches).await;
            events = with_seen(events, seen);
        }
        if let Some(EventBody::TurnEnded { by: ended, .. }) = events.last_mut() {
            *ended = by;
        }
        self.record(turn, events).await?;
        if let (Some((call, watch)), Some(turn)) = (cut.command, turn) {
            self.unsettled = Some(CutCommand { turn, call, watch });
        }
        self.handle.feed.rest();
        Ok(())
    }

    /// What a client has made of the patches it was given and has not reported on: the disk says so. What it writes
    /// after this moment is its own affair.
    async fn seen_of(&self, patches: HandedOut) -> Seen {
        let HandedOut { call, client, chosen, before, wanted } = patches;
        let store = &self.shared.parts.store;
        let untouched: Vec<Option<ContentHash>> =
            before.iter().map(|state| state.map(|state| state.hash)).collect();
        let (files, unfit) = self.workspace.look_after(store, before, wanted, &chosen).await;
        let is_untouched = |id: PatchId, failure: &PatchFailure| {
            let place = chosen.iter().position(|(patch, _)| patch.id == id);
            let was = place.and_then(|place| untouched.get(place));
            matches!(failure, PatchFailure::Conflict { found } if was == Some(found))
        };
        // Those that are as they were are withdrawn like everything else.
        let unknown: Vec<(PatchId, PatchFailure)> =
            unfit.iter().filter(|(id, failure)| !is_untouched(*id, failure)).cloned().collect();
        let made: Vec<Chosen> =
            chosen.into_iter().filter(|(patch, _)| unfit.iter().all(|(id, _)| *id != patch.id)).collect();
        Seen { call, client, made, files, unknown }
    }

    /// The turn's task has ended by itself. It has recorded its end, or says here what that is.
    pub(super) async fn turn_ended(&mut self, end: TurnEnd) -> Result<(), StoreError> {
        if self.state.turn.is_some() {
            self.end_turn(end, None).await?;
        }
        self.turn = None;
        self.handle.feed.rest();
        Ok(())
    }

    /// The session is to leave memory. A turn that waits for an answer waits on in the journal; any other is
    /// closed as interrupted.
    pub(super) async fn stop_turn(&mut self) -> Result<(), StoreError> {
        match self.state.status() {
            Status::Running => self.end_turn(TurnEnd::Interrupted, None).await,
            Status::Waiting | Status::Idle | Status::Closed => {
                self.turn = None;
                Ok(())
            }
        }
    }

    /// What a command did before it was cut belongs to its turn, so that it can be undone.
    pub(super) async fn settle_cut_command(&mut self) -> Result<(), StoreError> {
        let Some(CutCommand { turn, call, watch }) = self.unsettled.take() else { return Ok(()) };
        let found = watch.changes_of_killed(&self.shared.parts.store).await;
        let cut = self.state.cut.as_ref().filter(|(cut, _)| cut.id == turn);
        let needs_checkpoint = cut.is_some_and(|(cut, _)| cut.checkpoint.is_none());
        let events = found.events(call, needs_checkpoint);
        match events.is_empty() {
            true => Ok(()),
            false => self.record(Some(turn), events).await,
        }
    }
}

/// The end of a turn with what a client is seen to have written: it can be undone, and a model that goes on with
/// the turn knows of it.
fn with_seen(closing: Vec<EventBody>, seen: Seen) -> Vec<EventBody> {
    let Seen { call, client, made, files, unknown } = seen;
    let mut events = applied_events(&made, &[], Executor::Client(client), &files);
    let dropped = |(patch, failure): (PatchId, PatchFailure)| EventBody::PatchDropped { patch, failure };
    events.extend(unknown.into_iter().map(dropped));
    let settled: Vec<PatchId> = events.iter().filter_map(settles).collect();
    let told = what_became(&made, settled.len() > made.len());
    for mut event in closing {
        if settles(&event).is_some_and(|patch| settled.contains(&patch)) {
            continue;
        }
        if let EventBody::ToolEnded { call: of, outcome, files: changed, .. } = &mut event
            && *of == call
            && let Some(message) = &told
        {
            *outcome = ToolOutcome::Failed { message: message.clone() };
            *changed = files.clone();
        }
        events.push(event);
    }
    events
}

/// The patch an event is the end of.
fn settles(event: &EventBody) -> Option<PatchId> {
    match event {
        EventBody::PatchApplied { patch, .. } | EventBody::PatchDropped { patch, .. } => Some(*patch),
        _ => None,
    }
}

/// What a model is told of a call that was cut while a client wrote; nothing if nothing was written.
fn what_became(made: &[Chosen], some_unknown: bool) -> Option<String> {
    let paths: Vec<String> = made.iter().map(|(patch, _)| format!("`{}`", patch.path)).collect();
    let made = (!paths.is_empty()).then(|| format!(" Changed as wanted: {}.", paths.join(", ")));
    let unknown = some_unknown.then_some(" Other files of it changed in another way: read them again.");
    match (made, unknown) {
        (None, None) => None,
        (made, unknown) => {
            let (made, unknown) = (made.unwrap_or_default(), unknown.unwrap_or_default());
            Some(format!("Cancelled before it was done.{made}{unknown}"))
        }
    }
}
