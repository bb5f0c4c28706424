//! What a command says to whoever gave it, however that terminal hears it.
//!
//! A terminal that waits for results gets them with a status; another one finds the same text in its log, and others do
//! not.

use loggia_endermux_io::Console;
use loggia_endermux_io::server::{ClientId, Gone, Output};

use crate::paint::{Painted, Style};
use crate::read::Fault;

/// How a command ended, as programs see it. The numbers are those of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Unavailable = 5,
    Refused = 6,
    Cancelled = 7,
    Model = 8,
    Unfinished = 9,
}

/// Why a command came to nothing, in words for whoever gave it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: Status,
    pub(crate) what: String,
    /// What to do about it; empty if nobody knows.
    pub(crate) hint: String,
}

impl Refused {
    pub(crate) fn new(status: Status, what: impl ToString) -> Self {
        Self { status, what: what.to_string(), hint: String::new() }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl ToString) -> Self {
        self.hint = hint.to_string();
        self
    }

    fn text(&self) -> Painted {
        let mut text = Painted::of(Style::Bad, "error").plain(format!(": {}", self.what)).line();
        if !self.hint.is_empty() {
            text.append(Painted::of(Style::Aside, &self.hint).line());
        }
        text
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { status: Status::Usage, what: fault.what, hint: fault.hint }
    }
}

/// Where a command's words go.
#[derive(Debug)]
pub(crate) struct Voice {
    output: Output,
    console: Console,
    client: ClientId,
}

impl Voice {
    pub(crate) fn new(output: Output, console: Console, client: ClientId) -> Self {
        Self { output, console, client }
    }

    /// Whether somebody waits for the end.
    pub(crate) fn is_awaited(&self) -> bool {
        self.output.is_awaited()
    }

    /// Says something.
    pub(crate) async fn say(&self, text: &Painted) -> Result<(), Gone> {
        if self.output.is_awaited() {
            return self.output.print(&text.render(self.output.color_level())).await;
        }
        // Whoever has no log hears nothing, as on every console of this protocol.
        self.console.send_to(self.client, text);
        Ok(())
    }

    /// Says how it ended, and no more.
    pub(crate) async fn end(self, result: Result<Painted, Refused>) {
        let (text, status) = match result {
            Ok(text) => (text, Status::Done),
            Err(refused) => (refused.text(), refused.status),
        };
        // Whoever has gone does not need the end either.
        if self.say(&text).await.is_ok() {
            self.output.finish(status as i32);
        }
    }
}
