//! The table of keys: all that can be set, stated once.
//!
//! Defaults, types, variables, help, what a workspace may do before it is trusted, and the reference page all
//! come from here. A key exists only when something reads it.

use std::borrow::Cow;

use super::value::{NO_LIMIT, Value, ValueType};
use crate::env_vars;

/// One thing that can be set.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its dotted name, as in `[server] addr = …`.
    pub(crate) path: &'static str,
    /// What it takes.
    pub(crate) kind: ValueType,
    /// Its value when nobody sets it.
    pub(crate) default: Value,
    /// What it means, in one sentence.
    pub(crate) doc: &'static str,
    /// Who reads it.
    pub(crate) used_by: &'static str,
    /// What a workspace's own file may do with it before the workspace is trusted.
    pub(crate) workspace: WorkspaceRule,
}

/// What the file of an untrusted workspace may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceRule {
    /// Set it: nothing depends on it but looks.
    Free,
    /// Not touch it, for this reason.
    Never(&'static str),
    /// Set it to something at least as tight as the value beneath.
    OnlyTighter(Tightness),
}

/// Which of two values is the tighter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tightness {
    /// The word that stands earlier in the list of choices.
    EarlierWord,
    /// The smaller number, down to zero; no limit is the loosest.
    Smaller,
    /// `true`.
    True,
    /// `false`.
    False,
}

const POLICY_PRESETS: &[&str] = &["read-only", "ask", "auto-edit", "full"];
/// Choices of `ui.color` and `--color`.
pub(crate) const COLOR_CHOICES: [&str; 3] = ["auto", "always", "never"];
/// Choices of `log.format` and `--log-format`.
pub(crate) const LOG_FORMATS: [&str; 2] = ["text", "json"];
/// Choices of `log.level` and `--log-level`, from silent to loud.
pub(crate) const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Address of the http door.
pub(crate) static SERVER_ADDR: Key = Key {
    path: "server.addr",
    kind: ValueType::Address,
    default: text("127.0.0.1:3199"),
    doc: "Address the http door listens on.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// Names the http door answers to.
pub(crate) static SERVER_HOSTS: Key = Key {
    path: "server.hosts",
    kind: ValueType::Text,
    default: text(""),
    doc: "Names and addresses, separated by commas, under which the http door may be asked besides the loopback's and its own.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// Pages that may use the http door.
pub(crate) static SERVER_ORIGINS: Key = Key {
    path: "server.origins",
    kind: ValueType::Text,
    default: text(""),
    doc: "Origins, separated by commas, whose pages may ask the http door besides its own.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who can reach the server"),
};

/// When a server that was started by itself goes again.
pub(crate) static SERVER_IDLE_EXIT_MINUTES: Key = Key {
    path: "server.idle_exit_minutes",
    kind: ValueType::Limit,
    default: Value::Count(30),
    doc: "Minutes after which a server that a command started by itself leaves, if there is no client, no running turn and no open question; `none` lets it stay.",
    used_by: "`loggia serve --auto`",
    workspace: WorkspaceRule::Never("the server is there for other workspaces, too"),
};

/// How much is said on stderr.
pub(crate) static LOG_LEVEL: Key = Key {
    path: "log.level",
    kind: ValueType::Choice(&LOG_LEVELS),
    default: text("info"),
    doc: "What our own parts say on stderr: this level and everything more important. Libraries only warn.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Never("it could hide the warnings about the workspace itself"),
};

/// How the log is written.
pub(crate) static LOG_FORMAT: Key = Key {
    path: "log.format",
    kind: ValueType::Choice(&LOG_FORMATS),
    default: text("text"),
    doc: "How the log is written: lines for people, or one JSON object a line with the time.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Never("it could hide the warnings about the workspace itself"),
};

/// Whether output is coloured.
pub(crate) static UI_COLOR: Key = Key {
    path: "ui.color",
    kind: ValueType::Choice(&COLOR_CHOICES),
    default: text("auto"),
    doc: "Whether output is coloured; `auto` colours only a terminal.",
    used_by: "every command that reads the configuration",
    workspace: WorkspaceRule::Free,
};

/// The model new sessions begin with.
pub(crate) static MODEL_DEFAULT: Key = Key {
    path: "model.default",
    kind: ValueType::Text,
    default: text(""),
    doc: "Model of new sessions, as `provider:model`. There is one provider so far: `scripted:FILE` plays a script. Empty means none.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is sent the code"),
};

