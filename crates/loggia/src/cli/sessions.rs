//! The part of the form for looking after sessions.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::agent::{AskArguments, TurnArguments};

/// How many sessions are listed, if nobody says otherwise: a screen of them.
const LISTED: usize = 20;

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
    /// Which session [default: the one of this workspace in which something happened last]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
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

impl From<SessionsResumeArguments> for AskArguments {
    fn from(resumed: SessionsResumeArguments) -> Self {
        let SessionsResumeArguments { id, prompt, json } = resumed;
        let turn = TurnArguments { session: Some(id), ..TurnArguments::default() };
        Self { prompt, turn, json, ephemeral: false }
    }
}
