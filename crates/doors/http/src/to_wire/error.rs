//! Why a client's message came to nothing, as `server.error`.

use loggia_domain::ApprovalScope;
use loggia_engine::IntentError;
use loggia_protocol_agent_server as wire;
use serde_json::{Value, json};
use wire::{AlreadyDecidedDetails, ErrorBody, ErrorCode, InvalidMessageDetails};

use crate::to_wire::names::{actor_name, command_id};

/// An error about a client's message; it has no place in the journal.
pub(crate) fn fault(
    code: ErrorCode,
    message: impl Into<String>,
    details: Option<Value>,
    recoverable: bool,
) -> ErrorBody {
    ErrorBody { code, message: message.into(), details: details.map(Into::into), recoverable }
}

/// A message with a field that does not fit what it is about.
pub(crate) fn invalid(pointer: &str, expected: impl Into<String>) -> ErrorBody {
    let expected = expected.into();
    let message = match pointer {
        "" => format!("the message does not fit: {expected}"),
        pointer => format!("`{}` does not fit: {expected}", pointer.trim_start_matches('/')),
    };
    let details = InvalidMessageDetails { pointer: pointer.to_owned(), expected };
    ErrorBody { code: ErrorCode::InvalidMessage, message, details: Some(details.into()), recoverable: true }
}

/// Why the session did not do what it was asked.
pub(crate) fn refusal(error: &IntentError) -> ErrorBody {
    let plain = |code, recoverable| fault(code, error.to_string(), None, recoverable);
    match error {
        IntentError::Forbidden { .. } | IntentError::Closed => plain(ErrorCode::Forbidden, false),
        // Once the connection that was asked has gone, the same report is taken.
        IntentError::NotYours => plain(ErrorCode::Forbidden, true),
        IntentError::Busy | IntentError::Overloaded => plain(ErrorCode::SessionBusy, true),
        IntentError::UnknownApproval(id) => unknown("there is no question", &id.to_string()),
        IntentError::UnknownPatch(id) => unknown("nobody waits for a report on", &id.to_string()),
        IntentError::UnknownCall(id) => unknown("nobody waits for a report on", &command_id(*id)),
        IntentError::NothingRuns
        | IntentError::UnknownStep(_)
        | IntentError::NothingToContinue
        | IntentError::NothingToUndo { .. }
        | IntentError::NothingToRedo { .. } => plain(ErrorCode::UnknownRequest, true),
        IntentError::AlreadyDecided { held, .. } => {
            let (answer, by) = &**held;
            let decided_by = actor_name(by).to_owned();
            let details = AlreadyDecidedDetails { decided_by, approved: answer.scope != ApprovalScope::None };
            let details = Some(details.into());
            ErrorBody {
                code: ErrorCode::AlreadyDecided,
                message: error.to_string(),
                details,
                recoverable: true,
            }
        }
        IntentError::BadAnswer(expected) => invalid("", expected.clone()),
        IntentError::TooLong { .. } | IntentError::TooManyImages | IntentError::Agent(_) => {
            invalid("", error.to_string())
        }
        IntentError::Conflict { .. }
        | IntentError::Unwritable(_)
        | IntentError::Gone
        | IntentError::Store(_) => plain(ErrorCode::Internal, true),
    }
}

fn unknown(what: &str, id: &str) -> ErrorBody {
    fault(ErrorCode::UnknownRequest, format!("{what} `{id}`"), Some(json!({"id": id})), true)
}
