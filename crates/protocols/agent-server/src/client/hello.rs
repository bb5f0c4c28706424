//! `client.hello`: who is there and what it can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::words::open_words;

/// The first message on a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.hello")]
pub struct ClientHello {
    /// Who is there.
    pub client_info: ClientInfo,
}

impl Message for ClientHello {
    const TYPE: &'static str = "client.hello";
}

/// A client in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// The program's name; other clients see it.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<ClientCapability>,
}

open_words! {
    /// Something a client can do.
    pub enum ClientCapability {
        /// Shows patches, applies the accepted ones itself and reports.
        DiffPreview = "diff_preview",
        /// Runs approved commands in the user's terminal and reports.
        TerminalExec = "terminal_exec",
        /// Sends the state of the repository.
        GitIntegration = "git_integration",
        /// Wants a message sent during a turn to wait for the next one.
        Queue = "queue",
        /// Wants tokens without the text so far.
        DeltaOnly = "delta_only",
        /// Shows dialogs and windows of extensions, on the stream that belongs to no session.
        Dialogs = "dialogs",
    }
}
