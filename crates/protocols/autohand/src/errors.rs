//! The codes with which calls fail, and which an `autohand.error` notification carries.

/// Error codes of the protocol. The five of the standard are those of [`loggia_jsonrpc::codes`].
pub mod codes {
    pub use loggia_jsonrpc::codes::{
        INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
    };

    /// A tool or an action failed.
    pub const EXECUTION_ERROR: i64 = -32000;
    /// The user said no.
    pub const PERMISSION_DENIED: i64 = -32001;
    /// An operation took too long.
    pub const TIMEOUT: i64 = -32002;
    /// The agent is at work on another request.
    pub const AGENT_BUSY: i64 = -32003;
    /// The operation was aborted.
    pub const ABORTED: i64 = -32004;

    /// Beyond the specification: the agent could not start.
    pub const INITIALIZATION_FAILED: i64 = -32010;
    /// Beyond the specification: the model provider wants a login first.
    pub const AUTHENTICATION_REQUIRED: i64 = -32011;
}
