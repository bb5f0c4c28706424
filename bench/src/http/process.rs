//! This program, started again for another part in the play.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::listen::{Orders, Report};

/// Starts a process that measures one part.
pub(super) fn start_part(name: &str) -> Result<Child> {
    start(&["http-part", name, "--json"])
}

/// Starts this program with other words.
pub(super) fn start(words: &[&str]) -> Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
    let command = Command::new(std::env::current_exe()?);
    pipes(command, words)
}

/// Starts a program that is written to and read from.
pub(super) fn pipes(mut command: Command, words: &[&str]) -> Result<Child> {
    Ok(command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?)
}

/// Clients in another process. They are gone with this.
#[derive(Debug)]
pub(super) struct Clients {
    process: Child,
    orders: Option<ChildStdin>,
    reports: BufReader<ChildStdout>,
}

impl Clients {
    /// Connects them. Blocks.
    pub(super) fn connect(orders: &Orders) -> Result<Self> {
        let mut process = start(&["listen"])?;
        let input = process.stdin.take().context("a pipe")?;
        let reports = BufReader::new(process.stdout.take().context("a pipe")?);
        let mut clients = Self { process, orders: Some(input), reports };
        clients.say(&serde_json::to_string(orders)?)?;
        let line = clients.line()?;
        ensure!(line == "ready", "the clients say {line:?}");
        Ok(clients)
    }

    /// Has the first give an instruction, and all of them listen to its end. Blocks.
    pub(super) fn turn(&mut self, prompt: &str) -> Result<Report> {
        self.say(prompt)?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    fn say(&mut self, line: &str) -> Result<()> {
        let input = self.orders.as_mut().context("they are still there")?;
        writeln!(input, "{line}")?;
        Ok(input.flush()?)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.reports.read_line(&mut line)? > 0, "the clients have ended");
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        // They end when they are told nothing more; nothing can be done about one that does not.
        self.orders = None;
        let _ = self.process.wait();
    }
}
