//! Judging calls: may this tool touch these files and run this command?
//!
//! Knows rules, presets and what a command line does. Refuses to know sessions, models and who is asked. Touches no
//! file of a workspace: everything is decided from words, so that a verdict is the same before and after a crash.
//!
//! # Order
//! A call is taken apart: every path it touches, every simple command of its command line, every file that line
//! redirects to. Each part gets a verdict of its own, and the worst one is the call's:
//! 1. the built-in denials, which no rule and no preset lifts;
//! 2. any rule that denies, wherever it stands;
//! 3. the first rule that matches: those of the session, of the policy, of the workspace's suggestion;
//! 4. the preset.
//!
//! What the turn itself was begun with ([`Restraint`](loggia_domain::Restraint)) comes on top, and only denies.
//!
//! # Presets
//! | preset | reads | changes to files | commands |
//! |---|---|---|---|
//! | `read-only` | free | denied | denied |
//! | `ask` | free | asked | asked |
//! | `auto-edit` | free | free | asked |
//! | `full` | free | free | free |
//!
//! # Commands
//! A line is read as a shell reads it, down to the simple commands inside pipes, substitutions, `sh -c` and
//! `find -exec`. What a rule allows must be known word for word; what a rule denies need only be possible:
//! - an allow rule matches a command only if every word is certain. A variable, a substitution or an assignment in
//!   front makes it not match, and so do comments, here-documents and functions anywhere in the line;
//! - a deny or ask rule that *may* match, because a word is not certain, makes the call a question;
//! - a command whose name is not certain, and a line that cannot be read, are a question at least, under `full` too.
//!
//! # Risk
//! A rule may state it. Otherwise reads are low, changes medium, removals high. Commands that only look are low;
//! those that reach the network, destroy, run code from elsewhere or cannot be understood are high; the rest is
//! medium. A call's risk is that of its riskiest part.
//!
//! What always holds: judging never panics, and takes time and memory bounded by the constants in this module.

mod builtin;
mod check;
mod confine;
pub mod files;
mod judge;
mod paths;
mod pattern;
mod remember;
mod restraint;
mod risk;
mod rule;
mod shell;
pub mod suggestion;

#[cfg(test)]
mod escapes;
#[cfg(test)]
mod properties;

use std::path::PathBuf;

use loggia_domain::{Decision, Preset, Risk};

pub use builtin::credentials;
pub use check::{PolicyError, RuleField, RuleList, check};
pub use confine::confinement;
pub use judge::Judge;
pub use remember::{is_settled, rules_like};
pub(crate) use restraint::held;
pub use suggestion::Suggestion;

/// Where a workspace lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The workspace's root: absolute, without symbolic links.
    pub root: PathBuf,
    /// The home directory of whoever runs the daemon, if there is one.
    pub home: Option<PathBuf>,
}

/// What a policy says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What follows.
    pub decision: Decision,
    /// How much can go wrong.
    pub risk: Risk,
    /// Why, for people and for the model: names the rule, the preset or what is built in.
    pub reason: String,
    /// What decided.
    pub source: VerdictSource,
}

/// What decided a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictSource {
    /// A denial no policy lifts, or a doubt no policy settles.
    Builtin,
    /// The policy's rule at this index.
    Rule(usize),
    /// A decision remembered for the session.
    SessionRule,
    /// A rule the workspace suggests.
    Suggestion,
    /// The preset: no rule matched.
    Preset,
    /// What the turn was begun with.
    Restraint,
}

/// A preset's name, as people write it.
pub(crate) fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::ReadOnly => "read-only",
        Preset::Ask => "ask",
        Preset::AutoEdit => "auto-edit",
        Preset::Full => "full",
    }
}
