//! `server.hello`: the answer to `client.hello`. It belongs to one connection and has no place in the journal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::ClientCapability;
use crate::message::Message;
use crate::words::open_words;

/// The server's first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "server.hello")]
pub struct ServerHello {
    /// Who answers.
    pub server_info: ServerInfo,
    /// The number of the newest event when the client came; absent where nothing is numbered. What is told up to it is
    /// the past.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// The capabilities of the client's hello that mean something here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub understood: Vec<ClientCapability>,
    /// Those that do not: newer than this server, or misspelt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<UnknownCapability>,
}

impl Message for ServerHello {
    const TYPE: &'static str = "server.hello";
}

/// A capability nobody here knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownCapability {
    /// As the client wrote it, cut if it is long.
    pub name: String,
    /// What it may have meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<ClientCapability>,
}

/// The server in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// The server's version.
    pub version: String,
    /// The model in use; absent when none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelInfo>,
    /// What is really on, not what could be.
    #[serde(default)]
    pub capabilities: Vec<ServerCapability>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelInfo {
    /// Who serves it.
    pub provider: String,
    /// Its name there.
    pub model_name: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<ModelCapability>,
}

open_words! {
    /// Something a model can do.
    pub enum ModelCapability {
        /// Talk.
        Chat = "chat",
        /// Finish code.
        CodeCompletion = "code_completion",
        /// Change code.
        Refactor = "refactor",
    }
}

open_words! {
    /// Something the server can do.
    pub enum ServerCapability {
        /// Looks for relevant code by itself; needs a usable index.
        AgenticRag = "agentic_rag",
        /// Learns from playbooks; needs some.
        Ace = "ace",
        /// Changes several files as one.
        MultiFileEdit = "multi_file_edit",
    }
}
