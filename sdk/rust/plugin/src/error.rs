//! How a plugin fails, in the codes that hosts know.

use std::time::Duration;

use loggia_jsonrpc::{ErrorObject, Json};
use loggia_protocol_mehrhof::codes;
use serde_json::json;

/// Why a plugin did not do what it was asked. The message is shown to people.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", error.message)]
pub struct PluginError {
    error: ErrorObject,
    cancelled: bool,
}

impl PluginError {
    /// Something went wrong (−32000).
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(codes::PLUGIN_ERROR, message)
    }

    /// It is not implemented (−32001).
    pub fn not_implemented(message: impl Into<String>) -> Self {
        Self::of(codes::NOT_IMPLEMENTED, message)
    }

    /// A capability is missing (−32002); the host does not use it any more.
    pub fn missing_capability(message: impl Into<String>) -> Self {
        Self::of(codes::CAPABILITY_ERROR, message)
    }

    /// The credentials are wrong or missing (−32003); the host names the variables of the manifest.
    pub fn not_authenticated(message: impl Into<String>) -> Self {
        Self::of(codes::AUTHENTICATION_ERROR, message)
    }

    /// The service behind the plugin wants fewer calls (−32004); the host tries again, after so long if it is said.
    pub fn rate_limited(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        let error = Self::of(codes::RATE_LIMIT, message);
        match retry_after {
            Some(wait) => error.with_data(json!({ "retry_after": wait.as_secs_f64() })),
            None => error,
        }
    }

    /// There is no such thing (−32005).
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::of(codes::NOT_FOUND, message)
    }

    /// The input is not acceptable (−32006); data is shown beside the message.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::of(codes::VALIDATION_ERROR, message)
    }

    /// The parameters do not fit the method (−32602).
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::of(codes::INVALID_PARAMS, format!("Invalid params: {}", message.into()))
    }

    /// The same error with more to tell.
    pub fn with_data(mut self, data: impl Into<Json>) -> Self {
        self.error = self.error.with_data(data);
        self
    }

    /// The error's code.
    pub fn code(&self) -> i64 {
        self.error.code
    }

    /// Whether nobody wants the run any more. Let it pass.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    pub(crate) fn cancelled() -> Self {
        Self { cancelled: true, ..Self::new("the host has closed our input") }
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self { error: ErrorObject::method_not_found(method), cancelled: false }
    }

    pub(crate) fn internal(reason: impl std::fmt::Display) -> Self {
        Self { error: ErrorObject::internal(reason), cancelled: false }
    }

    pub(crate) fn object(&self) -> &ErrorObject {
        &self.error
    }

    fn of(code: i64, message: impl Into<String>) -> Self {
        Self { error: ErrorObject::new(code, message.into()), cancelled: false }
    }
}

impl From<std::io::Error> for PluginError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}
