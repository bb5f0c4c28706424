//! What was told, as text that is the same in every run.
//!
//! Ids become `patch#1`, `ask#1` and so on, in the order they first appear; times and hashes are left out.

use std::collections::HashMap;
use std::fmt::Write;

use loggia_domain::{
    Actor, ApprovalScope, Event, EventBody, Executor, FileChange, FileChangeKind, Passing, PatchFailure,
    Question, ToolOutcome, TurnEnd, TurnFailure,
};
use loggia_engine::Told;

/// Writes down what is told.
#[derive(Debug, Default)]
pub struct Transcript {
    lines: Vec<String>,
    names: HashMap<String, String>,
    counts: HashMap<&'static str, usize>,
}

impl Transcript {
    /// Takes one thing in.
    pub fn take(&mut self, told: &Told) {
        match told {
            // How a reply came in pieces depends on who was how fast; its end has the whole.
            Told::Reply(_) => {}
            Told::Event(event) => {
                let line = self.event(event);
                self.lines.push(line);
            }
            Told::Passing(passing) => {
                if let Some(line) = self.passing(passing) {
                    self.lines.push(line);
                }
            }
        }
    }

    /// Everything so far, one thing a line.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// A name for an id that is the same in every run.
    fn name(&mut self, kind: &'static str, id: impl ToString) -> String {
        if let Some(name) = self.names.get(&id.to_string()) {
            return name.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let name = format!("{kind}#{count}");
        self.names.insert(id.to_string(), name.clone());
        name
    }

    fn passing(&mut self, passing: &Passing) -> Option<String> {
        match passing {
            Passing::ClientJoined { client } => Some(format!("  {} joined", client.name)),
            Passing::ClientLeft { client } => Some(format!("  {} left", client.name)),
            Passing::Retrying { message, attempt, wait } => {
                Some(format!("  retrying after `{message}`: attempt {attempt} in {wait} ms"))
            }
            // Whole in the events that end them.
            Passing::MessageStarted { .. } | Passing::ToolOutput { .. } => None,
        }
    }

    fn event(&mut self, event: &Event) -> String {
        match &event.body {
            EventBody::SessionOpened { by, .. } => format!("session opened by {}", who(by)),
            EventBody::SessionRenamed { title, by } => format!("renamed to `{title}` by {}", who(by)),
            EventBody::ModelChanged { model, by, .. } => format!("model {} by {}", model.0, who(by)),
            EventBody::ModelSwitched { from, to, reason } => {
                format!("{} replies instead of {}: {reason}", to.0, from.0)
            }
            EventBody::InstructionsChanged { by, .. } => format!("instructions by {}", who(by)),
            EventBody::ThinkingChanged { thinking, by } => format!("thinking {thinking:?} by {}", who(by)),
            EventBody::SessionClosed { by } => format!("closed by {}", who(by)),
            EventBody::InstructionQueued { instruction, by } => {
                format!("queued by {}: {}", who(by), instruction.text)
            }
            EventBody::TurnStarted { instruction, by, .. } => {
                format!("turn started by {}: {}", who(by), instruction.text)
            }
            EventBody::TurnContinued { by } => format!("turn continued by {}", who(by)),
            EventBody::ContextUpdated { context, by } => format!("context from {}: {}", who(by), context.0),
            EventBody::Retrieved { stage, results } => format!("retrieved {results} by {stage:?}"),
            EventBody::PlanChanged { plan } => {
                format!("plan: step {} of {}", plan.current + 1, plan.steps.len())
            }
            EventBody::MessageEnded { message, cut, .. } => {
                let cut = if *cut { " (cut)" } else { "" };
                format!("message{cut}: {}", message.text)
            }
            EventBody::ToolRequested { call } => {
                let name = self.name("call", call.id);
                format!("{name} wants {} {}", call.tool, call.arguments.0)
            }
            EventBody::PatchProposed { patch } => {
                let name = self.name("patch", patch.id);
                format!("{name} proposed, because: {}\n{}", patch.rationale, indent(&patch.diff))
            }
            EventBody::ApprovalAsked { approval, question, risk, .. } => {
                let name = self.name("ask", approval);
                format!("{name} ({risk:?} risk): {}", self.question(question))
            }
            EventBody::ApprovalDecided { approval, answer, by } => {
                let name = self.name("ask", approval);
                let comment = answer.comment.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
                format!("{name} decided by {}: {}{comment}", who(by), self.scope(&answer.scope))
            }
            EventBody::CallChanged { call, arguments, by } => {
                format!("{} changed by {}: {}", self.name("call", call), who(by), arguments.0)
            }
            EventBody::ToolStarted { call, executor } => {
                format!("{} started by {}", self.name("call", call), executor_name(executor))
            }
            EventBody::ToolEnded { call, outcome, files, command, .. } => {
                let mut line = format!("{} {}", self.name("call", call), outcome_text(outcome));
                if let Some(command) = command {
                    let _ = write!(line, " [{:?}]", command.exit);
                }
                if !files.is_empty() {
                    let _ = write!(line, " [{}]", changes(files));
                }
                line
            }
            EventBody::FilesChanged { call, changes, beyond_undo, shared } => {
                let mut line =
                    format!("{} changed files, {beyond_undo} beyond undo", self.name("call", call));
                if *shared {
                    line.push_str(", beside other commands");
                }
                for observed in changes {
                    let _ = write!(
                        line,
                        "\n{}",
                        indent(&format!("{}\n{}", change(&observed.change), observed.diff))
                    );
                }
                line
            }
            EventBody::PatchApplied { patch, hunks, executor, .. } => {
                let hunks = hunks.as_ref().map(|hunks| format!(" hunks {hunks:?}")).unwrap_or_default();
                format!("{} applied{hunks} by {}", self.name("patch", patch), executor_name(executor))
            }
            EventBody::PatchDropped { patch, failure } => {
                let why = match failure {
                    PatchFailure::Refused => "refused".to_owned(),
                    PatchFailure::Conflict { .. } => "conflict".to_owned(),
                    PatchFailure::Superseded => "superseded".to_owned(),
                    PatchFailure::Withdrawn => "withdrawn".to_owned(),
                    PatchFailure::Unwritable { message } => format!("unwritable: {message}"),
                };
                format!("{} dropped: {why}", self.name("patch", patch))
            }
            EventBody::BatchStarted { .. } => "batch started".to_owned(),
            EventBody::ChangeCollected { patch, .. } => format!("{} collected", self.name("patch", patch)),
            EventBody::BatchEnded { .. } => "batch ended".to_owned(),
            EventBody::CheckpointTaken { checkpoint } => {
                format!("{} taken", self.name("checkpoint", checkpoint))
            }
            EventBody::Undone { checkpoint, files, by } => {
                format!("{} undone by {} [{}]", self.name("checkpoint", checkpoint), who(by), changes(files))
            }
            EventBody::Redone { checkpoint, files, by } => {
                format!("{} redone by {} [{}]", self.name("checkpoint", checkpoint), who(by), changes(files))
            }
            EventBody::HistoryCompacted { summary, .. } => format!("history compacted: {summary}"),
            EventBody::TurnEnded { end, by, .. } => {
                let by = by.as_ref().map(|by| format!(" by {}", who(by))).unwrap_or_default();
                format!("turn ended: {}{by}", end_text(end))
            }
            EventBody::Task(event) => format!("task {}", loggia_engine::task_line(event)),
        }
    }

    fn question(&mut self, question: &Question) -> String {
        match question {
            Question::Patches { tool, patches } => {
                let names: Vec<String> = patches.iter().map(|patch| self.name("patch", patch)).collect();
                format!("may `{tool}` make {}?", names.join(", "))
            }
            Question::Command { command, directory, .. } => {
                let place = if directory.is_empty() { String::new() } else { format!(" in {directory}") };
                format!("may `{command}` run{place}?")
            }
            Question::Tool { tool, .. } => format!("may `{tool}` be called?"),
        }
    }

    fn scope(&mut self, scope: &ApprovalScope) -> String {
        match scope {
            ApprovalScope::None => "no".to_owned(),
            ApprovalScope::All => "yes".to_owned(),
            ApprovalScope::Patches(patches) => {
                let names: Vec<String> = patches.iter().map(|patch| self.name("patch", patch)).collect();
                format!("only {}", names.join(", "))
            }
            ApprovalScope::Hunks(hunks) => {
                let names: Vec<String> = hunks
                    .iter()
                    .map(|(patch, hunks)| format!("{} {hunks:?}", self.name("patch", patch)))
                    .collect();
                format!("only hunks of {}", names.join(", "))
            }
        }
    }
}

fn who(actor: &Actor) -> String {
    match actor {
        Actor::Client { name, .. } => name.clone(),
        Actor::Policy => "the policy".to_owned(),
        Actor::Engine => "the engine".to_owned(),
    }
}

fn executor_name(executor: &Executor) -> &'static str {
    match executor {
        Executor::Server => "the server",
        Executor::Client(_) => "a client",
    }
}

