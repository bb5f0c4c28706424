//! The part of the form for commands that are clients of the server: asking, and looking after what was asked.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
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
    /// How it is asked.
    #[command(flatten)]
    pub(crate) turn: TurnArguments,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Use no server: run the agent in this process, and keep nothing of the session
    #[arg(long, conflicts_with_all = ["session", "continue"])]
    pub(crate) ephemeral: bool,
}

/// Where and how a prompt is worked on. These are all the arguments of `chat`, and part of those of `ask`.
#[derive(Debug, Default, Args)]
pub(crate) struct TurnArguments {
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
    /// Trust the workspace for this run: its plugins may run, and all of its configuration holds
    #[arg(long, help_heading = "Approvals")]
    pub(crate) trust: bool,
    /// Change nothing and run nothing
    #[arg(long, conflicts_with = "policy", help_heading = "Approvals")]
    pub(crate) read_only: bool,
    /// What happens where no rule says otherwise
    #[arg(long, value_name = "PRESET", value_enum, help_heading = "Approvals")]
    pub(crate) policy: Option<PresetName>,
    /// What the session may use up: `tokens=50000,usd=0.5`, each of them optional
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    pub(crate) budget: Option<Budget>,
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

pub(super) const UNDO_ABOUT: &str = "\
Takes back what the agent changed in files, step by step, the last one first; `loggia redo` makes it again. Without `--session` it is \
the newest session of this workspace that has something to take back, or to make again. Commands that ran in a client's terminal are out of reach.";

/// Arguments of `undo` and `redo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// In this session, by its id or the beginning of it [default: the newest of this workspace that has something to take back, or to make again]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// So many steps
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) workspace: Option<PathBuf>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look after models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the models that can be used
    List(ModelListArguments),
    /// Use a model for new sessions, or forget which was chosen
    #[command(long_about = MODEL_USE_ABOUT)]
    Use(ModelUseArguments),
    /// Have a model say one word, and tell how long that took
    Test(ModelTestArguments),
}

/// Arguments of `model list`.
#[derive(Debug, Args, Default)]
pub(crate) struct ModelListArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const MODEL_USE_ABOUT: &str = "\
Uses a model for new sessions. The server keeps the choice. `-m` and `LOGGIA_MODEL` count before it, the configuration file after it. \
`--unset` forgets it.";

/// Arguments of `model use`.
#[derive(Debug, Args)]
pub(crate) struct ModelUseArguments {
    /// Which, as `provider:model`
    #[arg(value_name = "MODEL", required_unless_present = "unset")]
    pub(crate) name: Option<String>,
    /// Forget which was chosen: what is configured or found counts again
    #[arg(long, conflicts_with = "name")]
    pub(crate) unset: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `model test`.
#[derive(Debug, Args)]
pub(crate) struct ModelTestArguments {
    /// Which, as `provider:model` [default: the one of new sessions]
    #[arg(value_name = "MODEL")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look after what the agent may do here.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the policy of this workspace
    Show(PolicyShowArguments),
    /// Change the policy of this workspace in an editor
    Edit(PolicyEditArguments),
    /// Tell what the policy says to a command, a path or a tool
    Check(PolicyCheckArguments),
}

/// Arguments of `policy show`.
#[derive(Debug, Args, Default)]
pub(crate) struct PolicyShowArguments {
    /// Of this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `policy edit`.
#[derive(Debug, Args)]
pub(crate) struct PolicyEditArguments {
    /// Of this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Begin with this file, such as a draft that was not taken, instead of with the policy
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
}

/// Arguments of `policy check`.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArguments {
    /// A command line, as in `loggia policy check "npm test"`
    #[arg(value_name = "COMMAND", required_unless_present_any = ["path", "tool"])]
    pub(crate) command: Option<String>,
    /// A path to reach
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// A tool to call
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const INIT_ABOUT: &str = "\
Sets up a model for new sessions, and its provider's key if it needs one. In a terminal it shows what was found, lets you choose \
and asks for what is missing. Otherwise name the model with `--model`. What is set already is replaced only with your yes. The \
model goes into your configuration file, the key into the keyring, or else into a file that only you can read.";

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Use this model, as `provider:model` [default: you are asked]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Read the key of the model's provider from standard input
    #[arg(long, requires = "model")]
    pub(crate) key_stdin: bool,
    /// Have the model say one word
    #[arg(long)]
    pub(crate) test: bool,
    /// Replace what is set without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `tokens=50000,usd=0.5`.
pub(super) fn parse_budget(text: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for part in text.split(',').map(str::trim) {
        let read = part.split_once('=').and_then(|(name, value)| match name.trim() {
            "tokens" => value.trim().parse().ok().map(|tokens| budget.max_tokens = Some(tokens)),
            "usd" => {
                let cost = value.trim().parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
                cost.map(|cost| budget.max_cost_usd = Some(cost))
            }
            _ => None,
        });
        read.ok_or_else(|| {
            format!("`{part}` is no limit; expected some of `tokens=50000,usd=0.5`; steps are limited by `policy.max_steps`")
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
        assert_eq!((budget.max_tokens, budget.max_cost_usd), (Some(5), Some(0.5)));
        for wrong in ["", "5", "tokens=-1", "usd=nan", "usd=-1", "hours=1", "steps=5", "tokens=1,,"] {
            assert!(parse_budget(wrong).is_err(), "{wrong}");
        }
    }
}
