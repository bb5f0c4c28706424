//! What a client may look up: commands, models, tools, context use. Beyond the specification.

use loggia_jsonrpc::{Json, Method, NoParams};
use serde::{Deserialize, Serialize};

use crate::Quantity;

/// Lists the commands a prompt may begin with.
#[derive(Debug)]
pub struct GetSupportedCommands;

impl Method for GetSupportedCommands {
    const NAME: &'static str = "autohand.getSupportedCommands";
    type Params = NoParams;
    type Result = GetSupportedCommandsResult;
}

/// The commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSupportedCommandsResult {
    /// Each with its leading `/`.
    pub commands: Vec<String>,
}

/// Lists the models to choose from.
#[derive(Debug)]
pub struct GetSupportedModels;

impl Method for GetSupportedModels {
    const NAME: &'static str = "autohand.getSupportedModels";
    type Params = NoParams;
    type Result = GetSupportedModelsResult;
}

/// The models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSupportedModelsResult {
    /// At least one.
    pub models: Vec<SupportedModel>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupportedModel {
    /// For `autohand.modelSet`.
    pub id: String,
    /// For people.
    pub display_name: String,
}

/// Asks what fills the model's context window.
#[derive(Debug)]
pub struct GetContextUsage;

impl Method for GetContextUsage {
    const NAME: &'static str = "autohand.getContextUsage";
    type Params = NoParams;
    type Result = GetContextUsageResult;
}

/// Tokens by what they are spent on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetContextUsageResult {
    /// The rules of the house.
    pub system_prompt: u64,
    /// Descriptions of tools.
    pub tools: u64,
    /// The conversation.
    pub messages: u64,
    /// Descriptions of tools from other servers.
    pub mcp_tools: u64,
    /// Files of standing instructions.
    pub memory_files: u64,
    /// All of it.
    pub total: u64,
    /// The window's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The used share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_percent: Option<Quantity>,
    /// Whether it gets tight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_warning: Option<bool>,
    /// Whether it is about to burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_critical: Option<bool>,
}

/// Lists the tools.
#[derive(Debug)]
pub struct GetToolsRegistry;

impl Method for GetToolsRegistry {
    const NAME: &'static str = "autohand.getToolsRegistry";
    type Params = NoParams;
    type Result = GetToolsRegistryResult;
}

/// The tools, and what could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetToolsRegistryResult {
    /// The tools.
    pub tools: Vec<RegisteredTool>,
    /// What could not be loaded.
    pub diagnostics: Vec<RegistryDiagnostic>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Where it is from.
    pub source: ToolSource,
}

/// Where a tool is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolSource {
    /// The agent itself.
    Builtin,
    /// Made by the agent while it worked.
    Meta,
    /// An extension.
    Extension,
}

/// A tool that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryDiagnostic {
    /// Its file.
    pub file: String,
    /// Why not.
    pub reason: String,
}

/// Lists the tool servers.
#[derive(Debug)]
pub struct McpListServers;

impl Method for McpListServers {
    const NAME: &'static str = "autohand.mcp.listServers";
    type Params = NoParams;
    type Result = McpListServersResult;
}

/// The tool servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpListServersResult {
    /// The servers.
    pub servers: Vec<McpServer>,
}

/// One tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How it is, in one word.
    pub status: String,
    /// How many tools it brings.
    pub tool_count: u64,
}

/// Lists the tools of tool servers.
#[derive(Debug)]
pub struct McpListTools;

impl Method for McpListTools {
    const NAME: &'static str = "autohand.mcp.listTools";
    type Params = McpListToolsParams;
    type Result = McpListToolsResult;
}

/// Whose tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpListToolsParams {
    /// One server; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// The tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpListToolsResult {
    /// The tools.
    pub tools: Vec<McpTool>,
}

/// One tool of a tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Whose it is.
    pub server_name: String,
}

/// Reads the configuration of tool servers.
#[derive(Debug)]
pub struct McpGetServerConfigs;

impl Method for McpGetServerConfigs {
    const NAME: &'static str = "autohand.mcp.getServerConfigs";
    type Params = NoParams;
    type Result = McpGetServerConfigsResult;
}

/// The configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpGetServerConfigsResult {
    /// As configured, with every secret replaced by `***`.
    pub configs: Vec<Json>,
}
