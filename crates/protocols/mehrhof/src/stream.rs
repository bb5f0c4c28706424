//! The events of a running agent.
//!
//! Invariant: an event is never lost to an odd shape. An unknown type keeps its data, and a known type whose
//! data does not fit keeps both its data and the reason, so that one bad event cannot end a run.

use std::borrow::Cow;

use loggia_jsonrpc::{Json, Notification};
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::ToolUseId;
use crate::lenient::{count, number, text};

/// Something happened in the running agent.
#[derive(Debug)]
pub struct Stream;

impl Notification for Stream {
    const NAME: &'static str = "stream";
    type Params = StreamEvent;
}

/// What happened. On the wire: `type` and `data`.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// More of the answer.
    Text(String),
    /// A file to change.
    File(FileEvent),
    /// The end of the stream; the answer to `agent.run` follows.
    Complete,
    /// The agent wants a tool run.
    ToolUse(ToolUseEvent),
    /// The agent ran a tool of its own.
    ToolResult(ToolResultEvent),
    /// What it cost so far.
    Usage(UsageEvent),
    /// What the agent thinks; never part of the answer.
    Thinking(String),
    /// The run failed; the answer to `agent.run` still follows.
    Error(StreamError),
    /// An event of a type we do not know.
    Unknown {
        /// Its type.
        kind: String,
        /// Its data.
        data: Json,
    },
    /// An event of a known type whose data does not fit it.
    Misshapen {
        /// Its type.
        kind: String,
        /// Its data.
        data: Json,
        /// What is wrong.
        problem: String,
    },
}

/// A file to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct FileEvent {
    /// The file.
    pub path: String,
    /// Its new text; needless where it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What to do; silence means write. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<FileAction>,
}

/// What to do with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// Write the text.
    Write,
    /// Remove the file.
    Delete,
    /// A word we do not know.
    #[serde(untagged)]
    Other(String),
}

/// A tool the agent wants run. Known from peers only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ToolUseEvent {
    /// To be named in `agent.tool_result`.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    #[serde(default = "Json::object")]
    pub input: Json,
    /// What the agent wants with it.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A tool the agent ran by itself. Known from peers only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ToolResultEvent {
    /// The call.
    pub id: ToolUseId,
    /// What came out; usually text.
    #[serde(default)]
    pub result: Json,
}

/// What a run cost so far. Known from peers only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct UsageEvent {
    /// Tokens the model read.
    #[serde(default, deserialize_with = "count")]
    pub input_tokens: u64,
    /// Tokens the model wrote.
    #[serde(default, deserialize_with = "count")]
    pub output_tokens: u64,
    /// Tokens the model did not need to read again.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
}

/// Why a run failed. Known from peers only; some send the message alone, as text.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamError {
    /// The plugin's code, if it gave one; nobody says whether it is a number or a word.
    pub code: Option<Json>,
    /// What went wrong.
    pub message: String,
}

impl StreamEvent {
    /// The event's `type`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::File(_) => "file",
            Self::Complete => "complete",
            Self::ToolUse(_) => "tool_use",
            Self::ToolResult(_) => "tool_result",
            Self::Usage(_) => "usage",
            Self::Thinking(_) => "thinking",
            Self::Error(_) => "error",
            Self::Unknown { kind, .. } | Self::Misshapen { kind, .. } => kind,
        }
    }

    fn read(kind: &str, data: &Value) -> Result<Option<Self>, String> {
        Ok(Some(match kind {
            "text" => Self::Text(read_text(data)?),
            "file" => Self::File(read_object(data)?),
            "complete" => Self::Complete,
            "tool_use" => Self::ToolUse(read_object(data)?),
            "tool_result" => Self::ToolResult(read_object(data)?),
            "usage" => Self::Usage(read_object(data)?),
            "thinking" => Self::Thinking(read_text(data)?),
            "error" => Self::Error(read_error(data)?),
            _ => return Ok(None),
        }))
    }
}

fn read_object<T: DeserializeOwned>(data: &Value) -> Result<T, String> {
    T::deserialize(data).map_err(|error| error.to_string())
}

/// Text as such, or as the `text` of an object.
fn read_text(data: &Value) -> Result<String, String> {
    let text = data.as_str().or_else(|| data.get("text")?.as_str());
    text.map(str::to_owned).ok_or_else(|| "a text, or an object with `text`, is needed".to_owned())
}

fn read_error(data: &Value) -> Result<StreamError, String> {
    if let Some(message) = data.as_str() {
        return Ok(StreamError { code: None, message: message.to_owned() });
    }
    let message = data.get("message").and_then(Value::as_str);
    let message = message.ok_or_else(|| "a text, or an object with `message`, is needed".to_owned())?;
    let code = data.get("code").filter(|code| !code.is_null()).cloned().map(Json);
    Ok(StreamError { code, message: message.to_owned() })
}

impl<'de> Deserialize<'de> for StreamEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(rename = "type", borrow)] // `type` is a word of the language.
            kind: Cow<'a, str>,
            #[serde(default)]
            data: Json,
        }
        let Fields { kind, data } = Fields::deserialize(deserializer)?;
        let data = match (&*kind, data.0) {
            // Nearly all events are this one; its text is not copied.
            ("text", Value::String(text)) => return Ok(Self::Text(text)),
            (_, data) => data,
        };
        let read = Self::read(&kind, &data);
        let (kind, data) = (kind.into_owned(), Json(data));
        Ok(match read {
            Ok(Some(event)) => event,
            Ok(None) => Self::Unknown { kind, data },
            Err(problem) => Self::Misshapen { kind, data, problem },
        })
    }
}

impl Serialize for StreamEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("StreamEvent", 2)?;
        fields.serialize_field("type", self.kind())?;
        match self {
            Self::Text(text) | Self::Thinking(text) => fields.serialize_field("data", text)?,
            Self::File(event) => fields.serialize_field("data", event)?,
            // The specification shows `null` here, and plugins' readers look for the key.
            Self::Complete => fields.serialize_field("data", &())?,
            Self::ToolUse(event) => fields.serialize_field("data", event)?,
            Self::ToolResult(event) => fields.serialize_field("data", event)?,
            Self::Usage(event) => fields.serialize_field("data", event)?,
            Self::Error(error) => fields.serialize_field("data", error)?,
            Self::Unknown { data, .. } | Self::Misshapen { data, .. } => {
                fields.serialize_field("data", data)?;
            }
        }
        fields.end()
    }
}

impl Serialize for StreamError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(code) = &self.code else { return serializer.serialize_str(&self.message) };
        let mut fields = serializer.serialize_struct("StreamError", 2)?;
        fields.serialize_field("code", code)?;
        fields.serialize_field("message", &self.message)?;
        fields.end()
    }
}
