//! What a workspace allows, asks for and forbids.
//!
//! Plain values: what people write down. Judging a call by them is the engine's affair.

use crate::{Preset, Risk};

/// The rules of one workspace.
///
/// How they are read: any matching rule that denies wins; else the first matching rule; else the preset. Above
/// all of it stand the built-in denials, which no policy loosens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Rises with every change, so that two people cannot overwrite each other unseen.
    pub revision: u64,
    /// What holds where no rule matches.
    pub preset: Preset,
    /// In order.
    pub rules: Vec<Rule>,
    /// Who runs commands.
    pub command_mode: CommandMode,
    /// Whether the server runs a command when no client that could is there.
    pub fallback_to_server_runner: bool,
    /// What holds commands in.
    pub sandbox: SandboxPolicy,
    /// How much of everything.
    pub limits: PolicyLimits,
    /// What happens to files with more than one name, whose other name may lie outside the root.
    pub hard_links: HardLinks,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            revision: 0,
            preset: Preset::Ask,
            rules: Vec::new(),
            command_mode: CommandMode::LocalTerminal,
            fallback_to_server_runner: true,
            sandbox: SandboxPolicy::default(),
            limits: PolicyLimits::default(),
            hard_links: HardLinks::Refuse,
        }
    }
}

/// One rule. A part that is absent matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// A tool's name, or a glob over names.
    pub tool: Option<String>,
    /// A glob over paths relative to the root.
    pub path: Option<String>,
    /// A pattern over a command's words: `git push *`.
    pub command: Option<String>,
    /// What follows.
    pub decision: Decision,
    /// How much can go wrong, if the rule knows better than the default.
    pub risk: Option<Risk>,
    /// Why, for whoever is told.
    pub reason: Option<String>,
    /// Checked when the policy is loaded, so that a rule says what its author meant.
    pub examples: Vec<RuleExample>,
}

/// A path or command, and whether the rule must match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample {
    /// The path or the command line.
    pub text: String,
    /// Whether the rule must match it or must not.
    pub matches: bool,
}

/// What a policy says to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Go ahead.
    Allow,
    /// Ask people.
    Ask,
    /// No.
    Deny,
}

/// Who runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandMode {
    /// A client does, in its terminal, and reports.
    LocalTerminal,
    /// The server does, confined.
    ServerRunner,
}

/// What holds commands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// Whether a command is refused when no sandbox works here.
    pub required: bool,
    /// Whether commands may reach the network.
    pub network: bool,
    /// Whether commands may use Unix sockets.
    pub unix_sockets: bool,
    /// Directories outside the root that commands may read: toolchains. Absolute, or beginning with `~/`.
    pub readable: Vec<String>,
    /// Directories outside the root that commands may write: caches of package managers.
    pub writable: Vec<String>,
    /// Variables that commands get from the daemon's environment besides the usual ones.
    pub environment: Vec<String>,
}

impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            required: true,
            network: false,
            unix_sockets: false,
            readable: Vec::new(),
            writable: Vec::new(),
            environment: Vec::new(),
        }
    }
}

/// How much of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyLimits {
    /// How long a command may run, in seconds.
    pub command_timeout_s: u64,
    /// How much of a command's output is kept, for each of its streams.
    pub output_bytes: u64,
    /// How many times a turn may ask the model.
    pub max_steps: u32,
    /// How many tokens a turn may use, if there is a limit.
    pub max_tokens: Option<u64>,
    /// How long a question waits, in seconds, if not for ever.
    pub approval_timeout_s: Option<u64>,
}

impl Default for PolicyLimits {
    fn default() -> Self {
        Self {
            command_timeout_s: 120,
            output_bytes: 1 << 20,
            max_steps: 100,
            max_tokens: None,
            approval_timeout_s: None,
        }
    }
}

/// What happens to files with more than one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// They are neither read nor written.
    Refuse,
    /// They may be read: package managers fill directories with them.
    Read,
}
