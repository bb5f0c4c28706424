//! The beginning and the end of a turn.

use std::collections::{BTreeMap, BTreeSet};

use loggia_domain::{
    Actor, ApprovalId, CallId, Instruction, ModelTrouble, PatchId, Timestamp, TurnEnd, TurnFailure, TurnId,
    Usage,
};
use loggia_protocol_autohand::limits::{MAX_ARGUMENT_BYTES, MAX_OUTPUT_BYTES};
use loggia_protocol_autohand::{self as wire, AgentEndReason, TokensUsageStatus, TurnEndReason, codes};

use crate::launch::EndOfTurn;
use crate::tell::message::{Held, Open};
use crate::tell::moment::{between, moment};
use crate::tell::said::{Said, notice};
use crate::tell::tool::Call;
use crate::tell::{Teller, fit};

/// A turn as the client knows it.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    began: Timestamp,
    /// Whether this client began it.
    pub(super) mine: bool,
    /// Where changes are collected, if they are.
    pub(super) batch: Option<wire::BatchId>,
    /// The files of the collection, each with its change's name.
    pub(super) changes: Vec<(String, wire::ChangeId)>,
    /// What files hold that are about to be changed, as far as it is needed.
    pub(super) bases: BTreeMap<PatchId, Vec<u8>>,
    /// The message under way.
    pub(super) message: Option<Open>,
    /// A message whose end is told together with the turn's.
    pub(super) held: Option<Held>,
    /// Whether the end of a message was told.
    pub(super) has_spoken: bool,
    /// Calls without an end.
    pub(super) calls: BTreeMap<CallId, Call>,
    /// Which question is about which call.
    pub(super) asked: BTreeMap<ApprovalId, CallId>,
    /// Questions the client was asked and nobody has answered.
    pub(super) questions: BTreeSet<ApprovalId>,
    /// How many calls were carried out.
    pub(super) tool_calls: u64,
    /// Whether somebody may end it after each step.
    step_by_step: bool,
    /// The last step that was told as done.
    pub(super) step: Option<u32>,
}

/// How a turn ends.
#[derive(Debug)]
pub(super) struct Closing {
    usage: Usage,
    reason: TurnEndReason,
    marker: AgentEndReason,
    /// What the user must know.
    error: Option<(i64, String)>,
    /// What kind of trouble with the model, in the word of existing agents.
    error_type: Option<&'static str>,
    /// Whether that is a failure of the agent.
    failed: bool,
}

impl Closing {
    /// The client, or whoever else, stopped it.
    pub(super) fn aborted(usage: Usage) -> Self {
        let (reason, marker) = (TurnEndReason::Aborted, AgentEndReason::Aborted);
        Self { usage, reason, marker, error: None, error_type: None, failed: false }
    }

    /// The model had nothing more to do.
    pub(super) fn completed(usage: Usage) -> Self {
        let (reason, marker) = (TurnEndReason::Completed, AgentEndReason::Completed);
        Self { usage, reason, marker, error: None, error_type: None, failed: false }
    }

    /// Whether the model was not done.
    fn is_cut(&self) -> bool {
        self.reason == TurnEndReason::Aborted || self.error.is_some()
    }

    fn of(end: &TurnEnd, usage: Usage, step_by_step: bool) -> Self {
        let completed = Self::completed(usage);
        match end {
            // Whoever takes a turn step by step ends it on purpose.
            TurnEnd::StepLimit if step_by_step => Self { reason: TurnEndReason::StopCondition, ..completed },
            TurnEnd::Done => completed,
            TurnEnd::Cancelled | TurnEnd::Interrupted => Self::aborted(usage),
            TurnEnd::StepLimit => {
                let message = "the turn took as many steps as it may".to_owned();
                Self { error: Some((codes::EXECUTION_ERROR, message)), ..completed }
            }
            TurnEnd::BudgetLimit => {
                let message = "the turn used up its budget".to_owned();
                Self { error: Some((codes::EXECUTION_ERROR, message)), ..completed }
            }
            TurnEnd::Failed(failure) => {
                let (code, message) = match failure {
                    TurnFailure::Model { message, trouble: ModelTrouble::TimedOut, .. } => {
                        (codes::TIMEOUT, message)
                    }
                    TurnFailure::Model { message, .. } | TurnFailure::Retrieval { message } => {
                        (codes::EXECUTION_ERROR, message)
                    }
                    TurnFailure::Policy { message } => (codes::PERMISSION_DENIED, message),
                    TurnFailure::Internal { message } => (codes::INTERNAL_ERROR, message),
                };
                let error = Some((code, message.clone()));
                let error_type = error_type(failure);
                Self { error, error_type, failed: true, marker: AgentEndReason::Error, ..completed }
            }
        }
    }
}

impl Turn {
    fn new(id: TurnId, began: Timestamp, mine: bool, instruction: &Instruction) -> Self {
        Self {
            id,
            began,
            mine,
            batch: instruction.preview.then(|| batch_id(id)),
            changes: Vec::new(),
            bases: BTreeMap::new(),
            message: None,
            held: None,
            has_spoken: false,
            calls: BTreeMap::new(),
            asked: BTreeMap::new(),
            questions: BTreeSet::new(),
            tool_calls: 0,
            step_by_step: instruction.step_by_step,
            step: None,
        }
    }
}

/// What kind of trouble there was with the model.
fn error_type(failure: &TurnFailure) -> Option<&'static str> {
    let TurnFailure::Model { trouble, .. } = failure else { return None };
    Some(match trouble {
        ModelTrouble::Network | ModelTrouble::TimedOut => "network",
        ModelTrouble::Server => "server",
        ModelTrouble::TooOften => "rate_limit",
        ModelTrouble::Key => "auth",
        ModelTrouble::Payment => "payment",
        ModelTrouble::NoModel => "model",
        ModelTrouble::TooLong => "context",
        ModelTrouble::Unknown => "unknown",
    })
}

