//! Calls that change files: proposed as patches, decided about, applied by the server or by a client.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loggia_domain::{
    ApprovalScope, ContentHash, Decision, Demand, EventBody, Executor, FileChange, FileChangeKind, FileEdit,
    Patch, PatchFailure, PatchId, PatchReport, Question, ToolEffect, ToolOutcome,
};
use loggia_tree::TreeError;

use crate::changes::{self, ApplyError, ApplyKind, Expect, NewContent, Selected, WantedChange};
use crate::policy::{Judge, Verdict};
use crate::session::{Halt, HandedOut, State, partly, says};
use crate::turn::called::Called;
use crate::turn::calls::{Clearance, Ready, outcome_of, refused};
use crate::turn::{Turn, batch};
use crate::workspace::Work;

/// How long a client may take to apply a patch it was given. Writing a file is quick; an editor may ask its user
/// to save.
const CLIENT_APPLIES: Duration = Duration::from_secs(60);

/// A patch and which of its hunks; all if none are named.
pub(crate) type Chosen = (Patch, Option<Vec<usize>>);

impl Turn {
    /// Reads what a call would change, and proposes it. Nobody is asked about what is decided already.
    pub(super) async fn propose(
        &self,
        state: &State,
        judge: &Arc<Judge>,
        ready: Ready,
        decided: Option<Clearance>,
    ) -> Result<(), Halt> {
        let (open, verdict, effect) = self.edits_of(state, judge, ready).await;
        let edits = match effect {
            Ok(ToolEffect::Edits(edits)) => edits,
            // The files already are like this.
            Ok(ToolEffect::Output(output)) => {
                return self.end(&open, ToolOutcome::Succeeded { output }).await;
            }
            Ok(_) => return self.end(&open, failed("the tool changes nothing")).await,
            Err(error) => return self.end(&open, outcome_of(error)).await,
        };
        let edits = match self.workspace.real_paths(edits).await {
            Ok(edits) => edits,
            Err(error) => return self.end(&open, outcome_of(error)).await,
        };
        // A link inside the workspace may lead to a file with rules of its own.
        let verdict = stricter(verdict, judge.judge(&open.call.tool, &demand(&edits)));
        if verdict.decision == Decision::Deny {
            return self.end(&open, ToolOutcome::Denied { reason: verdict.reason }).await;
        }
        if state.turn.as_ref().is_some_and(|turn| turn.instruction.preview) {
            return self.collect(state, &open, edits).await;
        }
        let patches = match patches(state, &open, &edits) {
            Ok(patches) => patches,
            Err(message) => return self.end(&open, failed(message)).await,
        };
        self.decide_patches(state, &open, &verdict, patches, decided).await
    }

    /// Adds what a call would change to what is collected.
    async fn collect(&self, state: &State, open: &Called, edits: Vec<FileEdit>) -> Result<(), Halt> {
        // Against the disk, not against what was collected before: each file is decided about once.
        let edits = self.workspace.against_disk(edits).await;
        let (same, edits): (Vec<_>, Vec<_>) = edits.into_iter().partition(|edit| edit.before == edit.after);
        match patches(state, open, &edits) {
            Ok(patches) => {
                let taken_back = same.into_iter().map(|edit| edit.path).collect();
                self.link.record(batch::collect(state, open, patches, taken_back)).await
            }
            Err(message) => self.end(open, failed(message)).await,
        }
    }

