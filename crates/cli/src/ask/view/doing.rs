//! What the agent does, as people see it: what moves while it runs, and one line when it is done.

use loggia_protocol_agent_server::{
    ClientEcho, NoticeKind, PatchProposed, Phase, Plan, SessionNotice, Thinking, ToolExecute, ToolOutput,
    ToolStatus,
};
use serde_json::Value;

use super::{Call, View};
use crate::paint::{ASIDE, BAD, GOOD, SUBJECT, WARNING, cut, first_line, printable};
use crate::{CliError, describe, diff};

/// How many running commands' output is kept: more than a turn runs at once.
const MAX_OUTPUTS: usize = 64;

/// How much of a thought's line is kept for the moving line: more than that holds.
const MAX_THOUGHT_BYTES: usize = 512;

impl View<'_> {
    pub(super) fn thinking(&mut self, thinking: &Thinking) -> Result<(), CliError> {
        if thinking.phase != Phase::Analyzing {
            self.thought.clear();
            return Ok(());
        }
        if thinking.attempt.is_some() {
            return self.asked_again(&thinking.message);
        }
        for line in thinking.message.split_inclusive('\n') {
            // The last line is seen until the next one has something to see.
            if self.thought.ends_with('\n') {
                if line.trim().is_empty() {
                    continue;
                }
                self.thought.clear();
            }
            let room = MAX_THOUGHT_BYTES.saturating_sub(self.thought.len());
            self.thought.push_str(&line[..line.floor_char_boundary(room)]);
            if line.ends_with('\n') && !self.thought.ends_with('\n') {
                self.thought.push('\n');
            }
        }
        let line = self.thought.trim();
        let words = if line.is_empty() { "Thinking".to_owned() } else { format!("Thinking: {line}") };
        self.live.set(&words);
        Ok(())
    }

    /// The model is asked once more. What it had said until then is not the reply: another one begins.
    fn asked_again(&mut self, words: &str) -> Result<(), CliError> {
        self.thought.clear();
        self.live.set(words);
        if self.reply.is_empty() {
            return Ok(());
        }
        self.close_text()?;
        self.aside("The reply was cut off; trying again.")
    }

    pub(super) fn plan(&mut self, plan: &Plan) -> Result<(), CliError> {
        if self.plan == plan.steps {
            return Ok(());
        }
        self.plan.clone_from(&plan.steps);
        let paint = self.terminal.paint_err();
        let mut text = format!("{} {}\n", paint.text(SUBJECT, "Plan"), paint.foreign(ASIDE, &plan.rationale));
        for step in &plan.steps {
            text.push_str(&format!("  {}. {}\n", step.step_number, printable(&step.description)));
        }
        self.around(&self.terminal.folded(&text))
    }

    pub(super) fn tool(&mut self, execute: &ToolExecute) -> Result<(), CliError> {
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
            let error = format!("  {}\n", paint.text(ASIDE, first_line(error)));
            text.push_str(&self.terminal.folded(&error));
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

    pub(super) fn output(&mut self, output: &ToolOutput) -> Result<(), CliError> {
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

    pub(super) fn patch(&mut self, patch: &PatchProposed) -> Result<(), CliError> {
        let text = diff::patch(patch, self.terminal.paint_err(), diff::SHOWN_LINES);
        self.around(&text)
    }

    pub(super) fn echo(&mut self, echo: &ClientEcho) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let text =
            format!("{} {}\n", paint.foreign(SUBJECT, &format!("{}:", echo.from)), first_line(&echo.message));
        self.around(&self.terminal.folded(&text))
    }

    /// What happened beside the turn, if it concerns whoever waits for it. Who comes and goes does not.
    pub(super) fn notice(&mut self, notice: &SessionNotice) -> Result<(), CliError> {
        if let Some(name) = &notice.model {
            let (provider, model) = name.split_once(':').unwrap_or(("", name));
            self.model = Some(describe::model(provider, model));
            self.is_guest = provider == super::GUESTS;
        }
        match notice.kind {
            NoticeKind::ModelSwitched => {
                let mark = self.terminal.paint_err().text(WARNING, "!");
                self.around(&self.terminal.folded(&format!("{mark} {}\n", printable(&notice.message))))
            }
            NoticeKind::ModelChanged | NoticeKind::Undone | NoticeKind::Redone => self.aside(&notice.message),
            // The rest of what went wrong is told with the error.
            NoticeKind::Task => self.aside(&first_line(&notice.message)),
            _ => Ok(()),
        }
    }
}
