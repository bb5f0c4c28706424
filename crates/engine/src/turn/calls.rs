//! The calls of one reply: judged, asked about, carried out, in the model's order.
//!
//! Calls that only read and need no question run beside each other; everything else one after the other, since a
//! later call may build on an earlier one.
//!
//! What a call's arguments, the policy or the world have against it is told to the model and ends no turn.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, Decision, Demand, EventBody, Executor, PatchFailure,
    PreparedCall, Question, Remember, Restraint, Risk, Timestamp, ToolCall, ToolContext, ToolEffect,
    ToolError, ToolOutcome,
};
use tracing::Instrument;

use crate::policy::{self, Judge, Verdict};
use crate::session::{CallStage, Halt, OpenCall, State};
use crate::turn::called::Called;
use crate::turn::{Stop, Turn, spans};

/// A call that is understood and judged.
pub(super) struct Ready {
    pub(super) open: Called,
    prepared: Box<dyn PreparedCall>,
    pub(super) demand: Demand,
    verdict: Verdict,
}

/// Why a call may be carried out.
#[derive(Debug, Clone)]
pub(super) struct Clearance {
    pub(super) scope: ApprovalScope,
    pub(super) by: Option<Actor>,
    pub(super) comment: Option<String>,
}

impl Turn {
    /// Brings the calls at the head of the list to their ends: all that can run together, or the next one.
    pub(super) async fn calls(&self, state: &State) -> Result<(), Stop> {
        let Some(turn) = &state.turn else { return Ok(()) };
        let judge = self.workspace.judge(&self.shared, state).await?;
        let mut together = Vec::new();
        for open in &turn.calls {
            match self.prepare(&judge, &turn.instruction.restraint, open) {
                Ok(ready) if ready.runs_beside_others() => together.push(ready),
                Ok(mut ready) if together.is_empty() => {
                    let span = ready.open.begin(true);
                    return Ok(self.one(state, &judge, ready).instrument(span).await?);
                }
                Err(outcome) if together.is_empty() => {
                    let mut called = Called::new(open);
                    let span = called.begin(self.workspace.tool(&open.call.tool).is_ok());
                    return Ok(self.end(&called, outcome).instrument(span).await?);
                }
                Ok(_) | Err(_) => break,
            }
        }
        Ok(self.side_by_side(state, &judge, together).await?)
    }

    fn prepare(&self, judge: &Judge, restraint: &Restraint, open: &OpenCall) -> Result<Ready, ToolOutcome> {
        let failed = |message: String| ToolOutcome::Failed { message };
        let tool = self.workspace.tool(&open.call.tool).map_err(failed)?;
        let prepared = tool.prepare(&open.call.arguments).map_err(|error| failed(error.to_string()))?;
        let demand = prepared.demand();
        let verdict = judge.judge(&open.call.tool, &demand);
        let verdict = policy::held(verdict, restraint, &open.call.tool, &demand);
        Ok(Ready { open: Called::new(open), prepared, demand, verdict })
    }

    async fn side_by_side(&self, state: &State, judge: &Arc<Judge>, calls: Vec<Ready>) -> Result<(), Halt> {
        let started =
            |ready: &Ready| EventBody::ToolStarted { call: ready.open.call.id, executor: Executor::Server };
        self.link.record(calls.iter().map(started).collect()).await?;
        let context = self.context(state, judge).await;
        let runs = calls.into_iter().map(|mut ready| {
            let context = context.clone();
            let span = ready.open.begin(true);
            let run = async move {
                let began = Instant::now();
                let effect = ready.prepared.run(context).await;
                self.carry_out_plain(&ready.open, effect, began).await
            };
            run.instrument(span)
        });
        join_all(runs).await.into_iter().collect()
    }

    /// What a tool may look at.
    pub(super) async fn context(&self, state: &State, judge: &Arc<Judge>) -> ToolContext {
        let judge = Arc::clone(judge);
        let overlay = self.workspace.overlay(state).await;
        ToolContext { may_read: Arc::new(move |path| judge.may_read(path)), overlay: Arc::new(overlay) }
    }

