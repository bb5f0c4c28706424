//! Commands that are given one after the other, with nobody at a keyboard.
//!
//! What always holds: standard output has what the commands say and nothing else; a command is given when the one before it
//! has ended; what is missing of what they say is told.

use std::time::Duration;

use loggia_endermux_io::client::Said;
use loggia_endermux_io::{Client, Disconnect, Event, Events};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::commands::{as_sent, has_results};
use super::error::ConsoleError;
use super::filter::Sieve;
use super::input::stdin_lines;
use super::lines::{Lines, one_line, plain};
use super::view::offer;
use super::{Attach, Attached};
use crate::paint::{ERROR, WARNING};
use crate::{CliError, Interrupts, Terminal};

/// How long a server may take to take commands: it may be starting.
const PATIENCE: Duration = Duration::from_secs(5);

/// When a server that does not tell the end of a command has been silent so long, the command has ended.
const QUIET: Duration = Duration::from_millis(500);

/// A server that is never silent has said enough.
const ENOUGH: Duration = Duration::from_secs(30);

/// How a command ended that a server which tells nothing else called an error.
const FAILED: i32 = 1;

/// How much of a command's output is kept for a record of it; more is told to be missing.
const MAX_RECORD: usize = 8 * 1024 * 1024;

/// Gives the commands that were named, or those of standard input.
pub(super) async fn run(
    options: &Attach,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Attached, CliError> {
    let source = if options.commands.is_empty() {
        let given = terminal.lines.take().map_or_else(stdin_lines, Ok);
        Source::Lines(given.map_err(CliError::Keyboard)?)
    } else {
        Source::Named(options.commands.clone().into_iter())
    };
    tokio::select! {
        done = Shot::give_all(options, terminal, source) => done,
        () = interrupts.next() => Ok(Attached::Cancelled),
    }
}

/// Where commands come from.
enum Source {
    /// The first that fails is the last.
    Named(std::vec::IntoIter<String>),
    /// All are given, whatever becomes of them.
    Lines(mpsc::Receiver<String>),
}

impl Source {
    async fn next(&mut self) -> Option<String> {
        match self {
            Self::Named(commands) => commands.next(),
            Self::Lines(lines) => lines.recv().await,
        }
    }
}

/// A connection for commands.
struct Shot<'s> {
    options: &'s Attach,
    terminal: &'s mut Terminal,
    client: Client,
    events: Events,
    sieve: Sieve,
    /// Whether the server has closed the connection.
    is_closed: bool,
}

/// A command for programs.
#[derive(Serialize)]
struct Record<'c> {
    command: &'c str,
    output: &'c str,
    /// Nothing where the server does not tell.
    status: Option<i32>,
    /// Whether some of the output is missing; not there otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// What a command said, as far as it is kept.
#[derive(Default)]
struct Kept {
    text: String,
    /// Some of it is missing.
    truncated: bool,
    /// Nothing more is kept.
    is_full: bool,
}

impl<'s> Shot<'s> {
    async fn give_all(
        options: &'s Attach,
        terminal: &'s mut Terminal,
        mut source: Source,
    ) -> Result<Attached, CliError> {
        let lost = |error| CliError::Console(ConsoleError::of_connecting(error, &options.socket));
        let (client, events) = Client::connect(&options.socket, &offer(options)).await.map_err(lost)?;
        let sieve = Sieve::new(options.filter.clone());
        let mut shot = Self { options, terminal, client, events, sieve, is_closed: false };
        let mut ended = Attached::Done;
        let mut is_open = false;
        while let Some(command) = source.next().await {
            let Some(command) = as_sent(&command, &shot.client) else { continue };
            if !std::mem::replace(&mut is_open, true) {
                shot.until_open().await?;
            }
            let status = shot.give(command).await?;
            if status != 0 {
                ended = if ended == Attached::Done { Attached::Failed(status) } else { ended };
                if matches!(source, Source::Named(_)) {
                    break;
                }
            }
        }
        Ok(ended)
    }

    /// Waits until commands can be given.
    async fn until_open(&mut self) -> Result<(), CliError> {
        let opened = async {
            loop {
                match self.events.next().await {
                    Some(Event::Interactivity(true)) => return Ok(()),
                    Some(Event::Closed(why)) => return Err(ConsoleError::Lost(Some(why))),
                    None => return Err(ConsoleError::Lost(None)),
                    Some(_) => {}
                }
            }
        };
        timeout(PATIENCE, opened).await.unwrap_or(Err(ConsoleError::Closed)).map_err(CliError::Console)?;
        if !has_results(&self.client) {
            self.client.subscribe().await.map_err(of_request)?;
        }
        Ok(())
    }