    async fn decide_patches(
        &self,
        state: &State,
        open: &Called,
        verdict: &Verdict,
        patches: Vec<Patch>,
        decided: Option<Clearance>,
    ) -> Result<(), Halt> {
        let ids: Vec<PatchId> = patches.iter().map(|patch| patch.id).collect();
        // What was asked about gives way to what was wanted instead.
        let earlier = open.patches.iter().filter(|id| state.proposed.contains_key(*id));
        let superseded =
            |patch: &PatchId| EventBody::PatchDropped { patch: *patch, failure: PatchFailure::Superseded };
        let mut facts: Vec<EventBody> = earlier.map(superseded).collect();
        facts.extend(patches.iter().cloned().map(|patch| EventBody::PatchProposed { patch }));
        let clearance = match (decided, verdict.decision) {
            (Some(clearance), _) => {
                self.link.record(facts).await?;
                clearance
            }
            (None, Decision::Ask) => {
                let question = Question::Patches { tool: open.call.tool.clone(), patches: ids };
                let approval = self.ask(&open.call, question, verdict.risk, facts).await?;
                let Some(clearance) = self.clearance_of(&open.call, approval).await? else { return Ok(()) };
                clearance
            }
            (None, Decision::Allow | Decision::Deny) => {
                self.link.record(facts).await?;
                Clearance { scope: ApprovalScope::All, by: None, comment: None }
            }
        };
        self.apply_chosen(open, patches, clearance).await
    }

    /// Goes on with patches that were proposed before.
    pub(super) async fn apply_patches(
        &self,
        state: &State,
        open: &Called,
        clearance: Clearance,
    ) -> Result<(), Halt> {
        let proposed = open.patches.iter().filter_map(|id| state.proposed.get(id));
        let patches = proposed.map(|patch| Patch::clone(patch)).collect();
        self.apply_chosen(open, patches, clearance).await
    }

    async fn apply_chosen(
        &self,
        open: &Called,
        patches: Vec<Patch>,
        clearance: Clearance,
    ) -> Result<(), Halt> {
        let (chosen, left) = choose(patches, &clearance.scope);
        if chosen.is_empty() {
            let mut events: Vec<EventBody> = left.iter().map(|patch| refusal(patch.id)).collect();
            events.push(open.ended(refused(clearance.comment.as_deref()), Vec::new(), None, Instant::now()));
            return self.link.record(events).await;
        }
        let about: Vec<Patch> = chosen.iter().map(|(patch, _)| patch.clone()).collect();
        if let Err(reason) = self.still_allowed(&open.call.tool, &demand_of(&about)).await? {
            return self.end(open, ToolOutcome::Denied { reason }).await;
        }
        let told = what_became(&chosen, &left, clearance.comment.as_deref());
        match self.link.executor(clearance.by, |abilities| abilities.applies_patches).await? {
            Executor::Server => self.server_applies(open, chosen, left, told).await,
            Executor::Client(client) => self.client_applies(open, client, chosen, left, told).await,
        }
    }

    async fn server_applies(
        &self,
        open: &Called,
        chosen: Vec<Chosen>,
        left: Vec<Patch>,
        told: String,
    ) -> Result<(), Halt> {
        let began = Instant::now();
        let wanted = match self.workspace.contents(&chosen).await {
            Ok(wanted) => Work::Change(wanted),
            Err(failures) => return self.not_applied(open, chosen, left, failures, began).await,
        };
        let started = EventBody::ToolStarted { call: open.call.id, executor: Executor::Server };
        let (called, kept, dropped) = (open.clone(), chosen.clone(), left.clone());
        let applied = self
            .link
            .apply(ApplyKind::Patches(chosen[0].0.id), vec![started], wanted, move |files| {
                let mut events = applied_events(&kept, &dropped, Executor::Server, &files);
                let outcome = ToolOutcome::Succeeded { output: told };
                events.push(called.ended(outcome, files, None, began));
                events
            })
            .await?;
        match applied {
            Ok(()) => Ok(()),
            Err(error) => {
                let failures = failures(&chosen, &error);
                self.not_applied(open, chosen, left, failures, began).await
            }
        }
    }

