//! Open messages: read and changed by paths into them, saved, undone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{MessageId, WorkspaceId};
use crate::words::open_words;

/// `GET /v1/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MessageList {
    /// At most one of each workspace.
    pub messages: Vec<OpenMessage>,
}

/// A message that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenMessage {
    /// Its id; another one for every message that is opened.
    pub message_id: MessageId,
    /// Where it is open.
    pub workspace_id: WorkspaceId,
    /// Its file, relative to the workspace root; absent if it has none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its file, as an absolute path; absent if it was never saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What it is written in.
    pub format: MessageFormat,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// Whether it differs from its file.
    pub unsaved: bool,
    /// Whether there is a step to take back.
    pub can_undo: bool,
    /// Whether there is one to make again.
    pub can_redo: bool,
    /// How many bytes its text has.
    pub bytes: u64,
}

open_words! {
    /// How a message is written.
    pub enum MessageFormat {
        /// As HL7 version 2.
        Hl7 = "hl7",
        /// As JSON.
        Json = "json",
        /// As YAML.
        Yaml = "yaml",
        /// As TOML.
        Toml = "toml",
    }
}

/// `POST /v1/messages`: a file, or a new message with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenMessageParams {
    /// Where to open it.
    pub workspace_id: WorkspaceId,
    /// The file, relative to the workspace root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text of a new message, which has no file yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What that text is written in; `hl7` if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MessageFormat>,
}

/// `GET …/text`: a whole message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageContent {
    /// The text.
    pub text: String,
    /// What it is written in.
    pub format: MessageFormat,
    /// Which message it is, and at which revision.
    pub message: OpenMessage,
}

/// `PUT …/text`: another text in a message's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetMessageParams {
    /// The text.
    pub text: String,
    /// What it is written in; as the message is if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MessageFormat>,
}

/// `GET …/value`: what stands at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageValue {
    /// The place.
    pub path: String,
    /// What stands there; absent if the path leads nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// `POST …/patch`: changes of single places, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchMessageParams {
    /// The changes.
    pub patches: Vec<MessagePatch>,
}

/// A change of one place in a message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MessagePatch {
    /// Which place.
    pub path: String,
    /// What shall stand there; it is cleared if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether the place itself shall go.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Whether the place shall be made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create: bool,
}

/// What became of patches. Those that applied are one step for undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchedMessage {
    /// The message now.
    pub message: OpenMessage,
    /// How many applied.
    pub applied: u64,
    /// Those that did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedPatch>,
}

/// A patch that did not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedPatch {
    /// Its place in the list, from 0.
    pub index: u64,
    /// Its path.
    pub path: String,
    /// Why.
    pub message: String,
}

/// `POST …/save`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SaveMessageParams {
    /// Another file than its own, relative to the workspace root. It is its file from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// `GET …/validation`: what is doubtful about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageValidation {
    /// Whether nothing is wrong; something may still be doubtful.
    pub valid: bool,
    /// What is wrong or doubtful.
    pub findings: Vec<MessageFinding>,
}

/// Something doubtful about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageFinding {
    /// Where, as a path into the message.
    pub path: String,
    /// How serious it is.
    pub severity: FindingSeverity,
    /// What.
    pub message: String,
}

open_words! {
    /// How serious a finding is.
    pub enum FindingSeverity {
        /// It is wrong.
        Error = "error",
        /// It is doubtful.
        Warning = "warning",
    }
}

/// `GET /v1/messages/schema`: what is known about the segments of messages, with what extensions changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MessageSchema {
    /// The entries of each segment, by its name.
    pub segments: BTreeMap<String, Vec<SchemaField>>,
}

/// What is known about a field, or about a component of one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SchemaField {
    /// The field's number, from 1.
    pub field: u16,
    /// The component's number, from 1; absent for the whole field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<u16>,
    /// What people call it.
    pub name: String,
    /// What it is shown together with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What helps to fill it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it must not be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// How long it is at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// How long it is at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// A regular expression for the whole value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What kind of value it is, if it is a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<FieldDataType>,
    /// What is shown while it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The values it may have, with what they mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<BTreeMap<String, String>>,
    /// What a new message starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

open_words! {
    /// Kinds of values that name a moment.
    pub enum FieldDataType {
        /// A day.
        Date = "date",
        /// A day and a time of it.
        DateTime = "datetime",
    }
}
