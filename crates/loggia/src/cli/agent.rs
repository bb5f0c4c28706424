//! The part of the form for commands that are clients of the server: asking, and looking after what was asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use loggia_protocol_agent_server::{Budget, PolicyPreset};

pub(super) const ASK_ABOUT: &str = "\
Puts a question or a task to the agent and shows its turn until it ends: the reply on standard output, everything around it on \
standard error. Where the policy says so, you are asked before something is changed or run. What is piped in becomes part of \
the question. Ctrl-C cancels the turn, a second one leaves.

A server that runs is used; otherwise one is started in the background, which leaves when nobody needs it any more.";

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    /// What to answer or to do
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Work in this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Use this model, as `provider:model`
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Go on in this session
    #[arg(long, value_name = "ID", conflicts_with = "continue")]
    pub(crate) session: Option<String>,
    /// Go on in the session of this workspace in which something happened last
    #[arg(short, long)]
    pub(crate) r#continue: bool,
    /// Answer yes to everything that is asked
    #[arg(short, long, conflicts_with_all = ["read_only"], help_heading = "Approvals")]
    pub(crate) yes: bool,
    /// Change nothing and run nothing
    #[arg(long, conflicts_with = "policy", help_heading = "Approvals")]
    pub(crate) read_only: bool,
    /// What happens where no rule says otherwise
    #[arg(long, value_name = "PRESET", value_enum, help_heading = "Approvals")]
    pub(crate) policy: Option<PresetName>,
    /// What the session may use up: `tokens=50000,usd=0.5,steps=20`, each of them optional
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    pub(crate) budget: Option<Budget>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Use no server: run the agent in this process, and keep nothing of the session
    #[arg(long, conflicts_with_all = ["session", "continue"])]
    pub(crate) ephemeral: bool,
}

/// A preset of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetName {
    /// Look, change nothing
    ReadOnly,
    /// Ask before every change and command
    Ask,
    /// Change files freely, ask before commands
    AutoEdit,
    /// Everything that is not denied
    Full,
}

impl From<PresetName> for PolicyPreset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::ReadOnly => Self::ReadOnly,
            PresetName::Ask => Self::Ask,
            PresetName::AutoEdit => Self::AutoEdit,
            PresetName::Full => Self::Full,
        }
    }
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `tokens=50000,usd=0.5,steps=20`.
fn parse_budget(text: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for part in text.split(',').map(str::trim) {
        let read = part.split_once('=').and_then(|(name, value)| match name.trim() {
            "tokens" => value.trim().parse().ok().map(|tokens| budget.max_tokens = Some(tokens)),
            "steps" => value.trim().parse().ok().map(|steps| budget.max_steps = Some(steps)),
            "usd" => {
                let cost = value.trim().parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
                cost.map(|cost| budget.max_cost_usd = Some(cost))
            }
            _ => None,
        });
        read.ok_or_else(|| {
            format!("`{part}` is no limit; expected some of `tokens=50000,usd=0.5,steps=20`")
        })?;
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_read_in_parts() {
        let budget = parse_budget("tokens=5, usd=0.5").unwrap();
        assert_eq!((budget.max_tokens, budget.max_cost_usd, budget.max_steps), (Some(5), Some(0.5), None));
        for wrong in ["", "5", "tokens=-1", "usd=nan", "usd=-1", "hours=1", "tokens=1,,"] {
            assert!(parse_budget(wrong).is_err(), "{wrong}");
        }
    }
}
