//! Policies between the wire and the engine. Both have the same fields; what the wire leaves out is as in the default.

use domain::{Policy, PolicyLimits, Rule, RuleExample, SandboxPolicy};
use loggia_domain as domain;
use loggia_protocol_agent_server as wire;

use crate::problem::Problem;
use crate::rest::Answer;

/// A policy as an answer shows it, whole.
pub(super) fn to_wire(policy: &Policy) -> wire::Policy {
    let Policy {
        revision,
        preset,
        rules,
        command_mode,
        fallback_to_server_runner,
        sandbox,
        limits,
        hard_links,
    } = policy;
    let SandboxPolicy { required, network, unix_sockets, readable, writable, environment } = sandbox;
    let PolicyLimits { command_timeout_s, output_bytes, max_steps, max_tokens, approval_timeout_s } = limits;
    wire::Policy {
        revision: *revision,
        preset: preset_word(*preset),
        rules: rules.iter().map(rule_to_wire).collect(),
        command_mode: match command_mode {
            domain::CommandMode::LocalTerminal => wire::CommandMode::LocalTerminal,
            domain::CommandMode::ServerRunner => wire::CommandMode::ServerRunner,
        },
        fallback_to_server_runner: Some(*fallback_to_server_runner),
        sandbox: wire::Sandbox {
            required: Some(*required),
            network: Some(*network),
            unix_sockets: Some(*unix_sockets),
            readable: Some(readable.clone()),
            writable: Some(writable.clone()),
            environment: Some(environment.clone()),
        },
        limits: wire::PolicyLimits {
            command_timeout_s: Some(*command_timeout_s),
            output_bytes: Some(*output_bytes),
            max_steps: Some(*max_steps),
            max_tokens: *max_tokens,
            approval_timeout_s: *approval_timeout_s,
        },
        hard_links: Some(match hard_links {
            domain::HardLinks::Refuse => wire::HardLinks::Refuse,
            domain::HardLinks::Read => wire::HardLinks::Read,
        }),
    }
}

/// A policy somebody sent.
pub(super) fn from_wire(policy: wire::Policy) -> Answer<Policy> {
    let base = Policy::default();
    let wire::Sandbox { required, network, unix_sockets, readable, writable, environment } = policy.sandbox;
    let limits = policy.limits;
    let rules = policy.rules.into_iter().enumerate().map(|(index, rule)| rule_from_wire(index, rule));
    Ok(Policy {
        revision: policy.revision,
        preset: preset(policy.preset),
        rules: rules.collect::<Answer<_>>()?,
        command_mode: match policy.command_mode {
            wire::CommandMode::LocalTerminal => domain::CommandMode::LocalTerminal,
            wire::CommandMode::ServerRunner => domain::CommandMode::ServerRunner,
        },
        fallback_to_server_runner: policy.fallback_to_server_runner.unwrap_or(base.fallback_to_server_runner),
        sandbox: SandboxPolicy {
            required: required.unwrap_or(base.sandbox.required),
            network: network.unwrap_or(base.sandbox.network),
            unix_sockets: unix_sockets.unwrap_or(base.sandbox.unix_sockets),
            readable: readable.unwrap_or(base.sandbox.readable),
            writable: writable.unwrap_or(base.sandbox.writable),
            environment: environment.unwrap_or(base.sandbox.environment),
        },
        limits: PolicyLimits {
            command_timeout_s: limits.command_timeout_s.unwrap_or(base.limits.command_timeout_s),
            output_bytes: limits.output_bytes.unwrap_or(base.limits.output_bytes),
            max_steps: limits.max_steps.unwrap_or(base.limits.max_steps),
            max_tokens: limits.max_tokens,
            approval_timeout_s: limits.approval_timeout_s,
        },
        hard_links: match policy.hard_links {
            None => base.hard_links,
            Some(wire::HardLinks::Refuse) => domain::HardLinks::Refuse,
            Some(wire::HardLinks::Read) => domain::HardLinks::Read,
        },
    })
}

fn rule_to_wire(rule: &Rule) -> wire::PolicyRule {
    let Rule { tool, path, command, decision: then, risk: harm, reason, examples } = rule;
    let example = |example: &RuleExample| {
        let text = Some(example.text.clone());
        let bare = wire::PolicyExample { tool: None, path: None, command: None, matches: example.matches };
        // The text is of the kind the rule is about.
        match (command, path) {
            (Some(_), _) => wire::PolicyExample { command: text, ..bare },
            (None, Some(_)) => wire::PolicyExample { path: text, ..bare },
            (None, None) => wire::PolicyExample { tool: text, ..bare },
        }
    };
    wire::PolicyRule {
        tool: tool.clone(),
        path: path.clone(),
        command: command.clone(),
        decision: decision(*then),
        risk: harm.map(risk),
        reason: reason.clone(),
        examples: examples.iter().map(example).collect(),
    }
}