    /// A client applies; what the disk holds afterwards decides, whatever was or was not reported.
    async fn client_applies(
        &self,
        open: &Called,
        client: loggia_domain::ClientId,
        chosen: Vec<Chosen>,
        left: Vec<Patch>,
        told: String,
    ) -> Result<(), Halt> {
        let began = Instant::now();
        let executor = Executor::Client(client);
        let wanted = match self.workspace.contents(&chosen).await {
            Ok(wanted) => wanted,
            Err(failures) => return self.not_applied(open, chosen, left, failures, began).await,
        };
        let mut facts = vec![EventBody::ToolStarted { call: open.call.id, executor }];
        facts.extend(self.checkpoint().await?);
        let wanted: Vec<Option<ContentHash>> = wanted.iter().map(hash_after).collect();
        let before = match self.workspace.kept_states(&self.shared.parts.store, &chosen).await {
            Ok(before) => before,
            Err(message) => return self.end(open, failed(message)).await,
        };
        // Before the client is told: it may be quick, and report in any order.
        let mut reports = Vec::new();
        for (patch, _) in &chosen {
            reports.push(self.link.expect_patch_report(patch.id, client).await?);
        }
        let (call, kept) = (open.call.id, before.clone());
        self.link
            .hand_out(HandedOut {
                call,
                client,
                chosen: chosen.clone(),
                before: kept,
                wanted: wanted.clone(),
            })
            .await?;
        self.link.record(facts).await?;
        let mut failures = Vec::new();
        for ((patch, _), report) in chosen.iter().zip(reports) {
            // No report in time, or a client that went: the disk says what became of it.
            if let Ok(Ok(report)) = tokio::time::timeout(CLIENT_APPLIES, report).await
                && let Some(failure) = reported(report)
            {
                failures.push((patch.id, failure));
            }
        }
        let store = &self.shared.parts.store;
        let (files, unfit) = self.workspace.look_after(store, before, wanted, &chosen).await;
        for (patch, failure) in unfit {
            if failures.iter().all(|(failed, _)| *failed != patch) {
                failures.push((patch, failure));
            }
        }
        let (made, failed): (Vec<Chosen>, Vec<Chosen>) =
            chosen.into_iter().partition(|(patch, _)| failures.iter().all(|(id, _)| *id != patch.id));
        let mut events = applied_events(&made, &left, executor, &files);
        events.extend(
            failures
                .iter()
                .map(|(patch, failure)| EventBody::PatchDropped { patch: *patch, failure: failure.clone() }),
        );
        let outcome = match failed.is_empty() {
            true => ToolOutcome::Succeeded { output: told },
            false => ToolOutcome::Failed { message: why_some_not(&failures, &failed) },
        };
        events.push(open.ended(outcome, files, None, began));
        self.link.record(events).await
    }

    /// Nothing was written: every patch is dropped, and the model told why.
    async fn not_applied(
        &self,
        open: &Called,
        chosen: Vec<Chosen>,
        left: Vec<Patch>,
        failures: Vec<(PatchId, PatchFailure)>,
        began: Instant,
    ) -> Result<(), Halt> {
        let message = why_not(&failures, &chosen);
        let failure_of = |id: PatchId| failures.iter().find(|(patch, _)| *patch == id);
        let mut events: Vec<EventBody> = left.iter().map(|patch| refusal(patch.id)).collect();
        for (patch, _) in &chosen {
            // All or none: one that does not fit keeps the others out, too.
            let failure =
                failure_of(patch.id).map_or(PatchFailure::Withdrawn, |(_, failure)| failure.clone());
            events.push(EventBody::PatchDropped { patch: patch.id, failure });
        }
        events.push(open.ended(ToolOutcome::Failed { message }, Vec::new(), None, began));
        self.link.record(events).await
    }

    /// The turn's checkpoint, if it has none yet.
    pub(super) async fn checkpoint(&self) -> Result<Option<EventBody>, Halt> {
        let state = self.link.state().await?;
        let none_yet = state.turn.as_ref().is_some_and(|turn| turn.checkpoint.is_none());
        let checkpoint = loggia_domain::CheckpointId::new();
        Ok(none_yet.then_some(EventBody::CheckpointTaken { checkpoint }))
    }
}

/// What each file is to be.
pub(crate) fn wanted(path: loggia_tree::TreePath, patch: &Patch, selected: Selected) -> WantedChange {
    let expect = patch.base.map_or(Expect::Absent, Expect::Hash);
    let after = match selected {
        Selected::Content(bytes) => Some(NewContent::File { bytes, mode: None }),
        Selected::Deleted => None,
    };
    WantedChange { path, expect, after }
}

