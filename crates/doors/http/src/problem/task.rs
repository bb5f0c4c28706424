//! What the errors of tasks mean for a client.
//!
//! Whatever a task's own state or its repository stands in the way of is a conflict, with what to do in its text.

use loggia_domain::{GuestError, RepositoryError};
use loggia_engine::tasks::TaskError;
use loggia_protocol_agent_server::ProblemType;

use crate::problem::Problem;

/// What to do about a guard.
const HELD_HINT: &str =
    "settle that and ask for it again, or have somebody with the scope `admin` override it";

/// What to do about an effect.
const EFFECT_HINT: &str = "settle that, and `resume` the task";

impl From<TaskError> for Problem {
    fn from(error: TaskError) -> Self {
        let hint = error.hint();
        let kind = match error {
            TaskError::Intent(error) => return error.into(),
            TaskError::Engine(error) => return error.into(),
            TaskError::Guest(error) => return Self::from(error).hint(hint),
            TaskError::Held(ref held) => {
                let hint = if held.is_guard { HELD_HINT } else { EFFECT_HINT };
                return Self::of(ProblemType::Conflict, format!("{error}; {hint}"));
            }
            TaskError::NotFound(_) => ProblemType::NotFound,
            TaskError::Forbidden { .. } => ProblemType::Forbidden,
            TaskError::UnknownScheme { .. } | TaskError::NoProvider { .. } | TaskError::Bad(_) => {
                ProblemType::InvalidBody
            }
            TaskError::Stopping | TaskError::Repository { error: RepositoryError::TimedOut(_) } => {
                ProblemType::Unavailable
            }
            TaskError::Busy(_)
            | TaskError::Over(_)
            | TaskError::Refused(_)
            | TaskError::NotHeld
            | TaskError::Failed { .. }
            | TaskError::NoModel(_)
            | TaskError::Agent(_)
            | TaskError::NotCommitted(_)
            | TaskError::AllRefused(_)
            | TaskError::Conflict { .. }
            | TaskError::TreeTaken { .. }
            | TaskError::ProviderCannot { .. }
            | TaskError::NoBranch(_)
            | TaskError::WouldLose { .. }
            | TaskError::Repository { .. } => ProblemType::Conflict,
        };
        Self::of(kind, error.to_string()).hint(hint)
    }
}

impl From<GuestError> for Problem {
    fn from(error: GuestError) -> Self {
        let kind = match &error {
            GuestError::NotFound(_) => ProblemType::NotFound,
            GuestError::Refused(_) => ProblemType::InvalidBody,
            // Somebody has to set it up first.
            GuestError::Unsupported(_) | GuestError::NoAccess(_) | GuestError::Untrusted(_) => {
                ProblemType::Conflict
            }
            GuestError::TimedOut(_) | GuestError::Gone(_) | GuestError::Failed(_) => ProblemType::Unavailable,
        };
        Self::of(kind, error.to_string())
    }
}
