//! Agents: hand one a prompt, follow its stream, answer its tool calls.

use std::collections::BTreeMap;

use loggia_jsonrpc::{Json, Method, NoParams, Order};
use serde::{Deserialize, Serialize};

use crate::ToolUseId;
use crate::lenient::{as_number, null_as_default, text, text_of, words_of};

/// Hands the agent its configuration. The first call to an agent's process.
#[derive(Debug)]
pub struct AgentInit;

impl Method for AgentInit {
    const NAME: &'static str = "agent.init";
    const ORDER: Order = Order::Ordered;
    type Params = AgentInitParams;
    type Result = AgentInitResult;
}

/// The configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct AgentInitParams {
    /// As the user wrote it, an object; `{}` when there is none.
    #[serde(default = "Json::object")]
    pub config: Json,
}

/// Who the agent is. The specification tells it flat; some plugins tell it in `metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Json")]
pub struct AgentInitResult {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it can do; absent means "as the manifest says".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<AgentCapability>>,
    /// The other form. Known from peers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<AgentMetadata>,
}

impl From<Json> for AgentInitResult {
    /// Nothing in it is needed, so nothing in it can be wrong.
    fn from(Json(value): Json) -> Self {
        let metadata = value.get("metadata").filter(|metadata| metadata.is_object()).cloned();
        Self {
            name: text_of(&value, "name"),
            model: text_of(&value, "model"),
            capabilities: words_of(&value, "capabilities"),
            metadata: metadata.map(|metadata| Json(metadata).into()),
        }
    }
}

impl AgentInitResult {
    /// The agent's name, in either form.
    pub fn agent_name(&self) -> Option<&str> {
        self.name.as_deref().or_else(|| self.metadata.as_ref()?.name.as_deref())
    }

    /// The model in use, in either form; of several, the first.
    pub fn agent_model(&self) -> Option<&str> {
        self.model.as_deref().or_else(|| self.metadata.as_ref()?.models.first().map(String::as_str))
    }
}

/// Who the agent is, in the other form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Json")]
pub struct AgentMetadata {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The models it can use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

impl From<Json> for AgentMetadata {
    fn from(Json(value): Json) -> Self {
        let of = |key| text_of(&value, key);
        let models = words_of(&value, "models").unwrap_or_default();
        Self { name: of("name"), version: of("version"), description: of("description"), models }
    }
}

/// Something an agent can do; for information only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentCapability {
    /// It tells its answer bit by bit.
    Streaming,
    /// It calls tools.
    ToolUse,
    /// It runs code.
    CodeExecution,
    /// It sees pictures.
    Vision,
    /// It reads long texts.
    LongContext,
    /// It changes files.
    FileOperations,
    /// It remembers earlier prompts.
    MultiTurn,
    /// It takes standing instructions.
    SystemPrompt,
    /// A word we do not know.
    #[serde(untagged)]
    Other(String),
}

/// Asks whether the agent is ready.
#[derive(Debug)]
pub struct AgentAvailable;

impl Method for AgentAvailable {
    const NAME: &'static str = "agent.available";
    const ORDER: Order = Order::Ordered;
    type Params = NoParams;
    type Result = AgentAvailableResult;
}

/// Whether it is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct AgentAvailableResult {
    /// Whether it is.
    pub available: bool,
    /// Why not.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why not, under another name. Known from peers only.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AgentAvailableResult {
    /// Why the agent is not ready, under either name.
    pub fn why_not(&self) -> Option<&str> {
        self.reason.as_deref().or(self.error.as_deref())
    }
}

/// Runs a prompt. Events follow as `stream` notifications, then the answer. One run per process at a time.
#[derive(Debug)]
pub struct AgentRun;

impl Method for AgentRun {
    const NAME: &'static str = "agent.run";
    const ORDER: Order = Order::Ordered;
    type Params = AgentRunParams;
    type Result = AgentRunResult;
}

/// What the agent should do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct AgentRunParams {
    /// The prompt, with the conversation so far rendered into it.
    pub prompt: String,
    /// What the prompt is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RunContext>,
    /// The tools on offer.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// Environment for this run. Known from peers only.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// What a prompt is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct RunContext {
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The phase the task is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Files to look at. Known from peers only.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Json,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "Json")]
pub struct AgentRunResult {
    /// How; silence counts as complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// Tokens the model read and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<u64>,
    /// What went wrong. Known from peers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<Json> for AgentRunResult {
    /// Only the status counts. Whatever else a run answers, and in whatever shape, what it said before stands.
    fn from(Json(value): Json) -> Self {
        let status = value.get("status").and_then(|status| RunStatus::deserialize(status).ok());
        let tokens = value.get("tokens_used").and_then(as_number);
        let tokens_used = tokens.and_then(|tokens| u64::try_from(tokens).ok());
        Self { status, tokens_used, error: text_of(&value, "error") }
    }
}

impl AgentRunResult {
    /// Whether the agent says that it failed.
    pub fn has_failed(&self) -> bool {
        self.status == Some(RunStatus::Error)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The agent is done.
    Complete,
    /// The agent failed.
    Error,
    /// A word we do not know.
    #[serde(untagged)]
    Other(String),
}

/// Hands a tool's result to the running agent.
#[derive(Debug)]
pub struct AgentToolResult;

impl Method for AgentToolResult {
    const NAME: &'static str = "agent.tool_result";
    // The one call that arrives while another runs: behind `agent.run` it would wait for itself.
    const ORDER: Order = Order::Urgent;
    type Params = AgentToolResultParams;
    type Result = AgentToolResultResult;
}

/// A tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct AgentToolResultParams {
    /// The call it answers.
    pub tool_id: ToolUseId,
    /// What came out, or what went wrong, in words.
    pub result: String,
}

/// Whether the result arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct AgentToolResultResult {
    /// Whether it did.
    #[serde(default)]
    pub acknowledged: bool,
}
