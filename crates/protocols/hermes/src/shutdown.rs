//! The end: the host asks, the extension answers and exits.

use loggia_jsonrpc::{Method, Order};
use serde::{Deserialize, Serialize};

/// Asks an extension to stop. It is killed when no answer comes in [`crate::limits::SHUTDOWN_TIMEOUT`].
#[derive(Debug)]
pub struct Shutdown;

impl Method for Shutdown {
    const NAME: &'static str = "shutdown";
    const ORDER: Order = Order::Free;
    type Params = ShutdownParams;
    type Result = ShutdownResult;
}

/// Why the extension is to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownParams {
    /// The reason, where the host gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ShutdownReason>,
}

/// Why an extension is asked to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ShutdownReason {
    /// The host ends.
    Closing,
    /// The user turned the extension off.
    Disabled,
    /// It is started again with new settings.
    Reload,
    /// The host gives up on it.
    Error,
    /// A reason of another version; stopping is right whatever it is.
    #[serde(untagged)]
    Other(String),
}

/// Whether the extension could stop in good order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownResult {
    /// It could.
    pub success: bool,
}