    async fn one(&self, state: &State, judge: &Arc<Judge>, ready: Ready) -> Result<(), Halt> {
        match (ready.open.stage, ready.verdict.decision) {
            (CallStage::Requested, Decision::Deny) => {
                let reason = ready.verdict.reason.clone();
                self.end(&ready.open, ToolOutcome::Denied { reason }).await
            }
            (CallStage::Requested, _) if ready.demand.changes_files() => {
                self.propose(state, judge, ready, None).await
            }
            (CallStage::Requested, Decision::Ask) => {
                let question = question_about(&ready.open.call, &ready.demand);
                let approval = self.ask(&ready.open.call, question, ready.verdict.risk, Vec::new()).await?;
                match self.clearance_of(&ready.open.call, approval).await? {
                    Some(clearance) => self.carry_out(state, judge, ready, clearance).await,
                    None => Ok(()),
                }
            }
            (CallStage::Requested, Decision::Allow) => {
                let clearance = Clearance { scope: ApprovalScope::All, by: None, comment: None };
                self.carry_out(state, judge, ready, clearance).await
            }
            // Whoever was asked changed it. What it comes to now has been judged as it would have been in the
            // beginning: a denial holds, and where there would be a question it is answered.
            (CallStage::Decided(_), Decision::Deny) if ready.open.is_changed => {
                let reason = ready.verdict.reason.clone();
                self.end(&ready.open, ToolOutcome::Denied { reason }).await
            }
            (CallStage::Decided(approval), _) if ready.open.is_changed && ready.demand.changes_files() => {
                let clearance = self.clearance(approval).await?;
                self.propose(state, judge, ready, Some(clearance)).await
            }
            // It was asked about before the turn was brought back, and loading saw to it that it was this that was
            // asked. It may have been answered since.
            (CallStage::Asked(approval) | CallStage::Decided(approval), _) => {
                match self.clearance_of(&ready.open.call, approval).await? {
                    None => Ok(()),
                    Some(clearance) if ready.open.patches.is_empty() => {
                        self.carry_out(state, judge, ready, clearance).await
                    }
                    Some(clearance) => self.apply_patches(state, &ready.open, clearance).await,
                }
            }
            // Only a restart leaves one like this, and loading ends it; so this is for a journal from elsewhere.
            (CallStage::Started(_), _) => {
                let message = "cut by a restart".to_owned();
                self.end(&ready.open, ToolOutcome::Failed { message }).await
            }
        }
    }

    /// Puts a question to people, with the facts that belong before it.
    pub(super) async fn ask(
        &self,
        call: &ToolCall,
        question: Question,
        risk: Risk,
        mut facts: Vec<EventBody>,
    ) -> Result<ApprovalId, Halt> {
        let approval = ApprovalId::new();
        let expires = self.expiry().await;
        facts.push(EventBody::ApprovalAsked { approval, call: Some(call.id), question, risk, expires });
        self.link.record(facts).await?;
        Ok(approval)
    }

    /// When a question asked now is given up, if the policy says so.
    pub(super) async fn expiry(&self) -> Option<Timestamp> {
        self.workspace.approval_expiry(&self.shared).await
    }

    /// Waits until somebody has decided.
    pub(super) async fn clearance(&self, approval: ApprovalId) -> Result<Clearance, Halt> {
        let span = spans::approval_wait(approval);
        let decision = self.link.decision(approval).instrument(span.clone()).await?;
        let (ApprovalAnswer { scope, comment, .. }, by) = decision;
        let clearance = Clearance { scope, by: Some(by), comment };
        spans::approval_decided(&span, &clearance);
        Ok(clearance)
    }

    /// Waits until somebody has decided about a call. Nothing if they changed it: then it is not this that they allowed,
    /// and the call is looked at anew.
    pub(super) async fn clearance_of(
        &self,
        call: &ToolCall,
        approval: ApprovalId,
    ) -> Result<Option<Clearance>, Halt> {
        let clearance = self.clearance(approval).await?;
        let state = self.link.state().await?;
        let mut open = state.turn.iter().flat_map(|turn| &turn.calls);
        let is_same = open.any(|open| open.call == *call);
        Ok(is_same.then_some(clearance))
    }

