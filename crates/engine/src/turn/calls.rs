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
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, CommandSummary, Decision, Demand, EventBody, Executor,
    FileChange, PreparedCall, Question, Risk, Timestamp, ToolCall, ToolContext, ToolEffect, ToolError,
    ToolOutcome,
};

use crate::policy::{Judge, Verdict};
use crate::session::{CallStage, Halt, OpenCall, State};
use crate::turn::{Stop, Turn};

/// A call that is understood and judged.
pub(super) struct Ready {
    pub(super) open: OpenCall,
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
        let judge = self.workspace.judge(&self.shared, state)?;
        let mut together = Vec::new();
        for open in &turn.calls {
            match self.prepare(&judge, open) {
                Ok(ready) if ready.runs_beside_others() => together.push(ready),
                Ok(ready) if together.is_empty() => return Ok(self.one(state, &judge, ready).await?),
                Err(outcome) if together.is_empty() => return Ok(self.end(open, outcome).await?),
                Ok(_) | Err(_) => break,
            }
        }
        Ok(self.side_by_side(state, &judge, together).await?)
    }

    fn prepare(&self, judge: &Judge, open: &OpenCall) -> Result<Ready, ToolOutcome> {
        let failed = |message: String| ToolOutcome::Failed { message };
        let tool = self.workspace.tool(&open.call.tool).map_err(failed)?;
        let prepared = tool.prepare(&open.call.arguments).map_err(|error| failed(error.to_string()))?;
        let demand = prepared.demand();
        let verdict = judge.judge(&open.call.tool, &demand);
        Ok(Ready { open: open.clone(), prepared, demand, verdict })
    }

    async fn side_by_side(&self, state: &State, judge: &Arc<Judge>, calls: Vec<Ready>) -> Result<(), Halt> {
        let started =
            |ready: &Ready| EventBody::ToolStarted { call: ready.open.call.id, executor: Executor::Server };
        self.link.record(calls.iter().map(started).collect()).await?;
        let context = self.context(state, judge).await;
        let runs = calls.into_iter().map(|ready| {
            let context = context.clone();
            async move {
                let began = Instant::now();
                let effect = ready.prepared.run(context).await;
                self.carry_out_plain(&ready.open.call, effect, began).await
            }
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
            (CallStage::Requested, _) if ready.changes_files() => self.propose(state, judge, ready).await,
            (CallStage::Requested, Decision::Ask) => {
                let question = ready.question();
                let approval = self.ask(&ready.open.call, question, ready.verdict.risk, Vec::new()).await?;
                let clearance = self.clearance(approval).await?;
                self.carry_out(state, judge, ready, clearance).await
            }
            (CallStage::Requested, Decision::Allow) => {
                let clearance = Clearance { scope: ApprovalScope::All, by: None, comment: None };
                self.carry_out(state, judge, ready, clearance).await
            }
            (CallStage::Asked(approval) | CallStage::Decided(approval), _) => {
                let clearance = self.clearance(approval).await?;
                match ready.open.patches.is_empty() {
                    true => self.carry_out(state, judge, ready, clearance).await,
                    false => self.apply_patches(state, &ready.open, clearance).await,
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
        let expires = self.workspace.approval_limit(&self.shared).map(|limit| {
            Timestamp(Timestamp::now().0.saturating_add(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX)))
        });
        facts.push(EventBody::ApprovalAsked { approval, call: Some(call.id), question, risk, expires });
        self.link.record(facts).await?;
        Ok(approval)
    }

    /// Waits until somebody has decided.
    pub(super) async fn clearance(&self, approval: ApprovalId) -> Result<Clearance, Halt> {
        let (ApprovalAnswer { scope, comment, .. }, by) = self.link.decision(approval).await?;
        Ok(Clearance { scope, by: Some(by), comment })
    }

    /// Carries out a call that changes no files by itself.
    async fn carry_out(
        &self,
        state: &State,
        judge: &Arc<Judge>,
        ready: Ready,
        clearance: Clearance,
    ) -> Result<(), Halt> {
        if clearance.scope == ApprovalScope::None {
            return self.end(&ready.open, refused(clearance.comment.as_deref())).await;
        }
        let context = self.context(state, judge).await;
        let Ready { open, prepared, demand, .. } = ready;
        if demand.command.is_some() {
            return match prepared.run(context).await {
                Ok(ToolEffect::Command(request)) => self.command(&open, request, clearance.by).await,
                effect => self.carry_out_plain(&open.call, effect, Instant::now()).await,
            };
        }
        self.link
            .record(vec![EventBody::ToolStarted { call: open.call.id, executor: Executor::Server }])
            .await?;
        let began = Instant::now();
        let effect = prepared.run(context).await;
        self.carry_out_plain(&open.call, effect, began).await
    }

    /// Ends a call whose effect is an answer or a plan.
    async fn carry_out_plain(
        &self,
        call: &ToolCall,
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
            Ok(ToolEffect::Edits(_) | ToolEffect::Command(_)) => {
                // A tool that wants more than it said is not obeyed.
                ToolOutcome::Denied { reason: "the tool asked for more than its arguments say".to_owned() }
            }
            Err(error) => outcome_of(error),
        };
        facts.push(ended(call, outcome, Vec::new(), None, began));
        self.link.record(facts).await
    }

    /// Ends a call that never ran.
    pub(super) async fn end(&self, open: &OpenCall, outcome: ToolOutcome) -> Result<(), Halt> {
        self.link.record(vec![ended(&open.call, outcome, Vec::new(), None, Instant::now())]).await
    }

    /// The reading part of a call that changes files, and the verdict on it.
    pub(super) async fn edits_of(
        &self,
        state: &State,
        judge: &Arc<Judge>,
        ready: Ready,
    ) -> (OpenCall, Verdict, Result<ToolEffect, ToolError>) {
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

    fn changes_files(&self) -> bool {
        !self.demand.writes.is_empty() || !self.demand.deletes.is_empty()
    }

    fn question(&self) -> Question {
        match &self.demand.command {
            Some(request) => Question::Command {
                command: request.line.clone(),
                directory: request.directory.clone(),
                environment: request.environment.clone(),
                reason: request.reason.clone(),
            },
            None => Question::Tool {
                tool: self.open.call.tool.clone(),
                arguments: self.open.call.arguments.clone(),
            },
        }
    }
}

pub(super) fn ended(
    call: &ToolCall,
    outcome: ToolOutcome,
    files: Vec<FileChange>,
    command: Option<CommandSummary>,
    began: Instant,
) -> EventBody {
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    EventBody::ToolEnded { call: call.id, outcome, files, command, milliseconds }
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