fn outcome_text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Succeeded { output } => format!("succeeded: {output}"),
        ToolOutcome::Failed { message } => format!("failed: {message}"),
        ToolOutcome::Denied { reason } => format!("denied: {reason}"),
        ToolOutcome::Cancelled => "cancelled".to_owned(),
    }
}

fn end_text(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "done".to_owned(),
        TurnEnd::Cancelled => "cancelled".to_owned(),
        TurnEnd::Interrupted => "interrupted".to_owned(),
        TurnEnd::StepLimit => "step limit".to_owned(),
        TurnEnd::BudgetLimit => "budget limit".to_owned(),
        TurnEnd::Failed(TurnFailure::Model { message, retry_helps, .. }) => {
            format!(
                "the model failed: {message} (trying again {} help)",
                if *retry_helps { "can" } else { "does not" }
            )
        }
        TurnEnd::Failed(failure) => format!("failed: {failure:?}"),
    }
}

fn change(change: &FileChange) -> String {
    let kind = match change.kind() {
        FileChangeKind::Created => "created",
        FileChangeKind::Modified => "modified",
        FileChangeKind::Deleted => "deleted",
    };
    format!("{kind} {}", change.path)
}

fn changes(files: &[FileChange]) -> String {
    files.iter().map(change).collect::<Vec<_>>().join(", ")
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
