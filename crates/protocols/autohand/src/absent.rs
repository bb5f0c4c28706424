//! What clients ask about and this agent does not have: goals, auto mode, plugins of its own, agents to choose from, tool
//! servers. All of it is beyond the specification.
//!
//! Client libraries have typed calls for these that fail on an error; each has an answer here that says truthfully that there
//! is nothing.

use loggia_jsonrpc::{Json, Method, NoParams};
use serde::{Deserialize, Serialize};

use crate::SuccessResult;

/// Lists the agents that can be worked with.
#[derive(Debug)]
pub struct GetSupportedAgents;

impl Method for GetSupportedAgents {
    const NAME: &'static str = "autohand.getSupportedAgents";
    type Params = NoParams;
    type Result = GetSupportedAgentsResult;
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSupportedAgentsResult {
    /// Whoever lists some says how they look.
    pub agents: Vec<Json>,
}

/// Loads plugins again.
#[derive(Debug)]
pub struct ReloadPlugins;

impl Method for ReloadPlugins {
    const NAME: &'static str = "autohand.reloadPlugins";
    type Params = NoParams;
    type Result = ReloadPluginsResult;
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadPluginsResult {
    /// Whether all that there are were loaded.
    pub success: bool,
    /// Their names.
    pub reloaded_plugins: Vec<String>,
}

/// Switches a tool server on or off.
#[derive(Debug)]
pub struct McpToggleServer;

impl Method for McpToggleServer {
    const NAME: &'static str = "autohand.mcp.toggleServer";
    type Params = NoParams;
    type Result = SuccessResult;
}

/// Connects to a tool server again.
#[derive(Debug)]
pub struct McpReconnectServer;

impl Method for McpReconnectServer {
    const NAME: &'static str = "autohand.mcp.reconnectServer";
    type Params = NoParams;
    type Result = SuccessResult;
}

/// Says which tool servers there are to be.
#[derive(Debug)]
pub struct McpSetServers;

impl Method for McpSetServers {
    const NAME: &'static str = "autohand.mcp.setServers";
    type Params = NoParams;
    type Result = SuccessResult;
}

/// Asks what the agent works towards.
#[derive(Debug)]
pub struct GoalGet;

impl Method for GoalGet {
    const NAME: &'static str = "autohand.goal.get";
    type Params = NoParams;
    type Result = GoalResult;
}

/// What agents without goals answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoalResult {
    /// Whether there are goals.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Asks whether the agent works by itself.
#[derive(Debug)]
pub struct AutomodeStatus;

impl Method for AutomodeStatus {
    const NAME: &'static str = "autohand.automode.status";
    type Params = NoParams;
    type Result = AutomodeStatusResult;
}

/// Whether it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AutomodeStatusResult {
    /// Whether it works by itself.
    pub active: bool,
    /// Whether that is interrupted.
    pub paused: bool,
}
