//! What to wrap, and how.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use loggia_wire::child::{Keeper, TerminalSize};

use crate::level::Level;

/// What to wrap, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program; a bare name is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Who keeps it.
    pub keeper: Keeper,
    /// Where clients attach.
    pub socket: PathBuf,
    /// The size of the program's terminal, if it is to have one.
    pub terminal: Option<TerminalSize>,
    /// How important lines on its stderr are that do not say so themselves.
    pub stderr_level: Level,
    /// When to start it again.
    pub restart: Restart,
    /// How often in a row.
    pub max_restarts: u32,
    /// The line that makes it stop.
    pub stop_command: Option<String>,
    /// How long each step of stopping may take.
    pub stop_timeout: Duration,
    /// What can be completed: words, and lines that begin like a command.
    pub words: Vec<String>,
    /// Where lines that were sent are kept for the next time.
    pub history: Option<PathBuf>,
    /// Whether the program's output also goes to our own stdout and stderr.
    pub copies: bool,
    /// Whether the end of our own stdin is the end of the program's.
    pub stdin_eof: bool,
}

/// When a program that has ended is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// Never.
    #[default]
    Never,
    /// Unless it ended by itself with status 0.
    OnFailure,
    /// However it ended.
    Always,
}
