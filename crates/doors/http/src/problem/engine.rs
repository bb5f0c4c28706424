//! What the engine's errors mean for a client.
//!
//! The only place where that is decided. A client's mistake is a 4xx that says what to change; what is wrong with the
//! server is a 5xx and is logged.

use std::num::NonZeroU64;

use loggia_domain::{IndexError, StoreError, ToolError};
use loggia_engine::policy::PolicyError;
use loggia_engine::policy::files::PolicyFileError;
use loggia_engine::trust::TrustError;
use loggia_engine::{EngineError, IntentError, LookError, SearchError};
use loggia_protocol_agent_server::ProblemType;

use crate::problem::Problem;

/// When a session with a full queue is worth asking again: it works off hundreds of requests in that time.
const BUSY_SECONDS: NonZeroU64 = NonZeroU64::MIN;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::NoSuchSession(_) | StoreError::NoSuchWorkspace(_) => ProblemType::NotFound,
            StoreError::MisplacedOpening | StoreError::BadImport { .. } => ProblemType::InvalidBody,
            StoreError::BadCursor(_) => ProblemType::BadRequest,
            StoreError::Blob { .. } | StoreError::Damaged(_) => return fault(&error),
            StoreError::Full | StoreError::Unavailable(_) => return unavailable(&error),
        };
        Self::of(kind, error.to_string())
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let kind = match error {
            EngineError::Store(error) => return error.into(),
            EngineError::Policy(error) => return error.into(),
            EngineError::Trust(TrustError::Io { .. }) | EngineError::CurrentModel { .. } => {
                return unavailable(&error);
            }
            EngineError::OwnDirectory(_) | EngineError::NoSuchEvent(_) | EngineError::Agent(_) => {
                ProblemType::InvalidBody
            }
            // What is on the disk is not what was registered or written; somebody has to put it right first.
            EngineError::Root(_)
            | EngineError::Trust(_)
            | EngineError::Workspace { .. }
            | EngineError::PinnedModel => ProblemType::Conflict,
            EngineError::Stopping => ProblemType::Unavailable,
            EngineError::Unfinished(_) | EngineError::BadJournal(_) | EngineError::Tasks(_) => {
                return fault(&error);
            }
        };
        Self::of(kind, error.to_string())
    }
}

impl From<PolicyFileError> for Problem {
    fn from(error: PolicyFileError) -> Self {
        let kind = match &error {
            PolicyFileError::Stale { .. } => ProblemType::StaleRevision,
            PolicyFileError::Format { .. } => ProblemType::InvalidBody,
            // These were found in the file on disk, not in what was sent.
            PolicyFileError::Damaged { .. } | PolicyFileError::Rules(_) => ProblemType::Conflict,
            PolicyFileError::Io { .. } => return unavailable(&error),
        };
        Self::of(kind, error.to_string())
    }
}

/// A policy that was sent. The number in the error counts from 1, the pointer from 0.
impl From<PolicyError> for Problem {
    fn from(error: PolicyError) -> Self {
        let pointer = match &error {
            PolicyError::Glob { number, field, .. } => format!("/rules/{}/{field}", number - 1),
            PolicyError::Pattern { number, .. } => format!("/rules/{}/command", number - 1),
            PolicyError::PathAndCommand { number, .. } => format!("/rules/{}", number - 1),
            PolicyError::Example { number, .. } => format!("/rules/{}/examples", number - 1),
            PolicyError::TooManyRules { .. } => "/rules".to_owned(),
        };
        Self::field(pointer, error.to_string())
    }
}

impl From<IntentError> for Problem {
    fn from(error: IntentError) -> Self {
        let kind = match error {
            IntentError::Store(error) => return error.into(),
            IntentError::Forbidden { .. } => ProblemType::Forbidden,
            IntentError::UnknownApproval(_)
            | IntentError::UnknownPatch(_)
            | IntentError::UnknownCall(_)
            | IntentError::UnknownStep(_) => ProblemType::NotFound,
            IntentError::Busy
            | IntentError::NothingRuns
            | IntentError::NothingToContinue
            | IntentError::NothingToUndo { .. }
            | IntentError::NothingToRedo { .. }
            | IntentError::Conflict { .. }
            | IntentError::Unwritable(_)
            | IntentError::AlreadyDecided { .. }
            | IntentError::NotYours
            | IntentError::Closed => ProblemType::Conflict,
            IntentError::BadAnswer(_)
            | IntentError::TooLong { .. }
            | IntentError::TooManyImages
            | IntentError::Agent(_) => ProblemType::InvalidBody,
            IntentError::Overloaded | IntentError::Gone => {
                return Self::of(ProblemType::Unavailable, error.to_string()).retry_after(BUSY_SECONDS);
            }
        };
        Self::of(kind, error.to_string())
    }
}

impl From<LookError> for Problem {
    fn from(error: LookError) -> Self {
        let kind = match error {
            LookError::Engine(error) => return error.into(),
            LookError::NoSuchTool(_) => ProblemType::Unavailable,
            LookError::Arguments(_) => ProblemType::BadRequest,
            LookError::Refused(_) | LookError::Tool(ToolError::Forbidden(_)) => ProblemType::Forbidden,
            LookError::Tool(ToolError::Failed(_)) => ProblemType::Conflict,
        };
        Self::of(kind, error.to_string())
    }
}

impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        let kind = match &error {
            IndexError::Unavailable(_) => ProblemType::Unavailable,
            IndexError::NoVectors(_) | IndexError::Cancelled => ProblemType::Conflict,
            IndexError::BadQuery(_) => ProblemType::BadRequest,
        };
        Self::of(kind, error.to_string())
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Engine(error) => error.into(),
            SearchError::Index(error) => error.into(),
            SearchError::NoIndex => {
                let detail = "there is no code index here that knows of names; search for the text";
                Self::of(ProblemType::Conflict, detail)
            }
        }
    }
}

/// Something here is broken. What exactly is for the log.
fn fault(error: &(dyn std::error::Error + 'static)) -> Problem {
    tracing::error!(error, "a request failed by our own fault");
    Problem::of(ProblemType::Internal, "the server's own data cannot be used; its log says more")
}

fn unavailable(error: &(dyn std::error::Error + 'static)) -> Problem {
    tracing::error!(error, "a request could not be served");
    Problem::of(ProblemType::Unavailable, error.to_string())
}
