//! What a session's events are on a console: text, and for whom it is.
//!
//! Pure: what was told goes in, what is to be said comes out. What is kept is what later events refer to only by id, of
//! the turn under way and no longer.

mod text;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalId, CallId, CommandSummary, Event, EventBody, FileChange, JsonText, ObservedChange,
    Passing, Patch, PatchFailure, PatchId, Plan, Question, Risk, SessionId, Thinking, Timestamp, ToolOutcome,
    TurnEnd, Usage,
};
use loggia_engine::{Mask, State, Told};

pub(crate) use text::{end_text, name, of_question};
use text::{exit_text, files_text, time_text};

use crate::ids::short;
use crate::lines::Lines;
use crate::log::Level;
use crate::paint::{Painted, Style, brief};
use crate::question::{self, Extent};

/// How much of a text is shown in a line about it.
const BRIEF: usize = 120;

/// What is said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A line of the log, to everybody who wants that much.
    Line(Timestamp, Level, Painted),
    /// A question, to everybody.
    Question(Timestamp, Painted),
    /// Lines of a reply, to those who use the session.
    Reply(Painted),
    /// Lines of a command's output, to the same.
    Output(Painted),
}

/// One session's story.
#[derive(Debug)]
pub(crate) struct Teller {
    name: String,
    mask: Mask,
    patches: BTreeMap<PatchId, Arc<Patch>>,
    calls: HashMap<CallId, Call>,
    outputs: HashMap<CallId, Lines>,
    reply: Lines,
    began: Option<Timestamp>,
}

/// A call that is under way.
#[derive(Debug)]
struct Call {
    tool: String,
    /// As it is told.
    text: String,
}

impl Teller {
    pub(crate) fn new(session: SessionId, mask: Mask) -> Self {
        Self {
            name: short(&session),
            mask,
            patches: BTreeMap::new(),
            calls: HashMap::new(),
            outputs: HashMap::new(),
            reply: Lines::default(),
            began: None,
        }
    }

    /// Goes on from a state.
    pub(crate) fn take_up(&mut self, state: &State) {
        self.patches.extend(state.proposed.iter().map(|(id, patch)| (*id, Arc::clone(patch))));
        for open in state.turn.iter().flat_map(|turn| &turn.calls) {
            self.calls.insert(open.call.id, self.call(&open.call.tool, &open.call.arguments));
        }
    }

    /// What is to be said about what was told.
    pub(crate) fn tell(&mut self, told: &Told) -> Vec<Said> {
        match told {
            Told::Event(event) => self.event(event),
            Told::Reply(piece) => {
                self.reply.push(&piece.text).map(|text| self.reply_lines(&text)).into_iter().collect()
            }
            Told::Passing(passing) => self.passing(passing).into_iter().collect(),
        }
    }

    /// A question that waits.
    pub(crate) fn question(&self, at: Timestamp, approval: ApprovalId, asked: &Question, risk: Risk) -> Said {
        let patches = of_question(asked, |id| self.patches.get(id).cloned());
        let mut text = self
            .line("asks ")
            .plain(format!("{} ", question::about(approval, asked)))
            .with(Style::Aside, format!("({}, question ", question::risk_word(risk)))
            .with(Style::Name, short(&approval))
            .with(Style::Aside, ")")
            .line();
        text.append(question::told(approval, asked, &patches, Extent::Beginning));
        Said::Question(at, text)
    }

    /// Nothing more will be told.
    pub(crate) fn deleted(&self) -> Said {
        Said::Line(Timestamp::now(), Level::INFO, self.line("was deleted"))
    }

    /// A call is carried out as it stands, so its arguments are kept with whatever is in them; here they are only read.
    fn call(&self, tool: &str, arguments: &JsonText) -> Call {
        let arguments = self.mask.text(&arguments.0);
        Call { tool: tool.to_owned(), text: format!("{} {}", brief(tool, BRIEF), brief(&arguments, BRIEF)) }
    }

