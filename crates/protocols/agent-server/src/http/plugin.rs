//! Plugins: which there are, whether they may run, and how they come and go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::WorkspaceId;
use crate::words::open_words;

/// `GET /v1/plugins`. Listing starts none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PluginList {
    /// By name. What cannot be used is among them, with the reason.
    pub plugins: Vec<Plugin>,
    /// Names that are enabled and that no plugin has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// What keeps settings from being read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plugin {
    /// Its name, or its directory's if its manifest cannot be read.
    pub name: String,
    /// What it is; absent if its manifest cannot be read.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<PluginType>,
    /// Whose it is.
    pub scope: PluginScope,
    /// Whether somebody enabled it.
    pub enabled: bool,
    /// Whether it can be used.
    pub state: PluginState,
    /// What is wrong with it, if something is, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its process, if it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Where it lies.
    pub directory: String,
    /// What it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its version; absent if its manifest cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version of the protocol it speaks; absent if its manifest cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Where people read about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// What is started, as its manifest has it: a program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What references to its tasks begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<String>,
    /// What it says it can do, or adds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Variables it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<PluginVariable>,
    /// What to mind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

open_words! {
    /// What a plugin is.
    pub enum PluginType {
        /// Brings tasks.
        Provider = "provider",
        /// Does the work.
        Agent = "agent",
        /// Has a say in how tasks go.
        Workflow = "workflow",
    }
}

open_words! {
    /// Whose a plugin is.
    pub enum PluginScope {
        /// The user's, for all workspaces.
        Global = "global",
        /// A workspace's. It runs only where the workspace is trusted.
        Project = "project",
    }
}

open_words! {
    /// Whether a plugin can be used.
    pub enum PluginState {
        /// Its manifest is no good.
        Broken = "broken",
        /// Its workspace is not trusted.
        Untrusted = "untrusted",
        /// Nobody enabled it.
        Disabled = "disabled",
        /// It is started when it is needed.
        Ready = "ready",
        /// It runs.
        Running = "running",
        /// It failed too often and is not started any more.
        GivenUp = "given_up",
    }
}

/// A variable that a plugin reads. Its value is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginVariable {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the plugin is of little use without it.
    pub required: bool,
    /// Whether it is set.
    pub set: bool,
}

/// `POST /v1/plugins/{plugin}/enable`, `…/disable`, `…/validate`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PluginParams {
    /// In which workspace; everywhere otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
}

/// `POST /v1/plugins/install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstallPluginParams {
    /// The address of a git repository, or the absolute path of a directory on the server's machine.
    pub source: String,
    /// For which workspace; for all of the user's otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
}

/// Whether a plugin works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginValidation {
    /// Which.
    pub name: String,
    /// Whether it starts, takes its configuration and gives a sign of life.
    pub works: bool,
    /// What is wrong, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// `POST /v1/workspaces/{workspace_id}/trust`. Without a body the workspace is trusted until somebody takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrustParams {
    /// For this run only: a name of the client's choice. It needs `for_seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How long the run is trusted from now on; 0 ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_seconds: Option<u64>,
}

/// `GET /v1/workspaces/{workspace_id}/trust`: what trusting a workspace means.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrustReport {
    /// Whether it is trusted now.
    pub trusted: bool,
    /// The plugins it brings; those that are enabled would run.
    pub plugins: Vec<Plugin>,
    /// What its files say and only holds if it is trusted.
    pub settings: Vec<TrustedSetting>,
    /// What keeps this from being known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What a file of a workspace says and only holds if the workspace is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustedSetting {
    /// The file, relative to the workspace.
    pub file: String,
    /// What would hold, in words.
    pub effect: String,
}
