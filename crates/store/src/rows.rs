//! Events as rows: a word that says what happened, and the rest as compact JSON.
//!
//! Knows the stored form of every [`EventBody`] and converts both ways by hand, so a renamed domain type cannot
//! change what old journals mean. Refuses to know tables, numbers and times: they are columns, not data.
//!
//! What always holds:
//! - what was encoded is decoded to the same value, to the byte;
//! - words and field names are never changed or reused; the samples in the tests notice if they are;
//! - unknown fields are ignored, because a newer version may have added them; that version gives its new field a
//!   default for the rows of older ones;
//! - absent means none: an optional field is left out, never null;
//! - one of several alternatives is an object with the alternative's word as its only key, even when it has
//!   nothing to say yet (`{"cancelled":{}}`), so that it can get fields later;
//! - JSON that belongs to somebody else is a string in the row, so its text stays exactly as it came.

mod aim;
mod approval;
#[cfg(test)]
pub(crate) mod arbitrary;
mod file;
#[cfg(test)]
mod golden;
mod history;
pub(crate) mod parts;
mod patch;
mod place;
mod session;
mod task;
#[cfg(test)]
mod tests;
mod tool;
mod turn;

pub(crate) use parts::Word;

use loggia_domain::{EventBody, OwnInstructions, Usage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::rows::parts::{Text, list};

/// How much of a fault's description is kept: it may quote the whole of a damaged field.
const MAX_REASON_CHARS: usize = 300;

/// One event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventRow {
    /// The word for what happened.
    pub(crate) kind: &'static str,
    /// The rest, as JSON.
    pub(crate) data: String,
}