    /// A call as it is told.
    fn call_text(&self, call: CallId) -> &str {
        self.calls.get(&call).map_or("a tool", |call| call.text.as_str())
    }

    /// A line about the session.
    fn line(&self, text: impl AsRef<str>) -> Painted {
        Painted::of(Style::Name, &self.name).plain(" ").plain(text)
    }

    fn event(&mut self, event: &Event) -> Vec<Said> {
        let mut said = Vec::new();
        if let EventBody::MessageEnded { .. } = &event.body {
            said.extend(self.reply.rest().map(|text| self.reply_lines(&text)));
        }
        match &event.body {
            EventBody::PatchProposed { patch } => {
                self.patches.insert(patch.id, Arc::new(patch.clone()));
            }
            EventBody::ToolRequested { call } => {
                self.calls.insert(call.id, self.call(&call.tool, &call.arguments));
            }
            EventBody::ApprovalAsked { approval, question, risk, .. } => {
                said.push(self.question(event.at, *approval, question, *risk));
            }
            EventBody::ToolEnded { call, .. } => {
                let rest = self.outputs.remove(call).and_then(|mut lines| lines.rest());
                said.extend(rest.map(|text| self.output_lines(&text)));
            }
            _ => {}
        }
        let line = self.line_about(event);
        said.extend(line.map(|(level, text)| Said::Line(event.at, level, text)));
        match &event.body {
            EventBody::PatchApplied { patch, .. } | EventBody::PatchDropped { patch, .. } => {
                self.patches.remove(patch);
            }
            EventBody::ToolEnded { call, .. } => drop(self.calls.remove(call)),
            EventBody::TurnEnded { .. } => {
                self.patches.clear();
                self.calls.clear();
                self.outputs.clear();
            }
            _ => {}
        }
        said
    }

