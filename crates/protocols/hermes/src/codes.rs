//! The error codes of Hermes. The standard's own five are in [`loggia_jsonrpc::codes`] and listed here by name.
//!
//! Readers switch on the code; `message` is for people and `data` is optional.

use std::ops::RangeInclusive;

use loggia_jsonrpc::codes as standard;

/// Something failed that no other code describes; also an extension's failed shutdown.
pub const GENERAL: i64 = standard::SERVER_ERROR;
/// The extension asked before its handshake had ended.
pub const NOT_INITIALIZED: i64 = -32001;
/// A second `initialize`.
pub const ALREADY_INITIALIZED: i64 = -32002;
/// The editor is empty.
pub const NO_MESSAGE: i64 = -32003;
/// The content cannot be read as a message.
pub const INVALID_MESSAGE: i64 = -32004;
/// A field path is not well formed.
pub const INVALID_PATH: i64 = -32005;
/// A field path leads to nothing.
pub const PATH_NOT_FOUND: i64 = -32006;
/// A window's address cannot be read, or is neither http nor https.
pub const INVALID_URL: i64 = -32007;
/// A window could not be opened or closed, or belongs to somebody else.
pub const WINDOW_ERROR: i64 = -32008;
/// No extension has this command.
pub const COMMAND_NOT_FOUND: i64 = -32009;
/// Reserved; commands have no time-out.
pub const COMMAND_TIMEOUT: i64 = -32010;
/// A message does not fit the schema.
pub const VALIDATION_ERROR: i64 = -32011;
/// A dialog could not be shown.
pub const DIALOG_ERROR: i64 = -32012;

/// Codes that belong to Hermes.
pub const HERMES_RANGE: RangeInclusive<i64> = -32049..=-32000;
/// Codes an extension may give its own meaning.
pub const EXTENSION_RANGE: RangeInclusive<i64> = -32099..=-32050;

/// Every code with its name, in documentation order.
pub const NAMES: &[(i64, &str)] = &[
    (standard::PARSE_ERROR, "parse error"),
    (standard::INVALID_REQUEST, "invalid request"),
    (standard::METHOD_NOT_FOUND, "method not found"),
    (standard::INVALID_PARAMS, "invalid params"),
    (standard::INTERNAL_ERROR, "internal error"),
    (GENERAL, "general error"),
    (NOT_INITIALIZED, "not initialised"),
    (ALREADY_INITIALIZED, "already initialised"),
    (NO_MESSAGE, "no message open"),
    (INVALID_MESSAGE, "invalid message"),
    (INVALID_PATH, "invalid path"),
    (PATH_NOT_FOUND, "path not found"),
    (INVALID_URL, "invalid URL"),
    (WINDOW_ERROR, "window error"),
    (COMMAND_NOT_FOUND, "command not found"),
    (COMMAND_TIMEOUT, "command timeout"),
    (VALIDATION_ERROR, "validation error"),
    (DIALOG_ERROR, "dialog error"),
];

/// The name of a code, if it is one of the protocol's.
pub fn name(code: i64) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}
