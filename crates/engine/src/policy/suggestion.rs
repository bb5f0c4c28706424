//! What a workspace suggests: its own `.loggia/policy.toml`.
//!
//! Anybody may have written it, the authors of a repository that was just cloned among them. Until the workspace is
//! trusted it may only tighten: rules that deny and ask count, and so do tighter settings; everything else is left out
//! and listed. Once trusted, all of it counts, after the policy's own rules.

use loggia_domain::{CommandMode, Decision, HardLinks, Policy, Preset, Rule};

use super::check::{RuleList, check_rules};
use super::files::PolicyFileError;
use super::files::format::{self, PolicyText};
use super::preset_name;

/// What a workspace suggests for its own policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    trusted: bool,
    text: PolicyText,
    rules: Vec<Rule>,
    /// What was left out because the workspace is not trusted, for people.
    pub ignored: Vec<String>,
}

impl Suggestion {
    /// Reads a suggestion.
    ///
    /// # Errors
    /// A text that is no policy, or rules that cannot be used. One that cannot be read tightens nothing, so whoever
    /// asked should be told.
    pub fn parse(text: &str, trusted: bool) -> Result<Self, PolicyFileError> {
        let mut text = format::parse(text).map_err(|problem| PolicyFileError::Format { problem })?;
        let rules: Vec<Rule> = std::mem::take(&mut text.rules).into_iter().map(Into::into).collect();
        check_rules(&rules, RuleList::Suggestion)?;
        let mut suggestion = Self { trusted, text, rules, ignored: Vec::new() };
        if !trusted {
            suggestion.distrust();
        }
        Ok(suggestion)
    }

    /// The rules that count.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The preset it suggests, if it says one that counts.
    pub fn preset(&self) -> Option<Preset> {
        self.text.preset.map(Into::into)
    }

    /// A session's preset with what an untrusted workspace asks for: never looser.
    pub(crate) fn tightened(&self, preset: Preset) -> Preset {
        match self.preset() {
            Some(suggested) if !self.trusted => preset.min(suggested),
            _ => preset,
        }
    }

    /// The policy with this suggestion's settings: all of them if the workspace is trusted, otherwise those that are
    /// tighter. The rules stay the policy's own; the judge adds the suggested ones.
    pub fn over(&self, policy: &Policy) -> Policy {
        let suggested = PolicyText { revision: None, ..self.text.clone() }.over(policy);
        let rules = policy.rules.clone();
        if self.trusted {
            return Policy { rules, ..suggested };
        }
        let mut tighter = Policy { rules, ..policy.clone() };
        tighter.preset = policy.preset.min(suggested.preset);
        tighter.sandbox.required |= suggested.sandbox.required;
        tighter.sandbox.network &= suggested.sandbox.network;
        tighter.sandbox.unix_sockets &= suggested.sandbox.unix_sockets;
        let limits = &mut tighter.limits;
        limits.command_timeout_s = limits.command_timeout_s.min(suggested.limits.command_timeout_s);
        limits.output_bytes = limits.output_bytes.min(suggested.limits.output_bytes);
        limits.max_steps = limits.max_steps.min(suggested.limits.max_steps);
        limits.max_tokens = least(limits.max_tokens, suggested.limits.max_tokens);
        if suggested.hard_links == HardLinks::Refuse {
            tighter.hard_links = HardLinks::Refuse;
        }
        tighter
    }

