//! The calls every plugin may get: are you there, and please leave.
//!
//! Many plugins know neither. Any well-formed answer means "alive" and any answer at all means "leaving", so
//! both results can be read from whatever JSON was sent.

use loggia_jsonrpc::{Json, Method, NoParams, Order};
use serde::{Deserialize, Serialize};

/// Asks the plugin to answer and then to leave.
#[derive(Debug)]
pub struct Shutdown;

impl Method for Shutdown {
    const NAME: &'static str = "shutdown";
    const ORDER: Order = Order::Ordered;
    type Params = NoParams;
    type Result = ShutdownResult;
}

/// What a plugin says when it leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Json")]
pub struct ShutdownResult {
    /// `shutting_down`, from plugins that follow the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl ShutdownResult {
    /// What a plugin that follows the specification says.
    pub fn shutting_down() -> Self {
        Self { status: Some("shutting_down".to_owned()) }
    }
}

impl From<Json> for ShutdownResult {
    fn from(Json(value): Json) -> Self {
        Self { status: value.get("status").and_then(|status| status.as_str()).map(str::to_owned) }
    }
}

/// Asks whether the plugin is there.
#[derive(Debug)]
pub struct Ping;

impl Method for Ping {
    const NAME: &'static str = "ping";
    const ORDER: Order = Order::Ordered;
    type Params = NoParams;
    type Result = PingResult;
}

/// A sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Json")]
pub struct PingResult {
    /// `true`, from plugins that follow the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pong: Option<bool>,
}

impl From<Json> for PingResult {
    fn from(Json(value): Json) -> Self {
        Self { pong: value.get("pong").and_then(serde_json::Value::as_bool) }
    }
}
