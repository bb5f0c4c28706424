//! Events about the message in the editor, and how an extension subscribes to them.
//!
//! The specification does not name them; existing peers do. The host sends an event to its subscribers only.

use loggia_jsonrpc::{FieldError, Json, Notification, decode};
use serde::{Deserialize, Serialize};

use crate::MessageFormat;

/// The message was edited, by anybody; an extension hears of its own edits too.
#[derive(Debug)]
pub struct MessageChanged;

impl Notification for MessageChanged {
    const NAME: &'static str = "message/changed";
    type Params = MessageChangedParams;
}

/// The message after a change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageChangedParams {
    /// Whether the message belongs to a file.
    pub has_file: bool,
    /// That file; only with `hasFile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The text in `format`, for those who asked for content and if it could be converted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The form of `message`; present exactly when that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MessageFormat>,
}

/// A message was opened or begun.
#[derive(Debug)]
pub struct MessageOpened;

impl Notification for MessageOpened {
    const NAME: &'static str = "message/opened";
    type Params = MessageOpenedParams;
}

/// What was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageOpenedParams {
    /// Whether the message is new and has no file yet.
    pub is_new: bool,
    /// Its file; absent when it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// A message was written to its file.
#[derive(Debug)]
pub struct MessageSaved;

impl Notification for MessageSaved {
    const NAME: &'static str = "message/saved";
    type Params = MessageSavedParams;
}

/// Where it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSavedParams {
    /// The file.
    pub file_path: String,
    /// Whether it went to a file of a new name.
    pub save_as: bool,
}

/// The name of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventName {
    /// [`MessageChanged`].
    #[serde(rename = "message/changed")] // the name of a method, which no casing rule gives
    MessageChanged,
    /// [`MessageOpened`].
    #[serde(rename = "message/opened")] // as above
    MessageOpened,
    /// [`MessageSaved`].
    #[serde(rename = "message/saved")] // as above
    MessageSaved,
    /// An event this host does not have: it is never sent and the host warns once.
    #[serde(untagged)]
    Other(String),
}

/// The wish to hear of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UnreadSubscription")]
pub struct EventSubscription {
    /// Which event.
    pub name: EventName,
    /// How it is to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<EventOptions>,
}

/// The options of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EventOptions {
    /// Of `message/changed`, the only event that has any.
    Changed(ChangedOptions),
    /// Of any other event: carried along, because what they mean is not known.
    Unused(Json),
}

/// How `message/changed` is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedOptions {
    /// Whether the event carries the message; absent means no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_content: Option<bool>,
    /// In which form; absent means HL7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MessageFormat>,
}

impl EventSubscription {
    /// The form in which `message/changed` carries the message to this subscriber, if it does.
    pub fn content_format(&self) -> Option<MessageFormat> {
        match &self.options {
            Some(EventOptions::Changed(options)) if options.include_content == Some(true) => {
                Some(options.format.unwrap_or_default())
            }
            _ => None,
        }
    }
}

/// A subscription whose options wait for the event's name: only then is it known what they must be.
#[derive(Deserialize)]
struct UnreadSubscription {
    name: EventName,
    #[serde(default)]
    options: Option<Json>,
}

impl TryFrom<UnreadSubscription> for EventSubscription {
    type Error = FieldError;

    fn try_from(unread: UnreadSubscription) -> Result<Self, FieldError> {
        let UnreadSubscription { name, options } = unread;
        let options = match (&name, options) {
            (_, None) => None,
            (EventName::MessageChanged, Some(options)) => {
                let read = decode(&options.0.to_string());
                Some(EventOptions::Changed(read.map_err(|error| error.inside("options"))?))
            }
            (_, Some(options)) => Some(EventOptions::Unused(options)),
        };
        Ok(Self { name, options })
    }
}
