//! What the last messages of a turn mean, and waiting for what may never come.

use std::pin::Pin;

use loggia_protocol_agent_server::{ErrorBody, ErrorCode, ToolExecute};
use serde_json::Value;
use tokio::time::Sleep;

use super::super::{Outcome, Reviving};

/// How a turn ended that tells of a fault.
pub(super) fn outcome_of(fault: &ErrorBody) -> Outcome {
    let says = |name: &str| fault.details.as_ref().is_some_and(|details| details.0.get(name).is_some());
    match fault.code {
        ErrorCode::Cancelled => Outcome::Cancelled,
        ErrorCode::ModelError => Outcome::ModelFailed,
        ErrorCode::PolicyViolation if says("limit") => Outcome::LimitReached,
        ErrorCode::Internal if says("interrupted") => Outcome::Interrupted,
        _ => Outcome::Failed,
    }
}

/// Whether a call was refused.
pub(super) fn is_denied(execute: &ToolExecute) -> bool {
    says(execute, "denied")
}

/// Whether it was of a turn that only reads.
pub(super) fn is_held_to_reading(execute: &ToolExecute) -> bool {
    says(execute, "read_only")
}

fn says(execute: &ToolExecute, name: &str) -> bool {
    let word = execute.result.as_ref().and_then(|result| result.0.get(name));
    word.and_then(Value::as_bool).unwrap_or(false)
}

/// Until we leave; for ever if we do not.
pub(super) async fn until_late(leaving: &mut Option<Pin<Box<Sleep>>>) {
    match leaving {
        Some(late) => late.await,
        None => std::future::pending().await,
    }
}

/// Until the server was brought back, or that came to nothing; for ever if nobody tries.
pub(super) async fn until_revived(reviving: &mut Option<Reviving>) {
    match reviving {
        Some(way) => {
            way.await;
            *reviving = None;
        }
        None => std::future::pending().await,
    }
}