    /// Gives one command, shows what it says, and tells how it ended.
    async fn give(&mut self, command: &str) -> Result<i32, CliError> {
        if self.is_closed {
            return Err(CliError::Console(ConsoleError::Lost(Some(Disconnect::ByServer))));
        }
        let mut output = Kept::default();
        let told = has_results(&self.client);
        let status = if told {
            self.result(command, &mut output).await?
        } else {
            self.logs(command, &mut output).await?
        };
        if self.options.json {
            let (text, status) = (output.text.as_str(), told.then_some(status));
            let record = Record { command, output: text, status, truncated: output.truncated };
            let text = serde_json::to_string(&record).map_err(|error| CliError::Output(error.into()))?;
            self.terminal.out(&format!("{text}\n")).map_err(CliError::Output)?;
        }
        Ok(status)
    }

    /// Of a server that tells what becomes of a command.
    async fn result(&mut self, command: &str, output: &mut Kept) -> Result<i32, CliError> {
        let mut running = self.client.run(command).await.map_err(of_request)?;
        let mut lines = Lines::new(self.options.has_colors());
        while let Some(said) = running.next().await {
            match said.map_err(of_request)? {
                Said::Output(text) => self.show(lines.part(&text), output)?,
                Said::Ended { status } => {
                    self.show(lines.finish(), output)?;
                    return Ok(status);
                }
            }
        }
        Err(CliError::Console(ConsoleError::Lost(None)))
    }

    /// Of a server that only logs: what it says until it is silent.
    async fn logs(&mut self, command: &str, output: &mut Kept) -> Result<i32, CliError> {
        self.client.execute(command).await.map_err(of_request)?;
        let enough = Instant::now() + ENOUGH;
        let mut lines = Lines::new(self.options.has_colors());
        let mut status = 0;
        while let Ok(Ok(event)) = timeout_at(enough, timeout(QUIET, self.events.next())).await {
            match event {
                Some(Event::Log(text)) => {
                    let found: Vec<String> =
                        lines.take(&text).into_iter().filter(|line| self.sieve.passes(line)).collect();
                    self.show(found, output)?;
                }
                Some(Event::Error(failure)) => {
                    status = FAILED;
                    let word = self.terminal.paint_err().text(ERROR, "error:").into_owned();
                    let text = format!("{word} {}\n", one_line(&failure.text()));
                    self.terminal.err(&text).map_err(CliError::Output)?;
                }
                Some(Event::Skipped { messages }) => {
                    output.truncated = true;
                    let noun = if messages == 1 { "message" } else { "messages" };
                    self.warn(&format!(
                        "{messages} {noun} of the log skipped: they came faster than they can be shown"
                    ))?;
                }
                // A server that is told to end closes: nothing more comes, as if it were silent.
                Some(Event::Closed(Disconnect::ByServer)) => {
                    self.is_closed = true;
                    break;
                }
                Some(Event::Closed(why)) => return Err(CliError::Console(ConsoleError::Lost(Some(why)))),
                None => return Err(CliError::Console(ConsoleError::Lost(None))),
                Some(Event::Interactivity(_)) => {}
            }
        }
        Ok(status)
    }

    fn show(&mut self, lines: impl IntoIterator<Item = String>, output: &mut Kept) -> Result<(), CliError> {
        let mut text = String::new();
        for line in lines {
            if self.options.json {
                self.keep(&plain(&line), output)?;
            } else {
                text.push_str(&line);
                text.push('\n');
            }
        }
        if text.is_empty() { Ok(()) } else { self.terminal.out(&text).map_err(CliError::Output) }
    }

    /// Keeps a line for the record, which is held in memory: of too much the end is left out, as it tells least.
    fn keep(&mut self, line: &str, output: &mut Kept) -> Result<(), CliError> {
        if output.is_full {
            return Ok(());
        }
        if output.text.len() + line.len() < MAX_RECORD {
            output.text.push_str(line);
            output.text.push('\n');
            return Ok(());
        }
        (output.is_full, output.truncated) = (true, true);
        self.warn(&format!(
            "the output is over {} MiB; the record has its beginning",
            MAX_RECORD / 1024 / 1024
        ))
    }

    fn warn(&mut self, what: &str) -> Result<(), CliError> {
        let word = self.terminal.paint_err().text(WARNING, "warning:").into_owned();
        self.terminal.err(&format!("{word} {what}\n")).map_err(CliError::Output)
    }
}

fn of_request(error: loggia_endermux_io::RequestError) -> CliError {
    CliError::Console(ConsoleError::of_request(error))
}
