//! A turn as people see it: the reply as it grows, one line for each thing done, questions, and how it ended.
//!
//! What always holds: the reply and what happens around it never share a line.

use std::collections::BTreeMap;
use std::time::Duration;

use loggia_client::Lost;
use loggia_protocol_agent_server::{
    ClientEcho, ErrorBody, MessageFinal, PatchProposed, Phase, Plan, PlanStep, RetrievalStage, ServerMessage,
    Session, Thinking, ToolExecute, ToolOutput, ToolStatus,
};
use serde_json::Value;
use tokio::time::Instant;

use super::Outcome;
use super::question::{Decision, Question};
use super::tail::Tail;
use crate::live::Live;
use crate::markdown::Markdown;
use crate::paint::{
    ASIDE, BAD, CODE, ERROR, GOOD, Paint, SUBJECT, WARNING, cut, first_line, grouped, printable, width_of,
};
use crate::{CliError, Terminal, describe, diff};

/// How many running commands' output is kept: more than a turn runs at once.
const MAX_OUTPUTS: usize = 64;

/// How much of a thought is kept for the moving line: more than a line holds.
const MAX_THOUGHT_BYTES: usize = 512;

/// What a person sees.
#[derive(Debug)]
pub(crate) struct View<'t> {
    terminal: &'t mut Terminal,
    began: Instant,
    markdown: Markdown,
    /// The running reply as it came, to see what of its end is new.
    reply: String,
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
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    tool: String,
    args: Value,
    words: String,
}

impl<'t> View<'t> {
    pub(crate) fn new(terminal: &'t mut Terminal) -> Self {
        let markdown = Markdown::new(terminal.paint_out());
        Self {
            terminal,
            began: Instant::now(),
            markdown,
            reply: String::new(),
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
        }
    }

    pub(super) fn begin(&mut self) {
        self.live.set("Thinking");
    }

    /// Shows a message.
    pub(crate) fn message(&mut self, message: &ServerMessage) -> Result<(), CliError> {
        match message {
            ServerMessage::Token(token) => self.token(&token.token),
            ServerMessage::Thinking(thinking) => self.thinking(thinking),
            ServerMessage::RetrieveStatus(status) => {
                self.live.set(&status.message);
                match status.stage {
                    RetrievalStage::Reranking => self.aside(&status.message),
                    _ => Ok(()),
                }
            }
            ServerMessage::Plan(plan) => self.plan(plan),
            ServerMessage::ToolExecute(execute) => self.tool(execute),
            ServerMessage::ToolOutput(output) => self.output(output),
            ServerMessage::PatchProposed(patch) if !patch.requires_approval => self.patch(patch),
            ServerMessage::ClientEcho(echo) => self.echo(echo),
            ServerMessage::MessageFinal(last) => self.last(last),
            _ => Ok(()),
        }
    }

    /// Whether something moves.
    pub(super) fn is_live(&self) -> bool {
        let can_move = self.terminal.stderr_is_terminal() && self.terminal.can_wipe();
        can_move && self.live.is_on() && self.keys.is_none() && !self.in_line()
    }

    /// Moves it.
    pub(super) fn tick(&mut self) -> Result<(), CliError> {
        let line = self.live.draw(self.terminal.paint_err(), self.terminal.width());
        self.terminal.err(&line).map_err(CliError::Output)
    }