/// What is wrong with a set that could not be applied, patch by patch.
pub(super) fn failures(chosen: &[Chosen], error: &ApplyError) -> Vec<(PatchId, PatchFailure)> {
    let failure = |(patch, _): &Chosen| {
        let failure = match error {
            ApplyError::Conflict(conflicts) => {
                let conflict = conflicts.iter().find(|conflict| conflict.path.as_str() == patch.path)?;
                PatchFailure::Conflict { found: conflict.found.hash() }
            }
            // Which file it is will be said.
            ApplyError::Unwritable { path, source: TreeError::Io { source, .. } }
                if path.as_str() == patch.path =>
            {
                PatchFailure::Unwritable { message: source.to_string() }
            }
            error => PatchFailure::Unwritable { message: error.to_string() },
        };
        Some((patch.id, failure))
    };
    chosen.iter().filter_map(failure).collect()
}

/// What a changed file is to hold; nothing if it is to go.
fn hash_after(wanted: &WantedChange) -> Option<ContentHash> {
    match &wanted.after {
        Some(NewContent::File { bytes, .. }) => Some(ContentHash::of(bytes)),
        Some(NewContent::Link { target }) => Some(ContentHash::of(target)),
        Some(NewContent::Kept(state)) => Some(state.hash),
        None => None,
    }
}

fn failed(message: impl Into<String>) -> ToolOutcome {
    ToolOutcome::Failed { message: message.into() }
}

fn stricter(one: Verdict, other: Verdict) -> Verdict {
    match one.decision >= other.decision {
        true => one,
        false => other,
    }
}

/// What patches touch.
pub(super) fn demand_of(patches: &[Patch]) -> Demand {
    let mut demand = Demand::default();
    for patch in patches {
        match patch.kind {
            FileChangeKind::Deleted => demand.deletes.push(patch.path.clone()),
            FileChangeKind::Created | FileChangeKind::Modified => demand.writes.push(patch.path.clone()),
        }
    }
    demand
}

fn demand(edits: &[FileEdit]) -> Demand {
    let mut demand = Demand::default();
    for edit in edits {
        match edit.after {
            Some(_) => demand.writes.push(edit.path.clone()),
            None => demand.deletes.push(edit.path.clone()),
        }
    }
    demand
}

/// The proposed patches of a call. What the model gave no reason for gets one from the plan.
fn patches(state: &State, open: &Called, edits: &[FileEdit]) -> Result<Vec<Patch>, String> {
    let step = state.plan.as_ref().and_then(|plan| plan.steps.get(plan.current));
    let patch = |edit: &FileEdit| {
        let plain = format!("The agent's `{}` call.", open.call.tool);
        let fallback = step.map_or(plain, |step| step.description.clone());
        changes::propose(edit, open.call.id, &fallback).map_err(|error| error.to_string())
    };
    edits.iter().map(patch).collect()
}

/// What people took, and what they left.
pub(super) fn choose(patches: Vec<Patch>, scope: &ApprovalScope) -> (Vec<Chosen>, Vec<Patch>) {
    let (mut chosen, mut left) = (Vec::new(), Vec::new());
    for patch in patches {
        let hunks = match scope {
            ApprovalScope::None => None,
            ApprovalScope::All => Some(None),
            ApprovalScope::Patches(ids) => ids.contains(&patch.id).then_some(None),
            ApprovalScope::Hunks(hunks) => {
                let named = hunks_of(patch.id, hunks);
                let some = named.len() < patch.hunks.len();
                (!named.is_empty()).then_some(Some(named).filter(|_| some))
            }
        };
        match hunks {
            Some(hunks) => chosen.push((patch, hunks)),
            None => left.push(patch),
        }
    }
    (chosen, left)
}

/// The hunks an answer names of a patch, in order. It may name a patch several times.
fn hunks_of(patch: PatchId, named: &[(PatchId, Vec<usize>)]) -> Vec<usize> {
    let of_it = named.iter().filter(|(id, _)| *id == patch);
    let hunks: BTreeSet<usize> = of_it.flat_map(|(_, hunks)| hunks).copied().collect();
    hunks.into_iter().collect()
}

