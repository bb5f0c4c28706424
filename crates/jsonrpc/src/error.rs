//! The error object and the codes of the standard.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Json;

/// The codes every JSON-RPC protocol shares.
pub mod codes {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON, but not a message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Nobody serves this method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The one who serves the method failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The first of the codes left to implementations; the usual catch-all.
    pub const SERVER_ERROR: i64 = -32000;
}

/// Why a call failed, in the words of the one who served it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorObject {
    /// What kind of failure; switch on this.
    pub code: i64,
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// Whatever else the peer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl ErrorObject {
    /// An error with a code and a sentence.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with more to tell.
    pub fn with_data(mut self, data: impl Into<Json>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// −32601 that names the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(codes::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// −32602 that names the field.
    pub fn invalid_params(reason: impl fmt::Display) -> Self {
        Self::new(codes::INVALID_PARAMS, format!("Invalid params: {reason}"))
    }

    /// −32603 with what went wrong.
    pub fn internal(reason: impl fmt::Display) -> Self {
        Self::new(codes::INTERNAL_ERROR, format!("Internal error: {reason}"))
    }

    /// Reads what a peer put under `error`, whatever its shape.
    ///
    /// Real peers send bare strings and objects without a code; a failure must never be lost because its
    /// description was untidy. Untidy ones get the catch-all code.
    pub fn from_raw(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Tidy {
            code: i64,
            #[serde(default)]
            message: String,
            data: Option<Json>,
        }
        if let Ok(Tidy { code, message, data }) = serde_json::from_str(raw.get()) {
            return Self { code, message: message.into(), data };
        }
        match serde_json::from_str::<serde_json::Value>(raw.get()) {
            Ok(serde_json::Value::String(message)) => Self::new(codes::SERVER_ERROR, message),
            Ok(serde_json::Value::Object(fields)) => {
                let message = fields.get("message").and_then(serde_json::Value::as_str).unwrap_or(raw.get());
                Self::new(codes::SERVER_ERROR, message.to_owned())
            }
            _ => Self::new(codes::SERVER_ERROR, raw.get().to_owned()),
        }
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ErrorObject {
        ErrorObject::from_raw(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn tidy_errors_keep_everything() {
        let error = read(r#"{"code":-32005,"message":"no such task","data":{"id":"A-1"}}"#);
        assert_eq!((error.code, &*error.message), (-32005, "no such task"));
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":-32005,"message":"no such task","data":{"id":"A-1"}}"#
        );
    }

    #[test]
    fn untidy_errors_are_still_errors() {
        assert_eq!(read(r#""token has no code""#), ErrorObject::new(-32000, "token has no code"));
        assert_eq!(read(r#"{"message":"no code"}"#), ErrorObject::new(-32000, "no code"));
        assert_eq!(read(r#"{"code":"x","message":"m"}"#), ErrorObject::new(-32000, "m"));
        assert_eq!(read("42"), ErrorObject::new(-32000, "42"));
    }
}