    /// The line about an event, if it has one.
    fn line_about(&mut self, event: &Event) -> Option<(Level, Painted)> {
        let info = |text: Painted| Some((Level::INFO, text));
        match &event.body {
            EventBody::SessionOpened { by, .. } => info(self.line(format!("was opened by {}", name(by)))),
            EventBody::SessionClosed { by } => info(self.line(format!("was closed by {}", name(by)))),
            EventBody::SessionRenamed { title, by } => {
                info(self.line(format!("is called \"{}\" by {}", brief(title, BRIEF), name(by))))
            }
            EventBody::ModelChanged { model, by, .. } => {
                info(self.line(format!("uses the model {}, says {}", brief(&model.0, BRIEF), name(by))))
            }
            EventBody::ThinkingChanged { thinking, by } => {
                let how = match thinking {
                    None => "thinks as its model does".to_owned(),
                    Some(Thinking::Off) => "does not think first".to_owned(),
                    Some(Thinking::Extended) => "thinks for long".to_owned(),
                    Some(Thinking::Tokens(most)) => format!("thinks for {most} tokens at most"),
                };
                info(self.line(format!("{how}, says {}", name(by))))
            }
            EventBody::InstructionsChanged { by, .. } => {
                info(self.line(format!("has instructions of its own, says {}", name(by))))
            }
            EventBody::ModelSwitched { from, to, reason } => {
                let (from, to, reason) = (brief(&from.0, BRIEF), brief(&to.0, BRIEF), brief(reason, BRIEF));
                Some((Level::WARN, self.line(format!("{to} replies in the place of {from}: {reason}"))))
            }
            EventBody::InstructionQueued { instruction, by } => info(self.line(format!(
                "will be asked by {}: {}",
                name(by),
                brief(&instruction.told(), BRIEF)
            ))),
            EventBody::TurnStarted { instruction, by, .. } => {
                self.began = Some(event.at);
                info(self.line(format!("is asked by {}: {}", name(by), brief(&instruction.told(), BRIEF))))
            }
            EventBody::TurnContinued { by } => {
                self.began = Some(event.at);
                info(self.line(format!("goes on, says {}", name(by))))
            }
            EventBody::Retrieved { stage, results } => {
                Some((Level::DEBUG, self.line(format!("looked for code ({stage:?}): {results} found"))))
            }
            EventBody::PlanChanged { plan } => info(self.plan(plan)),
            // It says that it runs, or asks about it, so this is for those who want to know everything.
            EventBody::ToolRequested { call } => {
                let text = self.call_text(call.id);
                Some((Level::DEBUG, self.line(format!("wants to use {text}"))))
            }
            EventBody::ApprovalDecided { approval, answer, by } => {
                let mut text = self.line("question ").with(Style::Name, short(approval)).plain(" was ");
                let (style, decided) = question::decided(answer, by);
                text.put(style, decided);
                if let Some(comment) = &answer.comment {
                    text.put(Style::Aside, format!(": {}", brief(comment, BRIEF)));
                }
                info(text)
            }
            EventBody::CallChanged { call, arguments, by } => {
                if let Some(known) = self.calls.remove(call) {
                    self.calls.insert(*call, self.call(&known.tool, arguments));
                }
                info(self.line(format!("is to run {} instead, says {}", self.call_text(*call), name(by))))
            }
            EventBody::ToolStarted { call, .. } => {
                let text = self.call_text(*call);
                info(self.line(format!("runs {text}")))
            }
            EventBody::ToolEnded { call, outcome, files, command, milliseconds } => {
                Some(self.ended(*call, outcome, files, command.as_ref(), *milliseconds))
            }
            EventBody::FilesChanged { changes, .. } => {
                let changed = changes.iter().map(|ObservedChange { change, .. }| change);
                info(self.line(format!("the command changed {}", files_text(changed))))
            }
            EventBody::PatchApplied { change: Some(change), .. } => {
                info(self.line(format!("wrote {}", files_text([change]))))
            }
            EventBody::PatchDropped { patch, failure } => self.dropped(*patch, failure),
            EventBody::BatchStarted { .. } => info(self.line("collects its changes")),
            EventBody::ChangeCollected { patch, .. } => {
                let path = self.patches.get(patch).map_or("a file", |patch| patch.path.as_str());
                info(self.line(format!("would change {}", brief(path, BRIEF))))
            }
            EventBody::BatchEnded { .. } => info(self.line("has collected its changes")),
            EventBody::Undone { files, by, .. } => {
                info(self.line(format!("{} took back {}", name(by), files_text(files))))
            }
            EventBody::Redone { files, by, .. } => {
                info(self.line(format!("{} made {} again", name(by), files_text(files))))
            }
            EventBody::HistoryCompacted { .. } => {
                Some((Level::DEBUG, self.line("its history was summed up")))
            }
            EventBody::TurnEnded { end, usage, by } => {
                Some(self.turn_ended(event.at, end, usage, by.as_ref()))
            }
            EventBody::Task(event) => info(self.line(brief(&loggia_engine::task_line(event), BRIEF))),
            EventBody::ContextUpdated { .. }
            | EventBody::MessageEnded { .. }
            | EventBody::PatchProposed { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::PatchApplied { change: None, .. }
            | EventBody::CheckpointTaken { .. } => None,
        }
    }

    fn plan(&self, plan: &Plan) -> Painted {
        let mut text = self.line("plans");
        for (place, step) in plan.steps.iter().enumerate() {
            let mark = match place.cmp(&plan.current) {
                std::cmp::Ordering::Less => "✓",
                std::cmp::Ordering::Equal => "›",
                std::cmp::Ordering::Greater => "·",
            };
            text.put(Style::Aside, format!("\n    {mark} "));
            text.put(Style::Plain, brief(&step.description, BRIEF));
        }
        text
    }

    fn ended(
        &self,
        call: CallId,
        outcome: &ToolOutcome,
        files: &[FileChange],
        command: Option<&CommandSummary>,
        milliseconds: u64,
    ) -> (Level, Painted) {
        let what = self.call_text(call);
        let time = time_text(milliseconds);
        match outcome {
            ToolOutcome::Succeeded { .. } => {
                let exit =
                    command.map(|command| format!(" with {}", exit_text(command.exit))).unwrap_or_default();
                let changed =
                    if files.is_empty() { String::new() } else { format!(", changed {}", files_text(files)) };
                let text = self
                    .line(format!("{what} ended{exit}{changed}"))
                    .with(Style::Aside, format!(" ({time})"));
                (Level::INFO, text)
            }
            ToolOutcome::Failed { message } => {
                (Level::WARN, self.line(format!("{what} failed: {}", brief(message, BRIEF))))
            }
            ToolOutcome::Denied { reason } => {
                (Level::INFO, self.line(format!("{what} was denied: {}", brief(reason, BRIEF))))
            }
            ToolOutcome::Cancelled => (Level::INFO, self.line(format!("{what} was cancelled"))),
        }
    }

    fn dropped(&self, patch: PatchId, failure: &PatchFailure) -> Option<(Level, Painted)> {
        let path = self.patches.get(&patch).map_or("a file", |patch| patch.path.as_str());
        let (level, why) = match failure {
            PatchFailure::Superseded => return None,
            PatchFailure::Refused => (Level::INFO, "it was refused".to_owned()),
            PatchFailure::Withdrawn => (Level::INFO, "the turn ended first".to_owned()),
            PatchFailure::Conflict { .. } => (Level::WARN, "it has been changed since".to_owned()),
            PatchFailure::Unwritable { message } => (Level::WARN, brief(message, BRIEF)),
        };
        Some((level, self.line(format!("left {} as it is: {why}", brief(path, BRIEF)))))
    }

    fn turn_ended(
        &mut self,
        at: Timestamp,
        end: &TurnEnd,
        usage: &Usage,
        by: Option<&Actor>,
    ) -> (Level, Painted) {
        let level = if matches!(end, TurnEnd::Failed(_)) { Level::ERROR } else { Level::INFO };
        let mut text = self.line(end_text(end));
        if let Some(by) = by {
            text.put(Style::Plain, format!(" by {}", name(by)));
        }
        let time = self.began.take().map(|began| u64::try_from(at.0.saturating_sub(began.0)).unwrap_or(0));
        let time = time.map(|time| format!("{}, ", time_text(time))).unwrap_or_default();
        text.put(Style::Aside, format!(" ({time}{} + {} tokens)", usage.input, usage.output));
        (level, text)
    }

    fn passing(&mut self, passing: &Passing) -> Option<Said> {
        match passing {
            Passing::ToolOutput { call, chunk, .. } => {
                let text = self.outputs.entry(*call).or_default().push(chunk)?;
                Some(self.output_lines(&text))
            }
            Passing::Retrying { message, attempt, wait } => {
                let why = brief(message, BRIEF);
                let text =
                    format!("the model is asked again in {} (attempt {attempt}): {why}", time_text(*wait));
                Some(Said::Line(Timestamp::now(), Level::WARN, self.line(text)))
            }
            Passing::ClientJoined { client } => {
                let text = self.line(format!("{} has come", brief(&client.name, BRIEF)));
                Some(Said::Line(Timestamp::now(), Level::DEBUG, text))
            }
            Passing::ClientLeft { client } => {
                let text = self.line(format!("{} has gone", brief(&client.name, BRIEF)));
                Some(Said::Line(Timestamp::now(), Level::DEBUG, text))
            }
            Passing::MessageStarted { .. } => None,
        }
    }

    fn reply_lines(&self, text: &str) -> Said {
        Said::Reply(self.margin("│", Style::Plain, text))
    }

    fn output_lines(&self, text: &str) -> Said {
        Said::Output(self.margin("┆", Style::Aside, text))
    }

    fn margin(&self, mark: &str, style: Style, text: &str) -> Painted {
        let mut lines = Painted::new();
        for line in text.lines() {
            lines.append(
                Painted::of(Style::Name, &self.name)
                    .with(Style::Aside, format!(" {mark} "))
                    .with(style, line)
                    .line(),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests;