/// Why a row cannot be read or made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RowError {
    /// No event has this word; a newer version may have written it.
    #[error("`{0}` is no kind of event we know")]
    UnknownKind(String),
    /// The data is not what such a row holds.
    #[error("a damaged `{kind}` row: {reason}")]
    Damaged {
        /// The row's word.
        kind: &'static str,
        /// Where, and what is wrong there.
        reason: String,
    },
    /// The event cannot be put into a row.
    #[error("cannot write a `{kind}` row: {reason}")]
    Unwritable {
        /// The row's word.
        kind: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// The data of one kind of row.
trait Row: Serialize + DeserializeOwned + Into<EventBody> {
    /// The word for it.
    const KIND: &'static str;
}

/// The one list of kinds: each row's data and its word.
macro_rules! kinds {
    ($($row:ty = $kind:literal;)*) => {
        $(impl Row for $row {
            const KIND: &'static str = $kind;
        })*

        /// Every word a row can have.
        #[cfg(test)]
        const KINDS: &[&str] = &[$($kind),*];

        /// Reads an event back from its row.
        pub(crate) fn decode(kind: &str, data: &str) -> Result<EventBody, RowError> {
            match kind {
                $($kind => read::<$row>(data),)*
                _ => Err(RowError::UnknownKind(shortened(kind.to_owned()))),
            }
        }
    };
}

kinds! {
    session::SessionOpened<'_> = "session_opened";
    session::SessionRenamed<'_> = "session_renamed";
    session::ModelChanged<'_> = "model_changed";
    session::ModelSwitched<'_> = "model_switched";
    session::InstructionsChanged<'_> = "instructions_changed";
    session::ThinkingChanged<'_> = "thinking_changed";
    session::SessionClosed<'_> = "session_closed";
    turn::InstructionQueued<'_> = "instruction_queued";
    turn::TurnStarted<'_> = "turn_started";
    turn::ContextUpdated<'_> = "context_updated";
    turn::TurnContinued<'_> = "turn_continued";
    turn::Retrieved = "retrieved";
    turn::PlanChanged<'_> = "plan_changed";
    turn::MessageEnded<'_> = "message_ended";
    tool::ToolRequested<'_> = "tool_requested";
    patch::PatchProposed<'_> = "patch_proposed";
    approval::ApprovalAsked<'_> = "approval_asked";
    approval::ApprovalDecided<'_> = "approval_decided";
    tool::CallChanged<'_> = "call_changed";
    tool::ToolStarted = "tool_started";
    tool::ToolEnded<'_> = "tool_ended";
    file::FilesChanged<'_> = "files_changed";
    patch::PatchApplied<'_> = "patch_applied";
    patch::PatchDropped<'_> = "patch_dropped";
    patch::BatchStarted = "batch_started";
    patch::ChangeCollected = "change_collected";
    patch::BatchEnded = "batch_ended";
    history::CheckpointTaken = "checkpoint_taken";
    history::Undone<'_> = "undone";
    history::Redone<'_> = "redone";
    history::HistoryCompacted<'_> = "history_compacted";
    turn::TurnEnded<'_> = "turn_ended";
    task::TaskRow<'_> = "task";
}

/// Makes an event's row.
///
/// Each arm names every field of its event, so that a new one cannot be forgotten here.
pub(crate) fn encode(body: &EventBody) -> Result<EventRow, RowError> {
    match body {
        EventBody::SessionOpened { workspace, title, model, preset, budget, forked_from, by } => {
            write(&session::SessionOpened {
                workspace: Text(*workspace),
                title: title.as_ref().map(Into::into),
                model: model.as_ref().map(|model| (&model.0).into()),
                preset: preset.map(Text),
                budget: budget.into(),
                forked_from: forked_from.as_ref().map(Into::into),
                by: by.into(),
            })
        }
        EventBody::SessionRenamed { title, by } => {
            write(&session::SessionRenamed { title: title.into(), by: by.into() })
        }
        EventBody::ModelChanged { model, reason, by } => write(&session::ModelChanged {
            model: (&model.0).into(),
            reason: reason.as_ref().map(Into::into),
            by: by.into(),
        }),
        EventBody::ModelSwitched { from, to, reason } => write(&session::ModelSwitched {
            from: (&from.0).into(),
            to: (&to.0).into(),
            reason: reason.into(),
        }),
        EventBody::InstructionsChanged { instructions: OwnInstructions { instead, added }, by } => {
            write(&session::InstructionsChanged {
                instead: instead.as_ref().map(Into::into),
                added: added.as_ref().map(Into::into),
                by: by.into(),
            })
        }
        EventBody::ThinkingChanged { thinking, by } => {
            write(&session::ThinkingChanged { thinking: thinking.map(Into::into), by: by.into() })
        }
        EventBody::SessionClosed { by } => write(&session::SessionClosed { by: by.into() }),
        EventBody::InstructionQueued { instruction, by } => {
            write(&turn::InstructionQueued { instruction: instruction.into(), by: by.into() })
        }
        EventBody::TurnStarted { instruction, by, queued } => write(&turn::TurnStarted {
            instruction: instruction.into(),
            by: by.into(),
            queued: queued.map(|seq| seq.0),
        }),
        EventBody::ContextUpdated { context, by } => {
            write(&turn::ContextUpdated { context: (&context.0).into(), by: by.into() })
        }
        EventBody::TurnContinued { by } => write(&turn::TurnContinued { by: by.into() }),
        EventBody::Retrieved { stage, results } => {
            write(&turn::Retrieved { stage: Text(*stage), results: *results })
        }
        EventBody::PlanChanged { plan } => write(&turn::PlanChanged { plan: plan.into() }),
        EventBody::MessageEnded { message, cut, usage } => {
            write(&turn::MessageEnded { message: message.into(), cut: *cut, usage: usage.into() })
        }
        EventBody::ToolRequested { call } => write(&tool::ToolRequested { call: call.into() }),
        EventBody::PatchProposed { patch } => write(&patch::PatchProposed { patch: patch.into() }),
        EventBody::ApprovalAsked { approval, call, question, risk, expires } => {
            write(&approval::ApprovalAsked {
                approval: Text(*approval),
                call: call.map(Text),
                question: question.into(),
                risk: Text(*risk),
                expires: expires.map(|at| at.0),
            })
        }
        EventBody::ApprovalDecided { approval, answer, by } => write(&approval::ApprovalDecided {
            approval: Text(*approval),
            answer: answer.into(),
            by: by.into(),
        }),
        EventBody::CallChanged { call, arguments, by } => {
            write(&tool::CallChanged { call: Text(*call), arguments: (&arguments.0).into(), by: by.into() })
        }
        EventBody::ToolStarted { call, executor } => {
            write(&tool::ToolStarted { call: Text(*call), executor: executor.into() })
        }
        EventBody::ToolEnded { call, outcome, files, command, milliseconds } => write(&tool::ToolEnded {
            call: Text(*call),
            outcome: outcome.into(),
            files: list(files),
            command: command.map(Into::into),
            milliseconds: *milliseconds,
        }),
        EventBody::FilesChanged { call, changes, beyond_undo, shared } => write(&file::FilesChanged {
            call: Text(*call),
            changes: list(changes),
            beyond_undo: *beyond_undo,
            shared: *shared,
        }),
        EventBody::PatchApplied { patch, hunks, executor, change } => write(&patch::PatchApplied {
            patch: Text(*patch),
            hunks: hunks.clone(),
            executor: executor.into(),
            change: change.as_ref().map(Into::into),
        }),
        EventBody::PatchDropped { patch, failure } => {
            write(&patch::PatchDropped { patch: Text(*patch), failure: failure.into() })
        }
        EventBody::BatchStarted { batch } => write(&patch::BatchStarted { batch: Text(*batch) }),
        EventBody::ChangeCollected { batch, patch } => {
            write(&patch::ChangeCollected { batch: Text(*batch), patch: Text(*patch) })
        }
        EventBody::BatchEnded { batch } => write(&patch::BatchEnded { batch: Text(*batch) }),
        EventBody::CheckpointTaken { checkpoint } => {
            write(&history::CheckpointTaken { checkpoint: Text(*checkpoint) })
        }
        EventBody::Undone { checkpoint, files, by } => {
            write(&history::Undone { checkpoint: Text(*checkpoint), files: list(files), by: by.into() })
        }
        EventBody::Redone { checkpoint, files, by } => {
            write(&history::Redone { checkpoint: Text(*checkpoint), files: list(files), by: by.into() })
        }
        EventBody::HistoryCompacted { through, summary, usage } => write(&history::HistoryCompacted {
            through: through.0,
            summary: summary.into(),
            usage: (*usage != Usage::NONE).then(|| usage.into()),
        }),
        EventBody::TurnEnded { end, usage, by } => {
            write(&turn::TurnEnded { end: end.into(), usage: usage.into(), by: by.as_ref().map(Into::into) })
        }
        EventBody::Task(event) => write(&task::TaskRow { task: event.into() }),
    }
}

fn write<R: Row>(row: &R) -> Result<EventRow, RowError> {
    let data = serde_json::to_string(row)
        .map_err(|error| RowError::Unwritable { kind: R::KIND, reason: shortened(error.to_string()) })?;
    Ok(EventRow { kind: R::KIND, data })
}

fn read<R: Row>(data: &str) -> Result<EventBody, RowError> {
    let row: R = serde_json::from_str(data).map_err(|error| damaged(R::KIND, data, &error))?;
    Ok(row.into())
}

fn damaged(kind: &'static str, data: &str, error: &serde_json::Error) -> RowError {
    let field = place::field_at(data, error.line(), error.column());
    let reason = if field.is_empty() { error.to_string() } else { format!("`{field}`: {error}") };
    RowError::Damaged { kind, reason: shortened(reason) }
}

/// The text, cut where a reader has seen enough of it.
pub(crate) fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_REASON_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}
