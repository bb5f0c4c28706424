//! A terminal on a console: Loggia's own, or that of any server of the Endermux protocol.
//!
//! Knows lines, keys and colours. Refuses to know what commands do: the server completes, colours and does them.
//!
//! What always holds: logs of others are shown above the line that is edited and do not break it; what they hold cannot drive
//! the terminal; a connection that was lost is made again, and what is typed meanwhile stays; whoever may only read does not
//! even negotiate commands.

mod commands;
mod complete;
mod error;
mod face;
mod filter;
mod highlight;
mod input;
mod keeper;
mod lines;
mod one_shot;
mod prompt;
mod view;
mod watch;

use std::path::PathBuf;

use loggia_protocol_endermux::ColorLevel;

pub use error::ConsoleError;
pub use filter::{Filter, Level};

use crate::{CliError, Interrupts, Terminal};

/// How to attach.
#[derive(Debug, Clone)]
pub struct Attach {
    /// The server's socket.
    pub socket: PathBuf,
    /// The colours of the terminal; without any, what the server says is shown without.
    pub color_level: ColorLevel,
    /// Which lines of the log are shown.
    pub filter: Filter,
    /// Follow, and be able to send nothing.
    pub read_only: bool,
    /// Records for programs instead of lines.
    pub json: bool,
    /// Nothing of our own but errors.
    pub quiet: bool,
    /// Where what was typed is remembered; nowhere otherwise.
    pub history: Option<PathBuf>,
    /// Commands to give instead of what is typed.
    pub commands: Vec<String>,
    /// Whether each line of standard input is such a command.
    pub piped: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// Whoever was there has left, or all commands were done.
    Done,
    /// A command ended with this status, which is not 0.
    Failed(i32),
    /// It was interrupted.
    Cancelled,
}

impl Attach {
    fn has_colors(&self) -> bool {
        self.color_level != ColorLevel::None
    }
}

/// Attaches until whoever types leaves, or the commands are done.
///
/// # Errors
/// When nobody is there or the server refuses us, when the output cannot be written or the keyboard cannot be read.
pub async fn attach(
    options: &Attach,
    terminal: &mut Terminal,
    mut interrupts: Interrupts,
) -> Result<Attached, CliError> {
    if options.commands.is_empty() && !options.piped {
        view::view(options, terminal, &mut interrupts).await
    } else {
        one_shot::run(options, terminal, &mut interrupts).await
    }
}