    /// Leaves out what loosens, and lists it.
    fn distrust(&mut self) {
        let ignored = &mut self.ignored;
        let mut number = 0;
        self.rules.retain(|rule| {
            number += 1;
            let tightens = rule.decision != Decision::Allow;
            if !tightens {
                ignored.push(format!("rule {number}, which allows"));
            }
            tightens
        });
        // What is looser than the default is looser than what anybody chose by not choosing.
        if let Some(preset) = self.text.preset.map(Preset::from)
            && preset > Policy::default().preset
        {
            ignored.push(format!("preset `{}`", preset_name(preset)));
            self.text.preset = None;
        }
        if let Some(mode) = self.text.command_mode.take() {
            // Who runs commands is neither tighter nor looser: it is not the workspace's to say.
            let name = if CommandMode::from(mode) == CommandMode::LocalTerminal {
                "local_terminal"
            } else {
                "server_runner"
            };
            ignored.push(format!("`command_mode` `{name}`"));
        }
        if self.text.fallback_to_server_runner.take().is_some() {
            ignored.push("`fallback_to_server_runner`".to_owned());
        }
        if self.text.hard_links.map(HardLinks::from) == Some(HardLinks::Read) {
            ignored.push("`hard_links` `read`".to_owned());
            self.text.hard_links = None;
        }
        if let Some(limits) = &mut self.text.limits
            && limits.approval_timeout_s.take().is_some()
        {
            ignored.push("`limits.approval_timeout_s`".to_owned());
        }
        self.distrust_sandbox();
    }

    fn distrust_sandbox(&mut self) {
        let Some(sandbox) = &mut self.text.sandbox else { return };
        let mut drop_if = |loosens: bool, name: &str| {
            if loosens {
                self.ignored.push(format!("`sandbox.{name}`"));
            }
        };
        drop_if(sandbox.required.take_if(|required| !*required).is_some(), "required = false");
        drop_if(sandbox.network.take_if(|network| *network).is_some(), "network = true");
        drop_if(sandbox.unix_sockets.take_if(|sockets| *sockets).is_some(), "unix_sockets = true");
        drop_if(sandbox.readable.take().is_some(), "readable");
        drop_if(sandbox.writable.take().is_some(), "writable");
        drop_if(sandbox.environment.take().is_some(), "environment");
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
preset = "full"
command_mode = "server_runner"
hard_links = "read"

[sandbox]
required = false
network = true
readable = ["/"]

[limits]
max_steps = 5
command_timeout_s = 9999

[[rules]]
command = "make *"
decision = "allow"

[[rules]]
path = "vendor/**"
decision = "deny"

[[rules]]
command = "git push *"
decision = "ask"
"#;

    #[test]
    fn an_untrusted_workspace_may_only_tighten() {
        let suggestion = Suggestion::parse(TEXT, false).unwrap();
        insta::assert_snapshot!(suggestion.ignored.join("\n"), @r"
        rule 1, which allows
        preset `full`
        `command_mode` `server_runner`
        `hard_links` `read`
        `sandbox.required = false`
        `sandbox.network = true`
        `sandbox.readable`
        ");
        let decisions: Vec<Decision> = suggestion.rules().iter().map(|rule| rule.decision).collect();
        assert_eq!(decisions, [Decision::Deny, Decision::Ask]);
        let policy = Policy { preset: Preset::AutoEdit, ..Policy::default() };
        let mut expected = policy.clone();
        expected.limits.max_steps = 5;
        assert_eq!(suggestion.over(&policy), expected);
        assert_eq!(suggestion.tightened(Preset::Full), Preset::Full);
        let tight = Suggestion::parse("preset = \"read-only\"", false).unwrap();
        assert_eq!(tight.tightened(Preset::Full), Preset::ReadOnly);
        assert!(tight.ignored.is_empty());
    }

    #[test]
    fn a_trusted_workspace_says_everything() {
        let suggestion = Suggestion::parse(TEXT, true).unwrap();
        assert!(suggestion.ignored.is_empty());
        assert_eq!(suggestion.rules().len(), 3);
        let policy = suggestion.over(&Policy { revision: 7, ..Policy::default() });
        assert_eq!(
            (policy.revision, policy.preset, policy.command_mode),
            (7, Preset::Full, CommandMode::ServerRunner)
        );
        assert!(policy.sandbox.network && policy.rules.is_empty());
    }

    #[test]
    fn a_suggestion_that_cannot_be_read_is_an_error() {
        assert!(matches!(Suggestion::parse("x = 1", false), Err(PolicyFileError::Format { .. })));
        let bad = "[[rules]]\ncommand = \"a | b\"\ndecision = \"deny\"";
        let error = Suggestion::parse(bad, false).unwrap_err();
        assert!(error.to_string().starts_with("suggested rule 1, `command`"), "{error}");
    }
}
