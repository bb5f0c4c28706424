//! Whether a policy says what its author meant, before it is used.
//!
//! Knows what a rule may look like. Every error names the rule, the field and what to do.

use std::fmt;

use loggia_domain::{Policy, Rule};

use super::VerdictSource;
use super::rule::CompiledRule;

/// How many rules a policy may have: each is tried for every part of every call.
pub(crate) const MAX_RULES: usize = 1000;

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A glob is none.
    #[error(
        "{list} {number}, `{field}`: `{glob}` is not a glob; correct it, or leave the field out to match everything"
    )]
    Glob {
        /// Which rules.
        list: RuleList,
        /// Which of them, counted from 1.
        number: usize,
        /// Which part of it.
        field: RuleField,
        /// What it says.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A pattern over commands is none.
    #[error("{list} {number}, `command`: `{pattern}` is not a pattern: {problem}")]
    Pattern {
        /// Which rules.
        list: RuleList,
        /// Which of them, counted from 1.
        number: usize,
        /// What it says.
        pattern: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A rule asks for a path and a command at once; no part of a call is both.
    #[error("{list} {number}: a rule has `path` or `command`, not both; make it two rules")]
    PathAndCommand {
        /// Which rules.
        list: RuleList,
        /// Which of them, counted from 1.
        number: usize,
    },
    /// An example does not hold.
    #[error(
        "{list} {number}, `examples`: the rule {} `{text}`, and the example says it {}; correct the rule or the example",
        if *.matches { "does not match" } else { "matches" },
        if *.matches { "should" } else { "should not" }
    )]
    Example {
        /// Which rules.
        list: RuleList,
        /// Which of them, counted from 1.
        number: usize,
        /// The example.
        text: String,
        /// What the example says.
        matches: bool,
    },
    /// There are too many rules.
    #[error("{list}: {count} rules are more than {MAX_RULES}; join some of them with globs")]
    TooManyRules {
        /// Which rules.
        list: RuleList,
        /// How many there are.
        count: usize,
    },
}

/// Which rules are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleList {
    /// Those of the policy.
    Policy,
    /// Those remembered for the session.
    Session,
    /// Those the workspace suggests.
    Suggestion,
}

impl fmt::Display for RuleList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "rule",
            Self::Session => "rule of the session",
            Self::Suggestion => "suggested rule",
        })
    }
}

/// A part of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleField {
    /// The tool's name.
    Tool,
    /// The path.
    Path,
}

impl fmt::Display for RuleField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Path => "path",
        })
    }
}

/// Checks that globs and patterns can be read and that examples hold.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(policy: &Policy) -> Result<(), PolicyError> {
    check_rules(&policy.rules, RuleList::Policy)
}

/// Checks rules of a list.
pub(crate) fn check_rules(rules: &[Rule], list: RuleList) -> Result<(), PolicyError> {
    for (rule, compiled) in rules.iter().zip(compile(rules, list)?) {
        for example in &rule.examples {
            if compiled.matches_example(&example.text) != example.matches {
                return Err(PolicyError::Example {
                    list,
                    number: compiled.number,
                    text: example.text.clone(),
                    matches: example.matches,
                });
            }
        }
    }
    Ok(())
}

/// Compiles rules of a list.
pub(crate) fn compile(rules: &[Rule], list: RuleList) -> Result<Vec<CompiledRule>, PolicyError> {
    if rules.len() > MAX_RULES {
        return Err(PolicyError::TooManyRules { list, count: rules.len() });
    }
    let source = |index: usize| match list {
        RuleList::Policy => VerdictSource::Rule(index),
        RuleList::Session => VerdictSource::SessionRule,
        RuleList::Suggestion => VerdictSource::Suggestion,
    };
    rules
        .iter()
        .enumerate()
        .map(|(index, rule)| CompiledRule::new(rule, list, index + 1, source(index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use loggia_domain::{Decision, RuleExample};

    use super::*;

    fn error(rule: Rule) -> String {
        let first = rule_for(None, None, None);
        check(&Policy { rules: vec![first, rule], ..Policy::default() }).unwrap_err().to_string()
    }

    fn rule_for(tool: Option<&str>, path: Option<&str>, command: Option<&str>) -> Rule {
        let own = |text: Option<&str>| text.map(ToOwned::to_owned);
        Rule {
            tool: own(tool),
            path: own(path),
            command: own(command),
            decision: Decision::Allow,
            risk: None,
            reason: None,
            examples: Vec::new(),
        }
    }

    #[test]
    fn errors_name_the_rule_the_field_and_what_to_do() {
        insta::assert_snapshot!(error(rule_for(None, Some("src/["), None)), @"rule 2, `path`: `src/[` is not a glob; correct it, or leave the field out to match everything");
        insta::assert_snapshot!(error(rule_for(Some("{a"), None, None)), @"rule 2, `tool`: `{a` is not a glob; correct it, or leave the field out to match everything");
        insta::assert_snapshot!(error(rule_for(None, None, Some("ls | sh"))), @"rule 2, `command`: `ls | sh` is not a pattern: `|` cannot stand in a simple command; quote it, or write one rule for each command");
        insta::assert_snapshot!(error(rule_for(None, Some("a"), Some("b"))), @"rule 2: a rule has `path` or `command`, not both; make it two rules");
        let example = |text: &str, matches| RuleExample { text: text.to_owned(), matches };
        let with = |examples| Rule { examples, ..rule_for(None, None, Some("git push *")) };
        insta::assert_snapshot!(error(with(vec![example("git pull", true)])), @"rule 2, `examples`: the rule does not match `git pull`, and the example says it should; correct the rule or the example");
        insta::assert_snapshot!(error(with(vec![example("git push", false)])), @"rule 2, `examples`: the rule matches `git push`, and the example says it should not; correct the rule or the example");
    }

    #[test]
    fn examples_of_every_kind_of_rule_are_tried() {
        let example = |text: &str, matches| RuleExample { text: text.to_owned(), matches };
        let rules = vec![
            Rule {
                examples: vec![
                    example("src/a.rs", true),
                    example("./src//a.rs", true),
                    example("a.rs", false),
                ],
                ..rule_for(None, Some("src/**"), None)
            },
            Rule {
                examples: vec![
                    example("cargo test -p x", true),
                    example("cargo test; cargo test", true),
                    example("cargo test; rm x", false),
                    example("cargo test $X", false),
                ],
                ..rule_for(None, None, Some("cargo test *"))
            },
            Rule {
                decision: Decision::Deny,
                examples: vec![example("ls && git push", true), example("git -C x push", true)],
                ..rule_for(None, None, Some("git push *"))
            },
            Rule { examples: vec![example("read_file", true)], ..rule_for(Some("read_*"), None, None) },
        ];
        check(&Policy { rules, ..Policy::default() }).unwrap();
    }

    #[test]
    fn more_rules_than_anyone_needs_are_refused() {
        let rules = vec![rule_for(None, None, None); MAX_RULES + 1];
        assert!(matches!(
            check(&Policy { rules, ..Policy::default() }),
            Err(PolicyError::TooManyRules { count: 1001, .. })
        ));
    }
}
