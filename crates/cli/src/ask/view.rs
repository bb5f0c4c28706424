//! A turn as people see it: the reply as it grows, one line for each thing done, questions, and how it ended.
//!
//! What always holds: the reply and what happens around it never share a line.

mod asking;
mod doing;
mod ending;
mod reply;

use std::collections::BTreeMap;

use loggia_client::Lost;
use loggia_protocol_agent_server::{PlanStep, RetrievalStage, ServerMessage, Session};
use serde_json::Value;
use tokio::time::Instant;

use super::tail::Tail;
use crate::live::Live;
use crate::markdown::Markdown;
use crate::paint::{ASIDE, WARNING};
use crate::{CliError, Terminal, describe};

/// The provider under whose name agents of plugins are chosen.
const GUESTS: &str = "plugin";

/// What a person sees.
#[derive(Debug)]
pub(crate) struct View<'t> {
    terminal: &'t mut Terminal,
    began: Instant,
    markdown: Markdown,
    /// The running reply as it came, to see what of its end is new.
    reply: String,
    /// The reply before that, whose last line has ended.
    closed: String,
    /// Whether the answer's last line is open, where it is no terminal.
    open_line: bool,
    /// Whether something was said before, or done since.
    spoken: bool,
    done_since: bool,
    running: Vec<Call>,
    outputs: BTreeMap<String, Tail>,
    plan: Vec<PlanStep>,
    thought: String,
    live: Live,
    /// The keys under a question, which go when something else is to be said.
    keys: Option<String>,
    away: bool,
    /// Who replies, as far as that is known.
    model: Option<String>,
    /// Whether a plugin's agent replies.
    is_guest: bool,
    /// Whether what is followed are the steps of a task.
    of_task: bool,
    /// Whether only the answer, questions and errors are shown.
    quiet: bool,
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    tool: String,
    args: Value,
    words: String,
}

impl<'t> View<'t> {
    pub(crate) fn new(terminal: &'t mut Terminal, quiet: bool) -> Self {
        let markdown = Markdown::new(terminal.paint_out());
        Self {
            terminal,
            began: Instant::now(),
            markdown,
            reply: String::new(),
            closed: String::new(),
            open_line: false,
            spoken: false,
            done_since: false,
            running: Vec::new(),
            outputs: BTreeMap::new(),
            plan: Vec::new(),
            thought: String::new(),
            live: Live::default(),
            keys: None,
            away: false,
            model: None,
            is_guest: false,
            of_task: false,
            quiet,
        }
    }

    pub(super) fn begin(&mut self, session: &Session) {
        let replies = session.stand_in.as_ref().or(session.model.as_ref());
        self.model = replies.map(|model| describe::model(&model.provider, &model.model_name));
        self.is_guest = replies.is_some_and(|model| model.provider == GUESTS);
        self.live.set("Thinking");
    }

    /// What is followed are the steps of a task.
    pub(super) fn follows_task(&mut self) {
        self.of_task = true;
    }

    /// Shows a message.
    pub(crate) fn message(&mut self, message: &ServerMessage) -> Result<(), CliError> {
        match message {
            ServerMessage::Token(token) => self.token(&token.token),
            ServerMessage::Thinking(thinking) => self.thinking(thinking),
            ServerMessage::RetrieveStatus(status) => {
                self.live.set(&status.message);
                match status.stage {
                    // That nothing was found is nothing to tell.
                    RetrievalStage::Reranking if status.results_count > 0 => self.aside(&status.message),
                    _ => Ok(()),
                }
            }
            ServerMessage::Plan(plan) => self.plan(plan),
            ServerMessage::ToolExecute(execute) => self.tool(execute),
            ServerMessage::ToolOutput(output) => self.output(output),
            ServerMessage::PatchProposed(patch) if !patch.requires_approval => self.patch(patch),
            ServerMessage::ClientEcho(echo) => self.echo(echo),
            ServerMessage::SessionNotice(notice) => self.notice(notice),
            ServerMessage::MessageFinal(last) => self.last(last),
            _ => Ok(()),
        }
    }

    /// Whether something moves.
    pub(super) fn is_live(&self) -> bool {
        let can_move = self.terminal.stderr_is_terminal() && self.terminal.can_wipe();
        can_move && !self.quiet && self.live.is_on() && self.keys.is_none() && !self.in_line()
    }

    /// Moves it.
    pub(super) fn tick(&mut self) -> Result<(), CliError> {
        let line = self.live.draw(self.terminal.paint_err(), self.terminal.width());
        self.terminal.err(&line).map_err(CliError::Output)
    }

    /// Says something that most readers skip.
    pub(super) fn aside(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.terminal.paint_err().foreign(ASIDE, text);
        self.around(&self.terminal.folded(&format!("{text}\n")))
    }

    pub(super) fn connected(&mut self) -> Result<(), CliError> {
        if !std::mem::take(&mut self.away) {
            return Ok(());
        }
        self.live.set("Thinking");
        self.aside("The server is back.")
    }

    pub(super) fn disconnected(&mut self, why: Lost) -> Result<(), CliError> {
        let first = !std::mem::replace(&mut self.away, true);
        self.live.set("Waiting for the server");
        if !first {
            return Ok(());
        }
        let what = match why {
            Lost::Stopping => "The server stops",
            Lost::Silent => "The server does not answer",
            _ => "The server is gone",
        };
        let mark = self.terminal.paint_err().text(WARNING, "!");
        let text = format!("{mark} {what}; waiting for it to come back. Ctrl-C twice leaves.\n");
        self.insist(&self.terminal.folded(&text))
    }

    /// Says something around the reply, to whoever wants to know.
    fn around(&mut self, text: &str) -> Result<(), CliError> {
        if self.quiet { Ok(()) } else { self.insist(text) }
    }

    /// Whether the reply is seen in a terminal, and not kept somewhere.
    pub(super) fn is_answer_seen(&self) -> bool {
        self.terminal.stdout_is_terminal()
    }

    /// Says something around the reply that everybody needs.
    fn insist(&mut self, text: &str) -> Result<(), CliError> {
        if self.in_line() {
            let rest = self.markdown.finish(self.terminal.width());
            self.terminal.out(&rest).map_err(CliError::Output)?;
        }
        self.wipe()?;
        self.done_since = true;
        self.terminal.err(text).map_err(CliError::Output)
    }

    /// Wipes what is not to stay.
    fn wipe(&mut self) -> Result<(), CliError> {
        if let Some(keys) = self.keys.take() {
            let rows = keys.matches('\n').count();
            let wipe = match self.terminal.can_wipe() {
                true => format!("\r\u{1b}[K{}", "\u{1b}[A\u{1b}[K".repeat(rows)),
                false => "\n".to_owned(),
            };
            return self.terminal.err(&wipe).map_err(CliError::Output);
        }
        let wipe = self.live.wipe();
        if wipe.is_empty() { Ok(()) } else { self.terminal.err(wipe).map_err(CliError::Output) }
    }
}