/// A turn collects at most once, so its id names the collection.
fn batch_id(turn: TurnId) -> wire::BatchId {
    wire::BatchId(format!("changes_{turn}"))
}

impl Teller {
    pub(super) fn begin_turn(
        &mut self,
        id: TurnId,
        instruction: &Instruction,
        by: &Actor,
        at: Timestamp,
        said: &mut Said,
    ) {
        let mine = matches!(by, Actor::Client { id, .. } if *id == self.listener);
        let turn = Turn::new(id, at, mine, instruction);
        let text = fit::shortened(&instruction.text, MAX_OUTPUT_BYTES);
        self.place.began(id);
        said.say::<wire::TurnStart>(&wire::TurnStartParams {
            turn_id: wire::TurnId(id.to_string()),
            session_id: self.session_id(),
            instruction: text.clone().into_owned(),
            timestamp: moment(at),
        });
        if mine {
            self.preface.drain(..).for_each(|error| said.say::<wire::Error>(&error));
        }
        if let Some(batch) = &turn.batch {
            said.say::<wire::ChangesBatchStart>(&wire::ChangesBatchStartParams {
                batch_id: batch.clone(),
                turn_id: wire::TurnId(id.to_string()),
                timestamp: moment(at),
            });
        }
        said.say::<wire::HookPrePrompt>(&wire::HookPrePromptParams {
            instruction: text.into_owned(),
            mentioned_files: fit::list(crate::prompt::mentioned_files(instruction), MAX_ARGUMENT_BYTES),
            timestamp: moment(at),
        });
        self.turn = Some(turn);
    }

    pub(super) fn turn_ended(
        &mut self,
        id: Option<TurnId>,
        end: &TurnEnd,
        usage: Usage,
        at: Timestamp,
        said: &mut Said,
    ) {
        if let Some(turn) = self.turn.as_ref().filter(|turn| Some(turn.id) == id) {
            let closing = Closing::of(end, usage, turn.step_by_step);
            self.close_turn(&closing, at, said);
        } else if let Some(id) = id {
            self.end_offer(id);
        }
    }

    /// Everything that ends a turn, in the order clients count on.
    pub(super) fn close_turn(&mut self, closing: &Closing, at: Timestamp, said: &mut Said) {
        let Some(mut turn) = self.turn.take() else { return };
        self.place.ended(turn.id);
        let aborted = closing.reason == TurnEndReason::Aborted;
        self.aborted = aborted.then_some(turn.id);
        turn.end_calls(at, said);
        self.tell_error(closing, at, said);
        if let Some(batch_id) = turn.batch.clone() {
            let change_count = self.state.batch.as_ref().map_or(0, |batch| batch.patches.len()) as u64;
            said.say::<wire::ChangesBatchEnd>(&wire::ChangesBatchEndParams {
                batch_id,
                change_count,
                timestamp: moment(at),
            });
        }
        let tokens = closing.usage.input.saturating_add(closing.usage.output);
        let tokens = (tokens > 0).then_some(tokens);
        let duration = between(turn.began, at);
        let response = wire::HookPostResponseParams {
            tokens_used: tokens.unwrap_or(0),
            tokens_usage_status: Some(TokensUsageStatus::of(tokens)),
            tool_calls_count: turn.tool_calls,
            duration: duration.into(),
            timestamp: moment(at),
        };
        said.say::<wire::HookStop>(&response);
        said.say::<wire::HookPostResponse>(&response);
        if closing.is_cut() || !turn.has_spoken {
            turn.need_message(at, said);
        }
        turn.end_message(aborted, at, said);
        said.say::<wire::TurnEnd>(&wire::TurnEndParams::new(
            wire::TurnId(turn.id.to_string()),
            self.session_id(),
            tokens,
            duration,
            self.context_percent().into(),
            closing.reason,
            moment(at),
        ));
        said.notices.extend(end_of_turn(self.end_of_turn, self.session_id(), closing.marker, at));
    }

    fn tell_error(&self, closing: &Closing, at: Timestamp, said: &mut Said) {
        let Some((code, message)) = &closing.error else { return };
        if closing.failed {
            said.say::<wire::HookSessionError>(&wire::HookSessionErrorParams {
                error: message.clone(),
                code: Some(code.to_string()),
                context: None,
                timestamp: moment(at),
            });
        }
        said.say::<wire::Error>(&wire::ErrorParams {
            code: *code,
            message: message.clone(),
            recoverable: true,
            error_type: closing.error_type.map(str::to_owned),
            timestamp: moment(at),
        });
    }

    pub(crate) fn session_id(&self) -> wire::SessionId {
        wire::SessionId(self.session.to_string())
    }
}

/// What tells a client that waits for more than `turnEnd` that the turn is over.
pub(crate) fn end_of_turn(
    how: EndOfTurn,
    session_id: wire::SessionId,
    reason: AgentEndReason,
    at: Timestamp,
) -> Option<loggia_wire::peer::Notice> {
    let timestamp = moment(at);
    match how {
        EndOfTurn::Marker => {
            let marker = wire::EndOfTurnMarker::new(session_id, reason, timestamp);
            Some(notice::<wire::Ping>(&wire::PingParams::EndOfTurn(marker)))
        }
        EndOfTurn::AgentEnd => {
            Some(notice::<wire::AgentEnd>(&wire::AgentEndParams { session_id, reason, timestamp }))
        }
        EndOfTurn::Answer => None,
    }
}