    /// Judges once more, right before it is done: rules may have changed while people thought about it.
    pub(super) async fn still_allowed(
        &self,
        tool: &str,
        demand: &Demand,
    ) -> Result<Result<(), String>, Halt> {
        let state = self.link.state().await?;
        let judge = match self.workspace.judge(&self.shared, &state).await {
            Ok(judge) => judge,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut verdict = judge.judge(tool, demand);
        if let Some(turn) = &state.turn {
            verdict = policy::held(verdict, &turn.instruction.restraint, tool, demand);
        }
        Ok(match verdict.decision {
            Decision::Deny => Err(verdict.reason),
            Decision::Allow | Decision::Ask => Ok(()),
        })
    }

    /// Carries out a call that changes no files by itself.
    async fn carry_out(
        &self,
        state: &State,
        judge: &Arc<Judge>,
        ready: Ready,
        clearance: Clearance,
    ) -> Result<(), Halt> {
        if clearance.scope != ApprovalScope::All {
            return self.end(&ready.open, refused(clearance.comment.as_deref())).await;
        }
        if let Err(reason) = self.still_allowed(&ready.open.call.tool, &ready.demand).await? {
            return self.end(&ready.open, ToolOutcome::Denied { reason }).await;
        }
        let context = self.context(state, judge).await;
        let Ready { open, prepared, demand, .. } = ready;
        if demand.command.is_some() {
            return match prepared.run(context).await {
                // Only the command that was judged.
                Ok(ToolEffect::Command(request)) if Some(&request) == demand.command.as_ref() => {
                    self.command(&open, request, clearance.by).await
                }
                effect => self.carry_out_plain(&open, effect, Instant::now()).await,
            };
        }
        if demand.guest_command.is_some() {
            return match prepared.run(context).await {
                // Only the command that was judged.
                Ok(ToolEffect::GuestCommand(request)) if Some(&request) == demand.guest_command.as_ref() => {
                    self.guest_command(&open, request).await
                }
                effect => self.carry_out_plain(&open, effect, Instant::now()).await,
            };
        }
        self.link
            .record(vec![EventBody::ToolStarted { call: open.call.id, executor: Executor::Server }])
            .await?;
        let began = Instant::now();
        let effect = prepared.run(context).await;
        self.carry_out_plain(&open, effect, began).await
    }

    /// Ends a call whose effect is an answer or a plan.
    async fn carry_out_plain(
        &self,
        open: &Called,
        effect: Result<ToolEffect, ToolError>,
        began: Instant,
    ) -> Result<(), Halt> {
        let mut facts = Vec::new();
        let outcome = match effect {
            Ok(ToolEffect::Output(output)) => {
                ToolOutcome::Succeeded { output: self.shared.masker.mask(&output).into_owned() }
            }
            Ok(ToolEffect::Plan(plan)) => {
                facts.push(EventBody::PlanChanged { plan });
                ToolOutcome::Succeeded { output: "The plan is noted.".to_owned() }
            }
            Ok(ToolEffect::Edits(_) | ToolEffect::Command(_) | ToolEffect::GuestCommand(_)) => {
                // A tool that wants more than it said is not obeyed.
                ToolOutcome::Denied { reason: "the tool asked for more than its arguments say".to_owned() }
            }
            Err(error) => outcome_of(error),
        };
        facts.push(open.ended(outcome, Vec::new(), None, began));
        self.link.record(facts).await
    }

    /// Ends a call that never ran, and with it what is asked about it and what it proposed.
    pub(super) async fn end(&self, open: &Called, outcome: ToolOutcome) -> Result<(), Halt> {
        let state = self.link.state().await?;
        let asked = state.pending.iter().filter(|(_, pending)| pending.call == Some(open.call.id));
        let withdrawn = |approval: &ApprovalId| EventBody::ApprovalDecided {
            approval: *approval,
            answer: ApprovalAnswer {
                scope: ApprovalScope::None,
                remember: Remember::Once,
                comment: Some("the call ended".to_owned()),
            },
            by: Actor::Engine,
        };
        let mut events: Vec<EventBody> = asked.map(|(approval, _)| withdrawn(approval)).collect();
        let proposed = state.proposed.values().filter(|patch| patch.call == open.call.id);
        let in_batch = |id| state.batch.as_ref().is_some_and(|batch| batch.patches.contains(id));
        events.extend(
            proposed
                .filter(|patch| !in_batch(&patch.id))
                .map(|patch| EventBody::PatchDropped { patch: patch.id, failure: PatchFailure::Withdrawn }),
        );
        events.push(open.ended(outcome, Vec::new(), None, Instant::now()));
        self.link.record(events).await
    }

    /// The reading part of a call that changes files, and the verdict on it.
    pub(super) async fn edits_of(
        &self,
        state: &State,
        judge: &Arc<Judge>,
        ready: Ready,
    ) -> (Called, Verdict, Result<ToolEffect, ToolError>) {
        let context = self.context(state, judge).await;
        let Ready { open, prepared, verdict, .. } = ready;
        (open, verdict, prepared.run(context).await)
    }
}

impl Ready {
    fn runs_beside_others(&self) -> bool {
        let untouched = self.open.stage == CallStage::Requested;
        untouched && self.verdict.decision == Decision::Allow && self.demand.only_reads()
    }
}

/// What is asked about a call that changes no files by itself.
pub(crate) fn question_about(call: &ToolCall, demand: &Demand) -> Question {
    match &demand.command {
        Some(request) => Question::Command {
            command: request.line.clone(),
            directory: request.directory.clone(),
            environment: request.environment.clone(),
            reason: request.reason.clone(),
        },
        None => Question::Tool { tool: call.tool.clone(), arguments: call.arguments.clone() },
    }
}

pub(super) fn outcome_of(error: ToolError) -> ToolOutcome {
    match error {
        ToolError::Forbidden(reason) => ToolOutcome::Denied { reason },
        ToolError::Failed(message) => ToolOutcome::Failed { message },
    }
}

pub(super) fn refused(comment: Option<&str>) -> ToolOutcome {
    let reason = match comment {
        Some(comment) => format!("it was refused: {comment}"),
        None => "it was refused".to_owned(),
    };
    ToolOutcome::Denied { reason }
}
