//! Policies: what the agent may do in a workspace. People write them, on disk and here, with the same fields.
//!
//! An unknown key is refused and every word list is closed: a typo in a deny rule must not become an allow.
//! Which rule wins is the engine's affair.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A workspace's rules. Read it, change it, put it back: nothing is lost on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Counts up with every change; `If-Match` names the one that was changed.
    pub revision: u64,
    /// What holds where no rule matches.
    pub preset: PolicyPreset,
    /// In order.
    #[serde(default)]
    pub rules: Vec<PolicyRule>,
    /// Who runs commands.
    #[serde(default)]
    pub command_mode: CommandMode,
    /// Whether the server may run a command when no client can; absent means the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_to_server_runner: Option<bool>,
    /// How server-run commands are confined.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// How much a turn may use; absent ones have the server's defaults.
    #[serde(default)]
    pub limits: PolicyLimits,
    /// What happens to files with more than one name; absent means the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<HardLinks>,
}

/// What holds where no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyPreset {
    /// Look, change nothing.
    ReadOnly,
    /// Ask before every change and command.
    Ask,
    /// Change files freely, ask before commands.
    AutoEdit,
    /// Everything that is not denied.
    Full,
}

/// One rule. It matches when all of its patterns do; one without patterns matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A glob over paths relative to the workspace root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A pattern over each simple command of a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What then.
    pub decision: Decision,
    /// How much harm a match could do, shown with the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskLevel>,
    /// Why, for whoever is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Cases that must come out as stated, checked when the policy is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<PolicyExample>,
}

/// A case that shows what a rule means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyExample {
    /// A tool to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A path to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A command line to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the rule matches it.
    pub matches: bool,
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    Allow,
    /// Ask people.
    Ask,
    /// Never.
    Deny,
}

/// How much harm something could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Easily put right.
    Low,
    /// Worth a look.
    Medium,
    /// Hard to put right.
    High,
}

/// Who runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandMode {
    /// The client, in the user's terminal, where the user sees it.
    #[default]
    LocalTerminal,
    /// The server, confined and limited, with its output streamed.
    ServerRunner,
}

/// How server-run commands are confined. What is absent has the server's defaults, which are the tight ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// Refuse the command when it cannot be confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Let it reach the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Let it use Unix sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_sockets: Option<bool>,
    /// Directories outside the workspace that it may read: toolchains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<Vec<String>>,
    /// Directories outside the workspace that it may write: caches of package managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<String>>,
    /// Variables it gets from the server's environment besides the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Vec<String>>,
}

/// What happens to files with more than one name, whose other name may lie outside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HardLinks {
    /// They are neither read nor written.
    Refuse,
    /// They may be read.
    Read,
}

/// How much a turn may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyLimits {
    /// Seconds a command may run, wherever it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_timeout_s: Option<u64>,
    /// Bytes of output kept of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Model calls in one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// Tokens in one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Seconds a question waits for an answer; absent means for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_timeout_s: Option<u64>,
}

/// `POST /v1/workspaces/{workspace_id}/policy/check`: what would the policy say to this?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyCheckParams {
    /// A tool to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A path to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A command line to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A draft to ask instead of the policy in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// What the policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyCheckResult {
    /// The decision.
    pub decision: Decision,
    /// How much harm it could do.
    pub risk: RiskLevel,
    /// The rule that decided, by its number as in the reason: the first one is 1. Absent when the preset or a built-in
    /// rule did.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// Why, in words.
    pub reason: String,
}
