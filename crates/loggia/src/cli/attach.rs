//! The part of the form for `attach`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use loggia_cli::Level;
use regex::Regex;

pub(super) const ATTACH_ABOUT: &str = "\
A terminal on the console of the server that runs, or of one that is started for it: what it logs comes in, and commands are \
typed, completed with Tab and coloured while they are. Any number of terminals may be attached at once. The protocol is Endermux, so `-s` \
attaches to the console of any other such server, too.

A connection that is lost is made again, and what is typed meanwhile stays. Ctrl-D leaves. Where standard input is no terminal, each of \
its lines is a command, and the end of it is the end.

With `-c`, and with commands from a pipe, the exit code is the status of the first command that failed. Servers that do not tell how a \
command ended are listened to until they have been silent for half a second; the exit code is then 0. Exit code 5: nobody is there, or the \
connection was lost. Exit code 6: the server does not let us in.";

/// Arguments of `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// Attach to the server with this socket [default: Loggia's own]
    #[arg(short, long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// Give this command, print what it says, and leave with its status; may be repeated
    ///
    /// Several are given one after the other, until one fails.
    #[arg(short, long = "command", value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) commands: Vec<String>,
    /// Show only what is logged in lines that match
    #[arg(long, value_name = "REGEX", value_parser = Regex::new, help_heading = "What is shown")]
    pub(crate) grep: Option<Regex>,
    /// Show only what is logged at this level, and above it
    #[arg(long, value_name = "LEVEL", value_enum, help_heading = "What is shown")]
    pub(crate) level: Option<LevelName>,
    /// Follow the log; no command can be given, and the server is told so
    #[arg(long, conflicts_with = "commands")]
    pub(crate) read_only: bool,
    /// Print JSON: a line for each command, or for each line of the log
    #[arg(long)]
    pub(crate) json: bool,
}

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Every step
    Trace,
    /// For whoever looks for a fault
    Debug,
    /// What happens
    Info,
    /// Something to look at
    Warn,
    /// Something that failed
    Error,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Trace => Self::Trace,
            LevelName::Debug => Self::Debug,
            LevelName::Info => Self::Info,
            LevelName::Warn => Self::Warn,
            LevelName::Error => Self::Error,
        }
    }
}
