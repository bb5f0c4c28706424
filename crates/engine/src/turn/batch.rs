//! Changes that are collected now and decided about together at the turn's end.

use std::sync::Arc;
use std::time::Instant;

use loggia_domain::{
    ApprovalId, BatchId, EventBody, Executor, FileChange, FileChangeKind, Patch, PatchFailure, PatchId,
    Question, Risk, Timestamp, ToolOutcome,
};

use crate::changes::ApplyKind;
use crate::session::{Batch, State};
use crate::turn::called::Called;
use crate::turn::edits::{applied_events, choose, demand_of, failures};
use crate::turn::{Stop, Turn, end_after_batch};
use crate::workspace::Work;

/// What the journal uses as the tool's name when a whole collection is asked about.
const TOOL: &str = "apply_changes";

/// Adds a call's changes to the collection. A later change to a file takes the place of an earlier one; one that
/// leads back to what the file is takes it out.
pub(super) fn collect(
    state: &State,
    open: &Called,
    patches: Vec<Patch>,
    taken_back: Vec<String>,
) -> Vec<EventBody> {
    let mut events = Vec::new();
    let batch = match &state.batch {
        Some(batch) => batch.id,
        None => {
            let batch = BatchId::new();
            events.push(EventBody::BatchStarted { batch });
            batch
        }
    };
    let mut paths: Vec<String> = patches.iter().map(|patch| patch.path.clone()).collect();
    paths.extend(taken_back);
    for earlier in collected(state).filter(|earlier| paths.contains(&earlier.path)) {
        events.push(EventBody::PatchDropped { patch: earlier.id, failure: PatchFailure::Superseded });
    }
    for patch in patches {
        let id = patch.id;
        events.push(EventBody::PatchProposed { patch });
        events.push(EventBody::ChangeCollected { batch, patch: id });
    }
    let output =
        format!("Collected for review: {}. Reading shows it; people decide at the end.", paths.join(", "));
    events.push(open.ended(ToolOutcome::Succeeded { output }, Vec::new(), None, Instant::now()));
    events
}

/// The patches collected so far.
pub(crate) fn collected(state: &State) -> impl Iterator<Item = &Patch> {
    let ids = state.batch.iter().flat_map(|batch| &batch.patches);
    ids.filter_map(|id| state.proposed.get(id)).map(Arc::as_ref)
}

/// The collection is complete: one question about all of it.
pub(super) fn complete(state: &State, batch: &Batch, expires: Option<Timestamp>) -> Vec<EventBody> {
    let (question, risk) = question_about_collected(state);
    vec![
        EventBody::BatchEnded { batch: batch.id },
        EventBody::ApprovalAsked { approval: ApprovalId::new(), call: None, question, risk, expires },
    ]
}

/// What is asked about the collection, and how much can go wrong.
pub(crate) fn question_about_collected(state: &State) -> (Question, Risk) {
    let patches: Vec<PatchId> = collected(state).map(|patch| patch.id).collect();
    let deletes = collected(state).any(|patch| patch.kind == FileChangeKind::Deleted);
    let risk = if deletes { Risk::High } else { Risk::Medium };
    (Question::Patches { tool: TOOL.to_owned(), patches }, risk)
}

impl Turn {
    /// Waits for the decision about the collection and carries it out; then the turn is over.
    pub(super) async fn decide_batch(&self, state: &State) -> Result<(), Stop> {
        let usage = state.turn.as_ref().map(|turn| turn.usage).unwrap_or_default();
        // A policy that cannot be read does not keep people from deciding; whether it is done is another matter.
        let policy = self.workspace.policy(&self.shared).await.ok();
        let end = end_after_batch(state, policy.as_deref());
        let done = EventBody::TurnEnded { end, usage, by: None };
        // It may have been answered already, by somebody who was quick or wants no questions.
        let asked = state.batch.as_ref().and_then(|batch| batch.asked);
        let Some(approval) = asked else { return Ok(self.link.record(vec![done]).await?) };
        let clearance = self.clearance(approval).await?;
        let (chosen, left) = choose(collected(state).cloned().collect(), &clearance.scope);
        let Some((first, _)) = chosen.first() else {
            let mut events = applied_events(&[], &left, Executor::Server, &[]);
            events.push(done);
            return Ok(self.link.record(events).await?);
        };
        let about: Vec<Patch> = chosen.iter().map(|(patch, _)| patch.clone()).collect();
        let allowed = self.still_allowed(TOOL, &demand_of(&about)).await?;
        let forbidden = |message: String| {
            let failure = PatchFailure::Unwritable { message };
            about.iter().map(|patch| (patch.id, failure.clone())).collect()
        };
        let contents = match allowed {
            Ok(()) => self.workspace.contents(&chosen).await,
            Err(reason) => Err(forbidden(reason)),
        };
        let failures = match contents {
            Err(failures) => failures,
            Ok(wanted) => {
                let work = Work::Change(wanted);
                let kind = ApplyKind::Patches(first.id);
                let (kept, dropped, last) = (chosen.clone(), left.clone(), done.clone());
                let after = move |files: Vec<FileChange>| {
                    let mut events = applied_events(&kept, &dropped, Executor::Server, &files);
                    events.push(last);
                    events
                };
                match self.link.apply(kind, Vec::new(), work, after).await? {
                    Ok(()) => return Ok(()),
                    Err(error) => failures(&chosen, &error),
                }
            }
        };
        let mut events = applied_events(&[], &left, Executor::Server, &[]);
        for (patch, _) in chosen {
            let failure = failures.iter().find(|(id, _)| *id == patch.id).map(|(_, failure)| failure.clone());
            let failure = failure.unwrap_or(PatchFailure::Withdrawn);
            events.push(EventBody::PatchDropped { patch: patch.id, failure });
        }
        events.push(done);
        Ok(self.link.record(events).await?)
    }
}
