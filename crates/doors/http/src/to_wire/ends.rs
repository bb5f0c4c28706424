//! How turns end: what went wrong, if something did, and the reply as it stands.

use loggia_domain::{Actor, TurnEnd, TurnFailure, Usage};
use loggia_protocol_agent_server as wire;
use serde_json::json;
use wire::{ErrorBody, ErrorCode, ServerMessage};

use crate::to_wire::names::tool_name;
use crate::to_wire::past::Past;
use crate::to_wire::state::dollars;

/// What becomes of a turn when the server stops or is killed.
const INTERRUPTED: &str = "the server was stopped while this turn ran; what was done until then is kept, and \
    `POST /v1/sessions/{session_id}/continue` goes on from there";

/// The end of a turn.
pub(super) fn ended(
    end: &TurnEnd,
    by: Option<&Actor>,
    usage: Usage,
    past: &Past,
    stamp: &wire::Stamp,
) -> Vec<ServerMessage> {
    let error =
        fault(end, by).map(|error| ServerMessage::Error(wire::ServerError { error, stamp: stamp.clone() }));
    let turn = past.turn.as_ref();
    let tools = turn.into_iter().flat_map(|turn| &turn.tools).map(|tool| tool_name(tool).to_owned());
    // Several of our tools have one name on the wire.
    let mut tools: Vec<String> = tools.collect();
    tools.sort_unstable();
    tools.dedup();
    let metadata = wire::ReplyMetadata {
        tokens_used: usage.input.saturating_add(usage.output),
        files_modified: turn.map_or(0, |turn| turn.files.len() as u64),
        tools_used: tools,
        success: *end == TurnEnd::Done,
        cost_usd: usage.micro_dollars.map(dollars),
    };
    let message = turn.map(|turn| turn.text.clone()).unwrap_or_default();
    let last = wire::MessageFinal { message, metadata, stamp: stamp.clone() };
    error.into_iter().chain([ServerMessage::MessageFinal(last)]).collect()
}

/// What went wrong.
fn fault(end: &TurnEnd, by: Option<&Actor>) -> Option<ErrorBody> {
    let body = |code, message: &str, details: Option<serde_json::Value>, recoverable| ErrorBody {
        code,
        message: message.to_owned(),
        details: details.map(Into::into),
        recoverable,
    };
    let limit =
        |message, limit: &str| body(ErrorCode::PolicyViolation, message, Some(json!({"limit": limit})), true);
    Some(match end {
        TurnEnd::Done => return None,
        TurnEnd::Cancelled => {
            let details = match by {
                Some(Actor::Client { name, .. }) => Some(json!({"cancelled_by": name})),
                _ => None,
            };
            body(ErrorCode::Cancelled, "the turn was cancelled", details, true)
        }
        TurnEnd::Interrupted => {
            let details = json!({"interrupted": true});
            body(ErrorCode::Internal, INTERRUPTED, Some(details), true)
        }
        TurnEnd::StepLimit => limit("the turn has taken as many steps as it may", "steps"),
        TurnEnd::BudgetLimit => limit("the budget is used up", "budget"),
        TurnEnd::Failed(TurnFailure::Model { message, retry_helps, .. }) => {
            body(ErrorCode::ModelError, message, None, *retry_helps)
        }
        TurnEnd::Failed(TurnFailure::Retrieval { message }) => {
            body(ErrorCode::RetrievalFailed, message, None, true)
        }
        TurnEnd::Failed(TurnFailure::Policy { message }) => {
            body(ErrorCode::PolicyViolation, message, None, false)
        }
        TurnEnd::Failed(TurnFailure::Internal { message }) => body(ErrorCode::Internal, message, None, false),
    })
}
