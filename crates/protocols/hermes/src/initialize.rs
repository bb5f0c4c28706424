//! The handshake: the host says who it is, the extension says what it offers.
//!
//! The answer itself completes the handshake; no further message follows. The specification names the method, its
//! fields are what existing peers send.

use loggia_jsonrpc::{Method, Order};
use serde::{Deserialize, Serialize};

use crate::event::{EventName, EventSubscription};
use crate::{CommandId, SchemaOverrides, nullable};

/// The first message on a connection, sent by the host at once.
#[derive(Debug)]
pub struct Initialize;

impl Method for Initialize {
    const NAME: &'static str = "initialize";
    const ORDER: Order = Order::Free;
    type Params = InitializeParams;
    type Result = InitializeResult;
}

/// What the host tells about itself. A host sends all three; the specification's own sample sends none, so an
/// extension reads each as optional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The host's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hermes_version: Option<String>,
    /// The protocol's version; [`crate::API_VERSION`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Absolute path of a directory all extensions share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_directory: Option<String>,
}

/// What the extension tells about itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// Its name for people.
    pub name: String,
    /// Its version; nobody checks the form.
    pub version: String,
    /// One sentence about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// What it can do. Always written, because it is documented as required; absent is read as nothing.
    #[serde(default, deserialize_with = "nullable::or_default")]
    pub capabilities: Capabilities,
    /// Buttons it adds.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub toolbar_buttons: Vec<ToolbarButton>,
    /// Changes it makes to the field schema; applied whenever present, whatever `schemaProvider` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaOverrides>,
}

/// What an extension can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Commands it executes.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandId>,
    /// Whether it says that it overrides the schema; advice only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_provider: Option<bool>,
    /// Events it wants to hear of.
    #[serde(default, deserialize_with = "nullable::or_default", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventSubscription>,
}

impl Capabilities {
    /// The subscription to an event; of several to the same one the first counts.
    pub fn subscription(&self, name: &EventName) -> Option<&EventSubscription> {
        self.events.iter().find(|event| event.name == *name)
    }
}

/// A button's name within its extension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ButtonId(pub String);

/// A button in the host's toolbar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolbarButton {
    /// Its name within the extension.
    pub id: ButtonId,
    /// Its tooltip.
    pub label: String,
    /// SVG markup, drawn at about 20×20. It comes from a stranger: whoever renders it cleans it first.
    pub icon: String,
    /// The command a click executes, also when `commands` does not list it.
    pub command: CommandId,
    /// A grouping nobody uses yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}
