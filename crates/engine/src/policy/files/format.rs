//! A policy as TOML.
//!
//! The file's own types, with the same fields as the domain's. Everything may be left out; what is not known is an
//! error that names the nearest thing that is.

use loggia_domain::{
    CommandMode, Decision, HardLinks, Policy, PolicyLimits, Preset, Risk, Rule, RuleExample, SandboxPolicy,
};
use serde::{Deserialize, Serialize};

/// A policy, or a part of one: what is absent is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyText {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<PresetText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command_mode: Option<CommandModeText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallback_to_server_runner: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hard_links: Option<HardLinksText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<SandboxText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<LimitsText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<RuleText>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PresetText {
    ReadOnly,
    Ask,
    AutoEdit,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CommandModeText {
    LocalTerminal,
    ServerRunner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HardLinksText {
    Refuse,
    Read,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SandboxText {
    pub(crate) required: Option<bool>,
    pub(crate) network: Option<bool>,
    pub(crate) unix_sockets: Option<bool>,
    pub(crate) readable: Option<Vec<String>>,
    pub(crate) writable: Option<Vec<String>>,
    pub(crate) environment: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsText {
    pub(crate) command_timeout_s: Option<u64>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) max_steps: Option<u32>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) approval_timeout_s: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleText {
    pub(crate) tool: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) decision: DecisionText,
    pub(crate) risk: Option<RiskText>,
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) examples: Vec<ExampleText>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionText {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RiskText {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExampleText {
    pub(crate) text: String,
    pub(crate) matches: bool,
}

/// Reads the parts of a policy that a text has.
///
/// # Errors
/// What is wrong, in which line, and what to do.
pub(crate) fn parse(text: &str) -> Result<PolicyText, String> {
    toml::from_str(text).map_err(|error| explain(text, error.message(), error.span()))
}

/// Says where in a text something is wrong, and what was probably meant.
pub(crate) fn explain(text: &str, message: &str, span: Option<std::ops::Range<usize>>) -> String {
    let line = span.and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let hint = nearest(message).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("{place}{message}{hint}")
}

/// The known name nearest to the unknown one, from a message that quotes the unknown one first and then all known ones.
fn nearest(message: &str) -> Option<&str> {
    let (unknown, known) = message.strip_prefix("unknown ")?.split_once(", expected ")?;
    let quoted = |text| -> Vec<&str> { str::split(text, '`').skip(1).step_by(2).collect() };
    let unknown = *quoted(unknown).first()?;
    let distance = |name: &str| strsim::damerau_levenshtein(unknown, name);
    let name = quoted(known).into_iter().min_by_key(|name| distance(name))?;
    // Half of it wrong is another word.
    (distance(name) <= unknown.len().max(name.len()) / 2).then_some(name)
}

/// Reads a whole policy: what the text leaves out is as in the base. A text with a revision was written whole, so what
/// it leaves out has no limit.
///
/// # Errors
/// What is wrong, in which line, and what to do.
pub(crate) fn policy_from(text: &str, base: &Policy) -> Result<Policy, String> {
    let parsed = parse(text)?;
    Ok(match parsed.revision {
        Some(_) => parsed.over(&Policy::default()),
        None => parsed.over(base),
    })
}

/// Writes a whole policy.
///
/// # Errors
/// A number that TOML cannot hold.
pub(crate) fn text_of(policy: &Policy) -> Result<String, String> {
    toml::to_string_pretty(&PolicyText::from(policy)).map_err(|error| error.to_string())
}

impl PolicyText {
    /// A policy with what this text says in place of what it said.
    pub(crate) fn over(self, base: &Policy) -> Policy {
        Policy {
            revision: self.revision.unwrap_or(base.revision),
            preset: self.preset.map_or(base.preset, Into::into),
            rules: self.rules.into_iter().map(Into::into).collect(),
            command_mode: self.command_mode.map_or(base.command_mode, Into::into),
            fallback_to_server_runner: self
                .fallback_to_server_runner
                .unwrap_or(base.fallback_to_server_runner),
            sandbox: self.sandbox.unwrap_or_default().over(&base.sandbox),
            limits: self.limits.unwrap_or_default().over(&base.limits),
            hard_links: self.hard_links.map_or(base.hard_links, Into::into),
        }
    }
}

impl SandboxText {
    pub(crate) fn over(self, base: &SandboxPolicy) -> SandboxPolicy {
        SandboxPolicy {
            required: self.required.unwrap_or(base.required),
            network: self.network.unwrap_or(base.network),
            unix_sockets: self.unix_sockets.unwrap_or(base.unix_sockets),
            readable: self.readable.unwrap_or_else(|| base.readable.clone()),
            writable: self.writable.unwrap_or_else(|| base.writable.clone()),
            environment: self.environment.unwrap_or_else(|| base.environment.clone()),
        }
    }
}

impl LimitsText {
    pub(crate) fn over(self, base: &PolicyLimits) -> PolicyLimits {
        PolicyLimits {
            command_timeout_s: self.command_timeout_s.unwrap_or(base.command_timeout_s),
            output_bytes: self.output_bytes.unwrap_or(base.output_bytes),
            max_steps: self.max_steps.unwrap_or(base.max_steps),
            max_tokens: self.max_tokens.or(base.max_tokens),
            approval_timeout_s: self.approval_timeout_s.or(base.approval_timeout_s),
        }
    }
}

impl From<&Policy> for PolicyText {
    fn from(policy: &Policy) -> Self {
        let sandbox = &policy.sandbox;
        let limits = &policy.limits;
        Self {
            revision: Some(policy.revision),
            preset: Some(policy.preset.into()),
            command_mode: Some(policy.command_mode.into()),
            fallback_to_server_runner: Some(policy.fallback_to_server_runner),
            hard_links: Some(policy.hard_links.into()),
            sandbox: Some(SandboxText {
                required: Some(sandbox.required),
                network: Some(sandbox.network),
                unix_sockets: Some(sandbox.unix_sockets),
                readable: Some(sandbox.readable.clone()),
                writable: Some(sandbox.writable.clone()),
                environment: Some(sandbox.environment.clone()),
            }),
            limits: Some(LimitsText {
                command_timeout_s: Some(limits.command_timeout_s),
                output_bytes: Some(limits.output_bytes),
                max_steps: Some(limits.max_steps),
                max_tokens: limits.max_tokens,
                approval_timeout_s: limits.approval_timeout_s,
            }),
            rules: policy.rules.iter().map(Into::into).collect(),
        }
    }
}

impl From<RuleText> for Rule {
    fn from(rule: RuleText) -> Self {
        let example = |example: ExampleText| RuleExample { text: example.text, matches: example.matches };
        Self {
            tool: rule.tool,
            path: rule.path,
            command: rule.command,
            decision: rule.decision.into(),
            risk: rule.risk.map(Into::into),
            reason: rule.reason,
            examples: rule.examples.into_iter().map(example).collect(),
        }
    }
}

impl From<&Rule> for RuleText {
    fn from(rule: &Rule) -> Self {
        let example =
            |example: &RuleExample| ExampleText { text: example.text.clone(), matches: example.matches };
        Self {
            tool: rule.tool.clone(),
            path: rule.path.clone(),
            command: rule.command.clone(),
            decision: rule.decision.into(),
            risk: rule.risk.map(Into::into),
            reason: rule.reason.clone(),
            examples: rule.examples.iter().map(example).collect(),
        }
    }
}

/// Both directions between a word of the file and the domain's value.
macro_rules! words {
    ($($text:ident = $value:ident { $($name:ident),* };)*) => {$(
        impl From<$text> for $value {
            fn from(text: $text) -> Self {
                match text {
                    $($text::$name => Self::$name,)*
                }
            }
        }

        impl From<$value> for $text {
            fn from(value: $value) -> Self {
                match value {
                    $($value::$name => Self::$name,)*
                }
            }
        }
    )*};
}

words! {
    PresetText = Preset { ReadOnly, Ask, AutoEdit, Full };
    CommandModeText = CommandMode { LocalTerminal, ServerRunner };
    HardLinksText = HardLinks { Refuse, Read };
    DecisionText = Decision { Allow, Ask, Deny };
    RiskText = Risk { Low, Medium, High };
}