/// Where spans are sent.
pub(crate) static TELEMETRY_OTLP_ENDPOINT: Key = Key {
    path: "telemetry.otlp_endpoint",
    kind: ValueType::Url,
    default: text(""),
    doc: "Address of a collector that is sent spans over OTLP, such as `http://localhost:4318`. It is stronger than the standard variables `OTEL_EXPORTER_OTLP_…`. Empty means that only these count.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::Never("it decides who is told what the server does"),
};

/// What happens where no rule matches.
pub(crate) static POLICY_PRESET: Key = Key {
    path: "policy.preset",
    kind: ValueType::Choice(POLICY_PRESETS),
    default: text("ask"),
    doc: "What happens to a tool call that no rule matches.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::EarlierWord),
};

/// How long a question waits.
pub(crate) static POLICY_APPROVAL_TIMEOUT_S: Key = Key {
    path: "policy.approval_timeout_s",
    kind: ValueType::Limit,
    default: text(NO_LIMIT),
    doc: "Seconds after which an unanswered question counts as refused; `none` waits for ever.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How often a turn may ask the model.
pub(crate) static POLICY_MAX_STEPS: Key = Key {
    path: "policy.max_steps",
    kind: ValueType::Count,
    default: Value::Count(100),
    doc: "Model calls one turn may make.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How many tokens a turn may use.
pub(crate) static POLICY_MAX_TOKENS: Key = Key {
    path: "policy.max_tokens",
    kind: ValueType::Limit,
    default: text(NO_LIMIT),
    doc: "Tokens one turn may use; `none` sets no limit.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// Whether commands must be held in.
pub(crate) static SANDBOX_REQUIRED: Key = Key {
    path: "sandbox.required",
    kind: ValueType::Switch,
    default: Value::Switch(true),
    doc: "Whether a command is refused when no sandbox works on this machine.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::True),
};

/// Whether commands may use the network.
pub(crate) static SANDBOX_NETWORK: Key = Key {
    path: "sandbox.network",
    kind: ValueType::Switch,
    default: Value::Switch(false),
    doc: "Whether commands in the sandbox may use the network.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::False),
};

/// How long a command may run.
pub(crate) static RUNNER_COMMAND_TIMEOUT_S: Key = Key {
    path: "runner.command_timeout_s",
    kind: ValueType::Count,
    default: Value::Count(120),
    doc: "Seconds after which a running command is ended.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// How much of its output is kept.
pub(crate) static RUNNER_OUTPUT_BYTES: Key = Key {
    path: "runner.output_bytes",
    kind: ValueType::Count,
    default: Value::Count(1024 * 1024),
    doc: "Bytes that are kept of each of a command's two streams, from its head and its tail.",
    used_by: "`loggia serve`",
    workspace: WorkspaceRule::OnlyTighter(Tightness::Smaller),
};

/// Every key, in documentation order.
pub(crate) static ALL: &[&Key] = &[
    &SERVER_ADDR,
    &SERVER_HOSTS,
    &SERVER_ORIGINS,
    &SERVER_IDLE_EXIT_MINUTES,
    &LOG_LEVEL,
    &LOG_FORMAT,
    &UI_COLOR,
    &MODEL_DEFAULT,
    &POLICY_PRESET,
    &POLICY_APPROVAL_TIMEOUT_S,
    &POLICY_MAX_STEPS,
    &POLICY_MAX_TOKENS,
    &SANDBOX_REQUIRED,
    &SANDBOX_NETWORK,
    &RUNNER_COMMAND_TIMEOUT_S,
    &RUNNER_OUTPUT_BYTES,
    &TELEMETRY_OTLP_ENDPOINT,
];

const fn text(text: &'static str) -> Value {
    Value::Text(Cow::Borrowed(text))
}

/// The key of that name.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    ALL.iter().copied().find(|key| key.path == path)
}

/// Whether some key lives under `section.`.
pub(crate) fn is_section(section: &str) -> bool {
    ALL.iter().any(|key| key.path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')))
}

impl Key {
    /// The variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("{}{}", env_vars::PREFIX, self.path.replace('.', "_").to_uppercase())
    }
}

impl Tightness {
    /// Whether `asked` is at least as tight as `beneath`. Values of different types never meet here.
    pub(crate) fn allows(self, kind: ValueType, asked: &Value, beneath: &Value) -> bool {
        match (self, asked, beneath) {
            (Self::EarlierWord, Value::Text(asked), Value::Text(beneath)) => {
                let ValueType::Choice(words) = kind else { return false };
                let rank = |word: &str| words.iter().position(|known| *known == word);
                rank(asked).is_some_and(|asked| rank(beneath).is_some_and(|beneath| asked <= beneath))
            }
            (Self::Smaller, Value::Count(asked), Value::Count(beneath)) => asked <= beneath,
            // The only text a number can meet is that there is no limit.
            (Self::Smaller, Value::Count(_) | Value::Text(_), Value::Text(_)) => true,
            (Self::True, Value::Switch(asked), Value::Switch(beneath)) => *asked || !*beneath,
            (Self::False, Value::Switch(asked), Value::Switch(beneath)) => !*asked || *beneath,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_fits_its_type_and_its_rule() {
        for key in ALL {
            assert!(key.kind.check(key.default.clone()).is_some(), "{}", key.path);
            if let WorkspaceRule::OnlyTighter(tightness) = key.workspace {
                assert!(tightness.allows(key.kind, &key.default, &key.default), "{}", key.path);
            }
        }
    }

    #[test]
    fn what_a_policy_says_too_has_the_same_default() {
        let policy = loggia_domain::Policy::default();
        let (limits, sandbox) = (&policy.limits, &policy.sandbox);
        let limit = |limit: Option<u64>| limit.map_or(text(NO_LIMIT), Value::Count);
        assert_eq!(policy.preset, loggia_domain::Preset::Ask);
        assert_eq!(POLICY_PRESET.default, text("ask"));
        assert_eq!(POLICY_APPROVAL_TIMEOUT_S.default, limit(limits.approval_timeout_s));
        assert_eq!(POLICY_MAX_STEPS.default, Value::Count(limits.max_steps.into()));
        assert_eq!(POLICY_MAX_TOKENS.default, limit(limits.max_tokens));
        assert_eq!(SANDBOX_REQUIRED.default, Value::Switch(sandbox.required));
        assert_eq!(SANDBOX_NETWORK.default, Value::Switch(sandbox.network));
        assert_eq!(RUNNER_COMMAND_TIMEOUT_S.default, Value::Count(limits.command_timeout_s));
        assert_eq!(RUNNER_OUTPUT_BYTES.default, Value::Count(limits.output_bytes));
    }

    #[test]
    fn names_are_unique_and_have_a_section() {
        for (position, key) in ALL.iter().enumerate() {
            assert!(ALL[..position].iter().all(|earlier| earlier.path != key.path), "{}", key.path);
            assert_eq!(key.path.split('.').count(), 2, "{}", key.path);
            assert!(!is_section(key.path), "{}", key.path);
        }
    }

    #[test]
    fn tighter_is_what_the_rule_says() {
        let presets = ValueType::Choice(POLICY_PRESETS);
        let words = |asked, beneath| Tightness::EarlierWord.allows(presets, &text(asked), &text(beneath));
        assert!(words("read-only", "ask") && words("ask", "ask") && !words("auto-edit", "ask"));

        let counts = |rule: Tightness, asked, beneath| {
            rule.allows(ValueType::Count, &Value::Count(asked), &Value::Count(beneath))
        };
        assert!(counts(Tightness::Smaller, 0, 5) && counts(Tightness::Smaller, 5, 5));
        assert!(!counts(Tightness::Smaller, 5, 0) && !counts(Tightness::Smaller, 6, 5));

        let (none, five) = (text(NO_LIMIT), Value::Count(5));
        let limits = |asked, beneath| Tightness::Smaller.allows(ValueType::Limit, asked, beneath);
        assert!(limits(&five, &none) && limits(&none, &none) && !limits(&none, &five));

        let switches = |rule: Tightness, asked, beneath| {
            rule.allows(ValueType::Switch, &Value::Switch(asked), &Value::Switch(beneath))
        };
        assert!(switches(Tightness::True, true, false) && !switches(Tightness::True, false, true));
        assert!(switches(Tightness::False, false, true) && !switches(Tightness::False, true, false));
    }
}
