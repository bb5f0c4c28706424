//! The part of the form for commands that are clients of the server: asking, and looking after what was asked.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use loggia_protocol_agent_server::{Budget, PolicyPreset};

pub(super) const ASK_ABOUT: &str = "\
Puts a question or a task to the agent and shows its turn until it ends: the reply on standard output, everything around it on \
standard error. Where the policy says so, you are asked before something is changed or run. What is piped in becomes part of \
the question. Ctrl-C cancels the turn, a second one leaves.

A server that runs is used; otherwise one is started in the background, which leaves when nobody needs it any more.";

/// How many sessions are listed, if nobody says otherwise: a screen of them.
const LISTED: usize = 20;

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

impl AskArguments {
    /// What `sessions resume` asks for.
    pub(crate) fn resuming(resumed: SessionsResumeArguments) -> Self {
        let SessionsResumeArguments { id, prompt, json } = resumed;
        Self {
            prompt,
            workspace: None,
            model: None,
            session: Some(id),
            r#continue: false,
            yes: false,
            read_only: false,
            policy: None,
            budget: None,
            json,
            ephemeral: false,
        }
    }
}

impl SessionsListArguments {
    /// What `sessions` alone asks for.
    pub(crate) fn usual() -> Self {
        Self { workspace: None, all: false, limit: LISTED, json: false }
    }
}

/// Arguments of `chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
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
}

impl From<ChatArguments> for AskArguments {
    fn from(chat: ChatArguments) -> Self {
        let ChatArguments { workspace, model, session, r#continue, yes, read_only, policy, budget } = chat;
        Self {
            prompt: Vec::new(),
            workspace,
            model,
            session,
            r#continue,
            yes,
            read_only,
            policy,
            budget,
            json: false,
            ephemeral: false,
        }
    }
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

/// Look after sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, newest first
    List(SessionsListArguments),
    /// Show one session
    Show(SessionArguments),
    /// Go on with a session; without a prompt, as a conversation
    Resume(SessionsResumeArguments),
    /// Call a session something else
    Rename(SessionsRenameArguments),
    /// Begin a new session with the past of one
    Fork(SessionsForkArguments),
    /// Delete a session with all that is known of it
    Delete(SessionsDeleteArguments),
    /// Write a session as JSON Lines
    Export(SessionsExportArguments),
    /// Make a session of what was exported
    Import(SessionsImportArguments),
}

/// Arguments of `sessions list`.
#[derive(Debug, Args)]
pub(crate) struct SessionsListArguments {
    /// Those of this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) workspace: Option<PathBuf>,
    /// Those of every workspace
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = LISTED)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which session, and how it is shown.
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions resume`.
#[derive(Debug, Args)]
pub(crate) struct SessionsResumeArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What to answer or to do
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions rename`.
#[derive(Debug, Args)]
pub(crate) struct SessionsRenameArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What to call it
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions fork`.
#[derive(Debug, Args)]
pub(crate) struct SessionsForkArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The number of the last event that both share [default: all of them]
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// What to call the new one
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions delete`.
#[derive(Debug, Args)]
pub(crate) struct SessionsDeleteArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions export`.
#[derive(Debug, Args)]
pub(crate) struct SessionsExportArguments {
    /// Which session
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Write to this file, which must not exist yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `sessions import`.
#[derive(Debug, Args)]
pub(crate) struct SessionsImportArguments {
    /// What was exported; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Into this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const UNDO_ABOUT: &str = "\
Takes back what the agent changed in files, step by step, the last one first; `loggia redo` makes it again. Without `--session` it is \
the session of this workspace in which something happened last. Commands that ran in a client's terminal are out of reach.";

/// Arguments of `undo` and `redo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// In this session [default: the one of this workspace in which something happened last]
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
    /// Use a model for new sessions
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

/// Arguments of `model use`.
#[derive(Debug, Args)]
pub(crate) struct ModelUseArguments {
    /// Which, as `provider:model`
    #[arg(value_name = "MODEL")]
    pub(crate) name: String,
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
