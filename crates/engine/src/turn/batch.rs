//! Changes that are collected now and decided about together at the turn's end.

use std::sync::Arc;
use std::time::Instant;

use loggia_domain::{
    ApprovalId, BatchId, EventBody, Executor, FileChange, FileChangeKind, Patch, PatchFailure, PatchId,
    Question, Risk, Timestamp, ToolOutcome,
};

use crate::changes::{ApplyError, ApplyKind};
use crate::session::{Batch, State};
use crate::turn::called::Called;
use crate::turn::edits::{Chosen, applied_events, choose, demand_of, failures};
// What the journal uses as the tool's name when a whole collection is asked about.
use crate::turn::guest::APPLY_CHANGES as TOOL;
use crate::turn::{Stop, Turn, end_after_batch};
use crate::workspace::Work;

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
        let (mut chosen, mut failed) = self.still_wanted(chosen).await?;
        // Each change is for itself: one that cannot be made keeps no other out. Those that can are written together, so
        // that a crash leaves all of them or none. Every round does so or takes one out.
        while let Some((first, _)) = chosen.first() {
            let unfit = match self.workspace.contents(&chosen).await {
                Err(unfit) => unfit,
                Ok(wanted) => {
                    let kind = ApplyKind::Patches(first.id);
                    let (kept, dropped, last) = (chosen.clone(), left.clone(), done.clone());
                    let unmade = failed.clone();
                    let after = move |files: Vec<FileChange>| settled(&kept, &dropped, unmade, &files, last);
                    match self.link.apply(kind, Vec::new(), Work::Change(wanted), after).await? {
                        Ok(()) => return Ok(()),
                        Err(error) => to_blame(&chosen, &error),
                    }
                }
            };
            chosen.retain(|(patch, _)| unfit.iter().all(|(id, _)| *id != patch.id));
            failed.extend(unfit);
        }
        Ok(self.link.record(settled(&[], &left, failed, &[], done)).await?)
    }

    /// Which changes may still be made, and why the others may not.
    async fn still_wanted(&self, chosen: Vec<Chosen>) -> Result<(Vec<Chosen>, Vec<Failure>), Stop> {
        let about = |chosen: &[Chosen]| {
            let patches: Vec<Patch> = chosen.iter().map(|(patch, _)| patch.clone()).collect();
            demand_of(&patches)
        };
        if self.still_allowed(TOOL, &about(&chosen)).await?.is_ok() {
            return Ok((chosen, Vec::new()));
        }
        let (mut allowed, mut forbidden) = (Vec::new(), Vec::new());
        for one in chosen {
            match self.still_allowed(TOOL, &about(std::slice::from_ref(&one))).await? {
                Ok(()) => allowed.push(one),
                Err(message) => forbidden.push((one.0.id, PatchFailure::Unwritable { message })),
            }
        }
        Ok((allowed, forbidden))
    }
}

/// A change that could not be made, and why.
type Failure = (PatchId, PatchFailure);

/// What became of every change, and the end of the turn.
fn settled(
    made: &[Chosen],
    left: &[Patch],
    failed: Vec<Failure>,
    files: &[FileChange],
    done: EventBody,
) -> Vec<EventBody> {
    let mut events = applied_events(made, left, Executor::Server, files);
    let dropped = |(patch, failure): Failure| EventBody::PatchDropped { patch, failure };
    events.extend(failed.into_iter().map(dropped));
    events.push(done);
    events
}

/// The changes that kept a set from being written, at least one; all of them if it was none in particular.
fn to_blame(chosen: &[Chosen], error: &ApplyError) -> Vec<Failure> {
    let is_to_blame = |id: PatchId| {
        chosen
            .iter()
            .any(|(patch, _)| patch.id == id && error.paths().any(|path| path.as_str() == patch.path))
    };
    let all = failures(chosen, error);
    let blamed: Vec<Failure> = all.iter().filter(|(id, _)| is_to_blame(*id)).cloned().collect();
    match blamed.is_empty() {
        false => blamed,
        true => {
            let message = error.to_string();
            let failure = PatchFailure::Unwritable { message };
            chosen.iter().map(|(patch, _)| (patch.id, failure.clone())).collect()
        }
    }
}
