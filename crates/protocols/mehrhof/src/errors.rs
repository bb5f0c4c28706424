//! The codes with which plugins fail, and what a host should do about each.

use std::time::Duration;

use loggia_jsonrpc::ErrorObject;

/// Error codes of the protocol. The five of the standard are those of [`loggia_jsonrpc::codes`].
pub mod codes {
    pub use loggia_jsonrpc::codes::{
        INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
    };

    /// General plugin error; the catch-all of real plugins.
    pub const PLUGIN_ERROR: i64 = -32000;
    /// The method exists but does nothing yet.
    pub const NOT_IMPLEMENTED: i64 = -32001;
    /// A needed capability is missing.
    pub const CAPABILITY_ERROR: i64 = -32002;
    /// The credentials are wrong or missing.
    pub const AUTHENTICATION_ERROR: i64 = -32003;
    /// The service behind the plugin wants fewer calls.
    pub const RATE_LIMIT: i64 = -32004;
    /// There is no such thing.
    pub const NOT_FOUND: i64 = -32005;
    /// The input is not acceptable.
    pub const VALIDATION_ERROR: i64 = -32006;
}

/// What a host should do about an error answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Fail the call and show the message. Also for codes nobody knows.
    Fail,
    /// Fail the call and log both lines: one of the two sides does not keep to the protocol.
    FailAndLog,
    /// Take an optional method as absent, from now on; fail a required one ([`is_required`]).
    TreatAsAbsent,
    /// If both spellings of a field were sent, try once more with the documented one only; else fail.
    RetryPlain,
    /// Forget the capability for this session, and fail.
    DropCapability,
    /// Fail, and name the environment variables the plugin wants. Never try again.
    AskForCredentials,
    /// Try again later, at most [`crate::limits::RATE_LIMIT_RETRIES`] times; [`retry_after`] may say when.
    RetryLater,
    /// Fail: what was asked for does not exist.
    NoSuchItem,
    /// Fail, and show the error's data beside its message.
    ShowData,
}

impl Reaction {
    /// What to do about an error with this code.
    pub fn to(code: i64) -> Self {
        match code {
            codes::PARSE_ERROR | codes::INVALID_REQUEST | codes::INTERNAL_ERROR => Self::FailAndLog,
            codes::METHOD_NOT_FOUND | codes::NOT_IMPLEMENTED => Self::TreatAsAbsent,
            codes::INVALID_PARAMS => Self::RetryPlain,
            codes::CAPABILITY_ERROR => Self::DropCapability,
            codes::AUTHENTICATION_ERROR => Self::AskForCredentials,
            codes::RATE_LIMIT => Self::RetryLater,
            codes::NOT_FOUND => Self::NoSuchItem,
            codes::VALIDATION_ERROR => Self::ShowData,
            _ => Self::Fail,
        }
    }
}

/// Whether a plugin is of no use without this method.
pub fn is_required(method: &str) -> bool {
    matches!(
        method,
        "provider.init"
            | "provider.parse"
            | "provider.fetch"
            | "agent.init"
            | "agent.run"
            | "workflow.init"
            | "workflow.evaluateGuard"
    )
}

/// How long the plugin asks us to wait: `data.retry_after`, in seconds.
pub fn retry_after(error: &ErrorObject) -> Option<Duration> {
    let seconds = error.data.as_ref()?.0.get("retry_after")?.as_f64()?;
    Duration::try_from_secs_f64(seconds).ok()
}
