//! Extensions: which a workspace has, what they offer, and how their commands are run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Timestamp, WorkspaceId};
use crate::words::open_words;

/// `GET /v1/extensions`. Listing starts none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionList {
    /// In the order in which they are configured.
    pub extensions: Vec<Extension>,
    /// What keeps settings from being read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// An extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extension {
    /// What it is called here.
    pub name: String,
    /// What is started: a program and its arguments.
    pub command_line: Vec<String>,
    /// Whose it is.
    pub scope: ExtensionScope,
    /// How it is.
    pub state: ExtensionState,
    /// What is wrong with it, if something is, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its process, if it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// What it says about itself, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<ExtensionAbout>,
    /// What it offers; known once it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ExtensionCommand>,
    /// What it wants to be told of; known once it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Whether it changes the schema of messages.
    pub has_schema: bool,
}

/// What an extension says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionAbout {
    /// Its name for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Where people read about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
}

/// A command that an extension offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionCommand {
    /// What it is run with.
    pub id: String,
    /// What people see.
    pub title: String,
    /// The extension's button for it, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<ExtensionButton>,
}

/// A button that an extension wants people to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionButton {
    /// Its id.
    pub id: String,
    /// What it shows, as SVG from the extension: whoever draws it takes out what could do harm.
    pub icon: String,
    /// With which others it belongs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

open_words! {
    /// Whose an extension is.
    pub enum ExtensionScope {
        /// The user's, for all workspaces.
        Global = "global",
        /// A workspace's. It runs only where the workspace is trusted.
        Project = "project",
    }
}

open_words! {
    /// How an extension is.
    pub enum ExtensionState {
        /// It is configured not to run.
        Disabled = "disabled",
        /// Its workspace is not trusted.
        Untrusted = "untrusted",
        /// It was never started.
        Idle = "idle",
        /// Its process is being started.
        Starting = "starting",
        /// It was greeted and has not answered yet.
        Initializing = "initializing",
        /// It can be used.
        Running = "running",
        /// It was told to leave.
        ShuttingDown = "shutting_down",
        /// It left.
        Stopped = "stopped",
        /// It could not be started, or ended by itself.
        Failed = "failed",
    }
}

/// Which workspace's extension is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// `POST …/run`: a command of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunExtensionParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The command's id.
    pub command: String,
    /// After how many seconds not to wait for it any longer; it goes on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u64>,
}

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionRun {
    /// The extension that ran it.
    pub extension: String,
    /// Whether it was still busy when the time was up.
    pub still_busy: bool,
    /// What the extension said meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<ExtensionLogEntry>,
}

/// `GET …/logs`: what an extension said last, and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionLog {
    /// Oldest first.
    pub entries: Vec<ExtensionLogEntry>,
}

/// Something an extension said, or that happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionLogEntry {
    /// When.
    pub at: Timestamp,
    /// How serious it is.
    pub level: LogLevel,
    /// What.
    pub message: String,
}

open_words! {
    /// How serious something said is.
    pub enum LogLevel {
        /// Good to know.
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Something failed.
        Error = "error",
    }
}
