//! What events name, in words.

use std::sync::Arc;

use loggia_domain::{
    Actor, CommandExit, FileChange, FileChangeKind, Patch, PatchId, Question, TurnEnd, TurnFailure,
};

use super::BRIEF;
use crate::paint::brief;

/// How many files are named in a line.
const NAMED: usize = 5;

/// The changes a question is about, as far as they are known.
pub(crate) fn of_question(
    question: &Question,
    known: impl Fn(&PatchId) -> Option<Arc<Patch>>,
) -> Vec<Arc<Patch>> {
    match question {
        Question::Patches { patches, .. } => patches.iter().filter_map(known).collect(),
        Question::Command { .. } | Question::Tool { .. } => Vec::new(),
    }
}

/// Whom an event names.
pub(crate) fn name(actor: &Actor) -> String {
    match actor {
        Actor::Client { name, .. } => brief(name, BRIEF),
        Actor::Policy => "the policy".to_owned(),
        Actor::Engine => "the engine".to_owned(),
    }
}

/// How a turn ended.
pub(crate) fn end_text(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "is done".to_owned(),
        TurnEnd::Cancelled => "was cancelled".to_owned(),
        TurnEnd::Interrupted => "was interrupted; `continue` goes on".to_owned(),
        TurnEnd::StepLimit => "took as many steps as it may; `continue` goes on".to_owned(),
        TurnEnd::BudgetLimit => "used up its budget".to_owned(),
        TurnEnd::Failed(
            TurnFailure::Model { message, .. }
            | TurnFailure::Retrieval { message }
            | TurnFailure::Policy { message }
            | TurnFailure::Internal { message },
        ) => format!("failed: {}", brief(message, BRIEF * 4)),
    }
}

pub(super) fn files_text<'a>(changes: impl IntoIterator<Item = &'a FileChange>) -> String {
    let changes: Vec<_> = changes.into_iter().collect();
    let word = |change: &&FileChange| {
        let mark = match change.kind() {
            FileChangeKind::Created => " (new)",
            FileChangeKind::Modified => "",
            FileChangeKind::Deleted => " (deleted)",
        };
        format!("{}{mark}", brief(&change.path, BRIEF))
    };
    let mut text = changes.iter().take(NAMED).map(word).collect::<Vec<_>>().join(", ");
    match changes.len() {
        0 => text.push_str("no files"),
        count if count > NAMED => text.push_str(&format!(" and {} more", count - NAMED)),
        _ => {}
    }
    text
}

pub(super) fn exit_text(exit: CommandExit) -> String {
    match exit {
        CommandExit::Code(code) => format!("exit code {code}"),
        CommandExit::Signal(signal) => format!("signal {signal}"),
        CommandExit::TimedOut => "a time-out".to_owned(),
    }
}

pub(super) fn time_text(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        _ => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
    }
}
