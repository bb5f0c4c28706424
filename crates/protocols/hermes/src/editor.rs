//! Reading and changing the message in the editor. These calls apply in the order they arrive.
//!
//! The content travels as text in one of four forms; what the text means is not this crate's affair.

use loggia_jsonrpc::{Method, Order};
use serde::{Deserialize, Serialize};

use crate::nullable;

/// The form of a message's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageFormat {
    /// HL7 v2 with its delimiters.
    #[default]
    Hl7,
    /// A tree of segments as JSON.
    Json,
    /// The same tree as YAML.
    Yaml,
    /// The same tree as TOML.
    Toml,
}

/// Reads the message.
#[derive(Debug)]
pub struct GetMessage;

impl Method for GetMessage {
    const NAME: &'static str = "editor/getMessage";
    const ORDER: Order = Order::Ordered;
    type Params = GetMessageParams;
    type Result = GetMessageResult;
}

/// How the message is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetMessageParams {
    /// In which form.
    pub format: MessageFormat,
}

/// The message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetMessageResult {
    /// Its text.
    pub message: String,
    /// Whether it belongs to a file.
    pub has_file: bool,
    /// That file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// Replaces the message.
#[derive(Debug)]
pub struct SetMessage;

impl Method for SetMessage {
    const NAME: &'static str = "editor/setMessage";
    const ORDER: Order = Order::Ordered;
    type Params = SetMessageParams;
    type Result = SetMessageResult;
}

/// The new message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetMessageParams {
    /// Its text.
    pub message: String,
    /// Its form. Documented as required, so always written; a published tutorial leaves it out and means HL7.
    #[serde(default, deserialize_with = "nullable::or_default")]
    pub format: MessageFormat,
}

/// Whether the message was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetMessageResult {
    /// It was.
    pub success: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Changes single fields.
#[derive(Debug)]
pub struct PatchMessage;

impl Method for PatchMessage {
    const NAME: &'static str = "editor/patchMessage";
    const ORDER: Order = Order::Ordered;
    type Params = PatchMessageParams;
    type Result = PatchMessageResult;
}

/// What to change, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchMessageParams {
    /// Each is applied to the result of the one before.
    pub patches: Vec<Patch>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// What to change, like `PID.5.1`.
    pub path: String,
    /// The new value; absent clears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Removes a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<bool>,
    /// Adds a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<bool>,
}

/// What became of the patches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchMessageResult {
    /// Whether all of them applied.
    pub success: bool,
    /// How many did.
    pub patches_applied: u64,
    /// Those that did not; absent when there are none.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<PatchError>,
}

/// A patch that did not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchError {
    /// Its place in the list, from 0.
    pub index: u64,
    /// Its path.
    pub path: String,
    /// What was wrong.
    pub message: String,
}