fn refusal(patch: PatchId) -> EventBody {
    EventBody::PatchDropped { patch, failure: PatchFailure::Refused }
}

/// What was taken is applied, with what that did to the files; what was left is refused.
pub(crate) fn applied_events(
    chosen: &[Chosen],
    left: &[Patch],
    executor: Executor,
    files: &[FileChange],
) -> Vec<EventBody> {
    let applied = chosen.iter().map(|(patch, hunks)| EventBody::PatchApplied {
        patch: patch.id,
        hunks: hunks.clone(),
        executor,
        change: files.iter().find(|change| change.path == patch.path).cloned(),
    });
    applied.chain(left.iter().map(|patch| refusal(patch.id))).collect()
}

/// What the model is told: what is in the files, and what people did not want there.
fn what_became(chosen: &[Chosen], left: &[Patch], comment: Option<&str>) -> String {
    let mut lines = Vec::new();
    for (patch, hunks) in chosen {
        match hunks {
            None => lines.push(format!("Applied to `{}`.", patch.path)),
            Some(hunks) => lines.push(partly(patch, hunks)),
        }
    }
    lines.extend(
        left.iter().map(|patch| format!("The change to `{}` was refused; it is as it was.", patch.path)),
    );
    lines.extend(comment.map(says));
    lines.join("\n")
}

/// The cause comes first: people are shown the first line.
fn why_not(failures: &[(PatchId, PatchFailure)], patches: &[Chosen]) -> String {
    format!("{}\nNothing of it was written.", why_some_not(failures, patches))
}

fn why_some_not(failures: &[(PatchId, PatchFailure)], patches: &[Chosen]) -> String {
    let line = |(patch, _): &Chosen| {
        let (_, failure) = failures.iter().find(|(id, _)| *id == patch.id)?;
        let path = &patch.path;
        Some(match failure {
            PatchFailure::Conflict { .. } => {
                format!(
                    "`{path}` has changed since you looked at it. Read it again, then make the change anew."
                )
            }
            PatchFailure::Unwritable { message } => format!("`{path}` could not be written: {message}"),
            PatchFailure::Refused | PatchFailure::Superseded | PatchFailure::Withdrawn => {
                format!("The change to `{path}` was not made.")
            }
        })
    };
    let lines: Vec<String> = patches.iter().filter_map(line).collect();
    lines.join("\n")
}

fn reported(report: PatchReport) -> Option<PatchFailure> {
    match report {
        PatchReport::Applied { .. } => None,
        PatchReport::Conflict => Some(PatchFailure::Conflict { found: None }),
        PatchReport::Failed { message } => Some(PatchFailure::Unwritable { message }),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use loggia_domain::CallId;
    use loggia_tree::TreePath;

    use super::*;

    fn whole(path: &str, id: u8) -> Chosen {
        let patch = Patch {
            id: PatchId::from_bytes([id; 16]),
            call: CallId::from_bytes([1; 16]),
            path: path.to_owned(),
            kind: FileChangeKind::Modified,
            diff: String::new(),
            hunks: Vec::new(),
            rationale: String::new(),
            acceptance_criteria: Vec::new(),
            base: None,
        };
        (patch, None)
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_with_the_cause_in_front() {
        let path = TreePath::parse("a.txt").unwrap();
        let source = TreeError::Io { path: path.clone(), source: io::ErrorKind::PermissionDenied.into() };
        let error = ApplyError::Unwritable { path, source };
        let told = |chosen: &[Chosen]| why_not(&failures(chosen, &error), chosen);
        insta::assert_snapshot!(told(&[whole("a.txt", 1)]), @r"
        `a.txt` could not be written: permission denied
        Nothing of it was written.
        ");
        insta::assert_snapshot!(told(&[whole("a.txt", 1), whole("b.txt", 2)]), @r"
        `a.txt` could not be written: permission denied
        `b.txt` could not be written: `a.txt` cannot be changed: `a.txt`: permission denied
        Nothing of it was written.
        ");
    }
}