fn rule_from_wire(index: usize, rule: wire::PolicyRule) -> Answer<Rule> {
    let examples = rule.examples.into_iter().enumerate().map(|(place, example)| {
        let given = [example.tool, example.path, example.command];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(text), None) => Ok(RuleExample { text, matches: example.matches }),
            _ => Err(Problem::field(
                format!("/rules/{index}/examples/{place}"),
                "has one of `tool`, `path` and `command`: what the rule is about",
            )),
        }
    });
    Ok(Rule {
        tool: rule.tool,
        path: rule.path,
        command: rule.command,
        decision: match rule.decision {
            wire::Decision::Allow => domain::Decision::Allow,
            wire::Decision::Ask => domain::Decision::Ask,
            wire::Decision::Deny => domain::Decision::Deny,
        },
        risk: rule.risk.map(|risk| match risk {
            wire::RiskLevel::Low => domain::Risk::Low,
            wire::RiskLevel::Medium => domain::Risk::Medium,
            wire::RiskLevel::High => domain::Risk::High,
        }),
        reason: rule.reason,
        examples: examples.collect::<Answer<_>>()?,
    })
}

pub(super) fn decision(decision: domain::Decision) -> wire::Decision {
    match decision {
        domain::Decision::Allow => wire::Decision::Allow,
        domain::Decision::Ask => wire::Decision::Ask,
        domain::Decision::Deny => wire::Decision::Deny,
    }
}

pub(super) fn risk(risk: domain::Risk) -> wire::RiskLevel {
    match risk {
        domain::Risk::Low => wire::RiskLevel::Low,
        domain::Risk::Medium => wire::RiskLevel::Medium,
        domain::Risk::High => wire::RiskLevel::High,
    }
}

/// The engine's word for a preset.
pub(crate) fn preset(preset: wire::PolicyPreset) -> domain::Preset {
    match preset {
        wire::PolicyPreset::ReadOnly => domain::Preset::ReadOnly,
        wire::PolicyPreset::Ask => domain::Preset::Ask,
        wire::PolicyPreset::AutoEdit => domain::Preset::AutoEdit,
        wire::PolicyPreset::Full => domain::Preset::Full,
    }
}

fn preset_word(preset: domain::Preset) -> wire::PolicyPreset {
    match preset {
        domain::Preset::ReadOnly => wire::PolicyPreset::ReadOnly,
        domain::Preset::Ask => wire::PolicyPreset::Ask,
        domain::Preset::AutoEdit => wire::PolicyPreset::AutoEdit,
        domain::Preset::Full => wire::PolicyPreset::Full,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        "[a-z*/]{1,8}"
    }

    fn rules() -> impl Strategy<Value = Vec<Rule>> {
        let example = (word(), any::<bool>()).prop_map(|(text, matches)| RuleExample { text, matches });
        let patterns =
            (proptest::option::of(word()), proptest::option::of(word()), proptest::option::of(word()));
        let decision = prop_oneof![
            Just(domain::Decision::Allow),
            Just(domain::Decision::Ask),
            Just(domain::Decision::Deny)
        ];
        let risk = proptest::option::of(prop_oneof![
            Just(domain::Risk::Low),
            Just(domain::Risk::Medium),
            Just(domain::Risk::High)
        ]);
        let rest = (decision, risk, proptest::option::of(word()), proptest::collection::vec(example, 0..3));
        let rule =
            (patterns, rest).prop_map(|((tool, path, command), (decision, risk, reason, examples))| Rule {
                tool,
                path,
                command,
                decision,
                risk,
                reason,
                examples,
            });
        proptest::collection::vec(rule, 0..4)
    }

    fn policies() -> impl Strategy<Value = Policy> {
        let preset = prop_oneof![
            Just(domain::Preset::ReadOnly),
            Just(domain::Preset::Ask),
            Just(domain::Preset::AutoEdit),
            Just(domain::Preset::Full)
        ];
        let list = || proptest::collection::vec(word(), 0..3);
        let sandbox = (any::<[bool; 3]>(), list(), list(), list());
        let limits = (any::<[u64; 2]>(), any::<u32>(), any::<Option<u64>>(), any::<Option<u64>>());
        (any::<u64>(), preset, rules(), any::<[bool; 3]>(), sandbox, limits).prop_map(
            |(
                revision,
                preset,
                rules,
                [mode, fallback, links],
                (flags, readable, writable, environment),
                limits,
            )| Policy {
                revision,
                preset,
                rules,
                command_mode: if mode {
                    domain::CommandMode::LocalTerminal
                } else {
                    domain::CommandMode::ServerRunner
                },
                fallback_to_server_runner: fallback,
                sandbox: SandboxPolicy {
                    required: flags[0],
                    network: flags[1],
                    unix_sockets: flags[2],
                    readable,
                    writable,
                    environment,
                },
                limits: PolicyLimits {
                    command_timeout_s: limits.0[0],
                    output_bytes: limits.0[1],
                    max_steps: limits.1,
                    max_tokens: limits.2,
                    approval_timeout_s: limits.3,
                },
                hard_links: if links { domain::HardLinks::Refuse } else { domain::HardLinks::Read },
            },
        )
    }

    proptest! {
        #[test]
        fn reading_a_policy_and_putting_it_back_loses_nothing(policy in policies()) {
            let text = serde_json::to_string(&to_wire(&policy)).unwrap();
            let read: wire::Policy = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(from_wire(read).unwrap(), policy);
        }
    }

    #[test]
    fn a_short_policy_keeps_the_tight_defaults() {
        let policy: wire::Policy = serde_json::from_str(r#"{"revision":0,"preset":"ask"}"#).unwrap();
        assert_eq!(from_wire(policy).unwrap(), Policy::default());
    }
}
