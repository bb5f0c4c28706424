//! The part of the form for a program that gets a console.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use loggia_wire::child::TerminalSize;
use loggia_wrap::{Level, Restart};

pub(super) const ABOUT: &str = "\
Runs any line-oriented program (a game server, a REPL, a database shell) and gives it a console that any number of \
terminals can attach to, with `loggia attach -s SOCKET` or with any client of the Endermux protocol. What the program writes is \
logged to all of them, and here, unless `--quiet` is given; what they send, or what is typed here, it gets to read. Who sent what is logged, too.

It ends with the program, and with its exit status: 128 and the signal's number if a signal ended it, 127 if it was not found, 126 if it cannot \
be executed. SIGTERM and SIGINT are passed on to the program; a second one kills it. Whatever happens here, nothing of the program is left \
behind.";

/// How long each step of stopping may take if nobody says otherwise: servers save what they have.
const STOP_SECONDS: u64 = 10;

/// Arguments of `wrap`.
#[derive(Debug, Args)]
pub(crate) struct WrapArguments {
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
    /// Where terminals attach [default: `wrap-NAME.sock` in the runtime directory]
    #[arg(short, long, value_name = "SOCKET")]
    pub(crate) socket: Option<PathBuf>,
    /// What the default socket is called after [default: the program]
    #[arg(long, value_name = "NAME", conflicts_with = "socket")]
    pub(crate) name: Option<String>,
    /// Tell on stderr that it is ready as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Give the program a terminal of its own instead of pipes; TERM is `dumb` there, and lines are not echoed
    #[arg(long, help_heading = "Input and output")]
    pub(crate) pty: bool,
    /// How large that terminal is [default: 24x80]
    #[arg(long, value_name = "ROWSxCOLUMNS", requires = "pty", value_parser = parse_size, help_heading = "Input and output")]
    pub(crate) size: Option<TerminalSize>,
    /// How important lines on its stderr are, if they do not say so themselves
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelName::Info, help_heading = "Input and output")]
    pub(crate) stderr_level: LevelName,
    /// Close the program's input when ours ends
    #[arg(long, help_heading = "Input and output")]
    pub(crate) stdin_eof: bool,
    /// Complete from this file, one word or line of words each line; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Completion")]
    pub(crate) words: Vec<PathBuf>,
    /// Complete this word, or line of words; may be repeated
    #[arg(long, value_name = "WORD", help_heading = "Completion")]
    pub(crate) word: Vec<String>,
    /// Keep lines that were sent in this file, to complete from them the next time
    #[arg(long, value_name = "FILE", help_heading = "Completion")]
    pub(crate) history: Option<PathBuf>,
    /// When to start the program again
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = RestartName::Never, help_heading = "Ending")]
    pub(crate) restart: RestartName,
    /// How often in a row; a program that lived for a minute was well
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Ending")]
    pub(crate) max_restarts: u32,
    /// Send this line first when the program is to stop
    #[arg(long, value_name = "LINE", help_heading = "Ending")]
    pub(crate) stop_command: Option<String>,
    /// How many seconds it then has before SIGTERM, and after that before SIGKILL
    #[arg(long, value_name = "SECONDS", default_value_t = STOP_SECONDS, help_heading = "Ending")]
    pub(crate) stop_timeout: u64,
}

impl WrapArguments {
    /// How long each step of stopping may take.
    pub(crate) fn stop_limit(&self) -> Duration {
        Duration::from_secs(self.stop_timeout)
    }
}

/// When a program is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestartName {
    /// When it has ended, this ends
    Never,
    /// Unless it ended with status 0
    OnFailure,
    /// However it ended
    Always,
}

impl From<RestartName> for Restart {
    fn from(name: RestartName) -> Self {
        match name {
            RestartName::Never => Self::Never,
            RestartName::OnFailure => Self::OnFailure,
            RestartName::Always => Self::Always,
        }
    }
}

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Usual: lines are left as they are
    Info,
    /// Something to look at: lines begin with `[WARN]:`
    Warn,
    /// Something is wrong: lines begin with `[ERROR]:`
    Error,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Info => Self::Info,
            LevelName::Warn => Self::Warn,
            LevelName::Error => Self::Error,
        }
    }
}

fn parse_size(text: &str) -> Result<TerminalSize, String> {
    let number = |text: &str| text.parse::<u16>().ok().filter(|number| *number > 0);
    let size = text.split_once('x').and_then(|(rows, columns)| number(rows).zip(number(columns)));
    let (rows, columns) = size.ok_or("expected ROWSxCOLUMNS, as in `24x80`")?;
    Ok(TerminalSize { rows, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_two_numbers() {
        assert_eq!(parse_size("50x132"), Ok(TerminalSize { rows: 50, columns: 132 }));
        for wrong in ["", "24", "0x80", "24x", "24x80x2", "-1x80"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