    /// Asks.
    pub(super) fn ask(&mut self, question: &Question, shows: bool) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        if shows {
            let text = format!("{}{}\n", question.details(paint, false), question.title(paint));
            self.around(&text)?;
        }
        self.show_keys(question)
    }

    /// Shows everything a question is about, or its hunks.
    pub(super) fn show(&mut self, question: &Question, hunks: bool) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let text = if hunks { question.choices(paint) } else { question.details(paint, true) };
        self.around(&text)?;
        self.show_keys(question)
    }

    /// A question that nobody here answers.
    pub(super) fn asked_elsewhere(&mut self, question: &Question) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let text = format!("{}{}\n", question.details(paint, false), question.title(paint));
        self.around(&text)?;
        self.live.set("Waiting for an answer from another client");
        Ok(())
    }

    /// What was answered; a question that was not shown before is named.
    pub(super) fn decided(
        &mut self,
        question: Option<&Question>,
        decision: &Decision,
        why: &str,
    ) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let mut text = String::new();
        if let Some(question) = question {
            text = format!("{}{}\n", question.details(paint, false), question.title(paint));
        }
        let style = if decision.approved { GOOD } else { BAD };
        text.push_str(&format!("  {}{why}\n", paint.text(style, decision.words())));
        self.around(&text)
    }

    /// Somebody else's decision counts.
    pub(super) fn decided_by(&mut self, name: &str, approved: bool) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let word = if approved { paint.text(GOOD, "yes") } else { paint.text(BAD, "no") };
        self.around(&format!("  {} said {word}\n", paint.foreign(SUBJECT, name)))
    }

    /// Takes the keys away: nobody waits for them any more.
    pub(super) fn unask(&mut self) -> Result<(), CliError> {
        self.wipe()
    }

    /// Says something that most readers skip.
    pub(super) fn aside(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.terminal.paint_err().foreign(ASIDE, text);
        self.around(&format!("{text}\n"))
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
        self.around(&format!("{mark} {what}; waiting for it to come back. Ctrl-C twice leaves.\n"))
    }

    /// How it ended.
    pub(super) fn end(
        &mut self,
        outcome: Outcome,
        fault: Option<&ErrorBody>,
        session: &Session,
    ) -> Result<(), CliError> {
        self.live.clear();
        self.close_text()?;
        self.wipe()?;
        let paint = self.terminal.paint_err();
        if let Some(fault) = fault.filter(|_| outcome != Outcome::Cancelled) {
            let hint = hint(outcome, fault);
            let text = format!(
                "{} {}\n{} {hint}\n",
                paint.text(ERROR, "error:"),
                printable(&fault.message),
                paint.text(CODE, "hint:")
            );
            self.around(&text)?;
        }
        if outcome == Outcome::Cancelled {
            self.aside("Cancelled.")?;
        }
        if outcome == Outcome::Left {
            self.aside(&format!("Left; the session {} may go on.", session.session_id.0))?;
        }
        Ok(())
    }

    /// What it took.
    pub(super) fn summary(&mut self, last: &MessageFinal, session: &Session) -> Result<(), CliError> {
        if !self.terminal.stderr_is_terminal() {
            return Ok(());
        }
        let mut parts = Vec::new();
        match last.metadata.files_modified {
            0 => {}
            1 => parts.push("1 file changed".to_owned()),
            count => parts.push(format!("{} files changed", grouped(count))),
        }
        if last.metadata.tokens_used > 0 {
            parts.push(format!("{} tokens", grouped(last.metadata.tokens_used)));
        }
        parts.push(took(self.began.elapsed()));
        parts.push(session.session_id.0.clone());
        self.aside(&parts.join(" · "))
    }

    fn token(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.wipe()?;
        if self.reply.is_empty() {
            self.begin_reply()?;
        }
        self.reply.push_str(text);
        let shown = match self.terminal.stdout_is_terminal() {
            true => self.markdown.push(text, self.terminal.width()),
            false => {
                self.open_line = !text.ends_with('\n');
                text.to_owned()
            }
        };
        self.terminal.out(&shown).map_err(CliError::Output)
    }

    /// An empty line between what was said or done before and what is said now.
    fn begin_reply(&mut self) -> Result<(), CliError> {
        let apart = match self.terminal.stdout_is_terminal() {
            true => self.spoken || self.done_since,
            false => self.spoken,
        };
        (self.spoken, self.done_since) = (true, false);
        if apart { self.terminal.out("\n").map_err(CliError::Output) } else { Ok(()) }
    }

    fn thinking(&mut self, thinking: &Thinking) -> Result<(), CliError> {
        if thinking.phase != Phase::Analyzing {
            self.thought.clear();
            return Ok(());
        }
        self.thought.push_str(&thinking.message);
        if self.thought.len() > MAX_THOUGHT_BYTES {
            let keep = self.thought.ceil_char_boundary(self.thought.len() - MAX_THOUGHT_BYTES / 2);
            self.thought.drain(..keep);
        }
        let last = self.thought.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        // Its newest words are the ones to see.
        let room = self.terminal.width().saturating_sub(20);
        let mut start = 0;
        while width_of(&last[start..]) > room {
            start = last.ceil_char_boundary(start + 1);
        }
        let words =
            if last.is_empty() { "Thinking".to_owned() } else { format!("Thinking: {}", &last[start..]) };
        self.live.set(&words);
        Ok(())
    }

    fn plan(&mut self, plan: &Plan) -> Result<(), CliError> {
        if self.plan == plan.steps {
            return Ok(());
        }
        self.plan.clone_from(&plan.steps);
        let paint = self.terminal.paint_err();
        let mut text = format!("{} {}\n", paint.text(SUBJECT, "Plan"), paint.foreign(ASIDE, &plan.rationale));
        for step in &plan.steps {
            text.push_str(&format!("  {}. {}\n", step.step_number, printable(&step.description)));
        }
        self.around(&text)
    }

    fn tool(&mut self, execute: &ToolExecute) -> Result<(), CliError> {
        self.thought.clear();
        if execute.status == ToolStatus::Started {
            if execute.executor.is_some() {
                return Ok(());
            }
            self.close_text()?;
            let words = describe::call(&execute.tool_name, &execute.args.0);
            self.live.set(&words);
            let (tool, args) = (execute.tool_name.clone(), execute.args.0.clone());
            self.running.push(Call { tool, args, words });
            return Ok(());
        }
        let is_it = |call: &Call| call.tool == execute.tool_name && call.args == execute.args.0;
        let words = match self.running.iter().position(is_it) {
            Some(index) => self.running.remove(index).words,
            None => describe::call(&execute.tool_name, &execute.args.0),
        };
        match self.running.last() {
            Some(call) => self.live.set(&call.words.clone()),
            None => self.live.set("Thinking"),
        }
        // The plan itself was shown.
        if execute.tool_name == "update_plan" && execute.status == ToolStatus::Completed {
            return Ok(());
        }
        self.ended(execute, &words)
    }

    /// A call that has ended, in one line, and the end of what a command printed.
    fn ended(&mut self, execute: &ToolExecute, words: &str) -> Result<(), CliError> {
        let result = execute.result.as_ref().map_or(&Value::Null, |result| &result.0);
        let paint = self.terminal.paint_err();
        let command = execute.args.0.get("command_id").and_then(Value::as_str);
        let output = command.and_then(|id| self.outputs.remove(id));
        let failed = execute.status == ToolStatus::Failed;
        let mark = if failed { paint.text(BAD, "✗") } else { paint.text(GOOD, "✓") };
        let words = cut(words, self.terminal.width().saturating_sub(2));
        let mut text = format!("{mark} {words}");
        let number = |name: &str| result.get(name).and_then(Value::as_i64);
        if let Some(code) = number("exit_code").filter(|code| *code != 0) {
            text.push_str(&paint.text(BAD, format!(" (exit code {code})")));
        }
        if let Some(signal) = number("signal") {
            text.push_str(&paint.text(BAD, format!(" (ended by signal {signal})")));
        }
        if result.get("timed_out").is_some() {
            text.push_str(&paint.text(BAD, " (took too long)"));
        }
        text.push('\n');
        // How a command ended was said.
        let says_why = failed && number("exit_code").is_none();
        if let Some(error) = result.get("error").and_then(Value::as_str).filter(|_| says_why) {
            let error = first_line(error);
            text.push_str(&format!("  {}\n", paint.text(ASIDE, error)));
        }
        if let Some(output) = output {
            let (left_out, lines) = output.lines();
            if left_out > 0 {
                text.push_str(&format!("  {}\n", paint.text(ASIDE, format!("… {left_out} lines before"))));
            }
            for line in lines {
                text.push_str(&format!("  {}\n", paint.foreign(ASIDE, line)));
            }
        }
        self.around(&text)
    }

    fn output(&mut self, output: &ToolOutput) -> Result<(), CliError> {
        if self.outputs.len() >= MAX_OUTPUTS && !self.outputs.contains_key(&output.command_id.0) {
            return Ok(());
        }
        let tail = self.outputs.entry(output.command_id.0.clone()).or_default();
        tail.push(&output.chunk);
        let id = Some(output.command_id.0.as_str());
        let call = self.running.iter().find(|call| call.args.get("command_id").and_then(Value::as_str) == id);
        if let (Some(call), Some(last)) = (call, tail.last()) {
            self.live.set(&format!("{}: {}", call.words, first_line(last)));
        }
        Ok(())
    }

    fn patch(&mut self, patch: &PatchProposed) -> Result<(), CliError> {
        let text = diff::patch(patch, self.terminal.paint_err(), diff::SHOWN_LINES);
        self.around(&text)
    }

    fn echo(&mut self, echo: &ClientEcho) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let text =
            format!("{} {}\n", paint.foreign(SUBJECT, &format!("{}:", echo.from)), first_line(&echo.message));
        self.around(&text)
    }

    /// The reply as it stands: what of it was not told while it grew is shown now.
    fn last(&mut self, last: &MessageFinal) -> Result<(), CliError> {
        self.live.clear();
        let new = match last.message.strip_prefix(self.reply.as_str()) {
            Some(new) => new.to_owned(),
            None => {
                self.close_text()?;
                last.message.clone()
            }
        };
        self.token(&new)?;
        self.close_text()
    }

    fn in_line(&self) -> bool {
        self.terminal.stdout_is_terminal() && self.markdown.in_line()
    }

    /// Ends the reply's last line.
    fn close_text(&mut self) -> Result<(), CliError> {
        self.reply.clear();
        let text = match self.terminal.stdout_is_terminal() {
            true => {
                let text = self.markdown.finish(self.terminal.width());
                self.markdown = Markdown::new(self.terminal.paint_out());
                text
            }
            false if std::mem::take(&mut self.open_line) => "\n".to_owned(),
            false => String::new(),
        };
        if text.is_empty() {
            return Ok(());
        }
        self.wipe()?;
        self.terminal.out(&text).map_err(CliError::Output)
    }

    /// Says something around the reply.
    fn around(&mut self, text: &str) -> Result<(), CliError> {
        if self.in_line() {
            let rest = self.markdown.finish(self.terminal.width());
            self.terminal.out(&rest).map_err(CliError::Output)?;
        }
        self.wipe()?;
        self.done_since = true;
        self.terminal.err(text).map_err(CliError::Output)
    }

    fn show_keys(&mut self, question: &Question) -> Result<(), CliError> {
        let plain = question.keys(Paint { color: false });
        let keys = in_rows(&question.keys(self.terminal.paint_err()), &plain, self.terminal.width());
        self.terminal.err(&format!("  {keys} ")).map_err(CliError::Output)?;
        self.keys = Some(keys);
        Ok(())
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

/// Keys in rows for which the window is wide enough: a row that the terminal folds cannot be wiped.
fn in_rows(keys: &str, plain: &str, width: usize) -> String {
    let (mut rows, mut taken) = (String::new(), 0);
    for (key, columns) in keys.split("  ").zip(plain.split("  ").map(width_of)) {
        // The indent and the gap, and a column for the cursor.
        let fits = 2 + taken + 2 + columns < width;
        match taken {
            0 => {}
            _ if fits => rows.push_str("  "),
            _ => rows.push_str("\n  "),
        }
        taken = if taken > 0 && fits { taken + 2 + columns } else { columns };
        rows.push_str(key);
    }
    rows
}

/// What to do about a turn that did not end well.
fn hint(outcome: Outcome, fault: &ErrorBody) -> &'static str {
    match outcome {
        Outcome::ModelFailed if fault.recoverable => {
            "try again, or choose another model with `-m PROVIDER:MODEL`"
        }
        Outcome::ModelFailed => {
            "`loggia doctor` tells which models there are and what they lack; choose one with `-m PROVIDER:MODEL`"
        }
        Outcome::LimitReached => "go on in the same session, or allow more",
        Outcome::Interrupted => "go on in the same session; nothing that was told is lost",
        _ => "see the server's log",
    }
}

fn took(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
