//! Rows about the task that a session is there for.
//!
//! Knows what is stored of what happens to it. Refuses to know what follows from that.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

mod pieces;
mod start;

use loggia_domain::{EventBody, JsonText, Occasion, TaskEvent};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{StoredActor, Str, Text};
use crate::rows::task::pieces::{
    StoredCheck, StoredCommit, StoredDelivery, StoredEffect, StoredQuestion, StoredStepEnd, StoredWord,
};
use crate::rows::task::start::StoredStart;

#[derive(Serialize, Deserialize)]
pub(super) struct TaskRow<'a> {
    pub(super) task: StoredTaskEvent<'a>,
}

impl From<TaskRow<'_>> for EventBody {
    fn from(row: TaskRow<'_>) -> Self {
        let TaskRow { task } = row;
        Self::Task(task.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredTaskEvent<'a> {
    Started(Box<StoredStart<'a>>),
    Entered {
        step: Str<'a>,
        by: StoredActor<'a>,
    },
    Working {
        step: Str<'a>,
    },
    Guarded {
        step: Str<'a>,
        hook: Str<'a>,
        guard: Str<'a>,
        word: StoredWord<'a>,
    },
    EffectRun {
        step: Str<'a>,
        hook: Str<'a>,
        effect: Str<'a>,
        occasion: Text<Occasion>,
        result: StoredEffect<'a>,
    },
    Specified {
        number: u32,
        text: Str<'a>,
    },
    Reviewed {
        number: u32,
        text: Str<'a>,
    },
    Noted {
        text: Str<'a>,
        by: StoredActor<'a>,
    },
    Asked {
        question: StoredQuestion<'a>,
    },
    Answered {
        text: Str<'a>,
        by: StoredActor<'a>,
    },
    Checkpointed {
        number: u32,
        step: Str<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<StoredCommit<'a>>,
    },
    Moved {
        to: u32,
        by: StoredActor<'a>,
    },
    MetadataSet {
        name: Str<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Str<'a>>,
        by: StoredActor<'a>,
    },
    Checked {
        target: Str<'a>,
        result: StoredCheck<'a>,
    },
    Delivered {
        delivery: StoredDelivery<'a>,
    },
    Left {
        step: Str<'a>,
        end: StoredStepEnd<'a>,
    },
    Finished {
        by: StoredActor<'a>,
    },
    Abandoned {
        by: StoredActor<'a>,
    },
}

impl<'a> From<&'a TaskEvent> for StoredTaskEvent<'a> {
    fn from(event: &'a TaskEvent) -> Self {
        match event {
            TaskEvent::Started(start) => Self::Started(Box::new(start.as_ref().into())),
            TaskEvent::Entered { step, by } => Self::Entered { step: step.into(), by: by.into() },
            TaskEvent::Working { step } => Self::Working { step: step.into() },
            TaskEvent::Guarded { step, hook, guard, word } => {
                Self::Guarded { step: step.into(), hook: hook.into(), guard: guard.into(), word: word.into() }
            }
            TaskEvent::EffectRun { step, hook, effect, occasion, result } => Self::EffectRun {
                step: step.into(),
                hook: hook.into(),
                effect: effect.into(),
                occasion: Text(*occasion),
                result: result.into(),
            },
            TaskEvent::Specified { number, text } => Self::Specified { number: *number, text: text.into() },
            TaskEvent::Reviewed { number, text } => Self::Reviewed { number: *number, text: text.into() },
            TaskEvent::Noted { text, by } => Self::Noted { text: text.into(), by: by.into() },
            TaskEvent::Asked { question } => Self::Asked { question: question.into() },
            TaskEvent::Answered { text, by } => Self::Answered { text: text.into(), by: by.into() },
            TaskEvent::Checkpointed { number, step, commit } => Self::Checkpointed {
                number: *number,
                step: step.into(),
                commit: commit.as_ref().map(Into::into),
            },
            TaskEvent::Moved { to, by } => Self::Moved { to: *to, by: by.into() },
            TaskEvent::MetadataSet { name, value, by } => Self::MetadataSet {
                name: name.into(),
                value: value.as_ref().map(|value| (&value.0).into()),
                by: by.into(),
            },
            TaskEvent::Checked { target, result } => {
                Self::Checked { target: target.into(), result: result.into() }
            }
            TaskEvent::Delivered { delivery } => Self::Delivered { delivery: delivery.into() },
            TaskEvent::Left { step, end } => Self::Left { step: step.into(), end: end.into() },
            TaskEvent::Finished { by } => Self::Finished { by: by.into() },
            TaskEvent::Abandoned { by } => Self::Abandoned { by: by.into() },
        }
    }
}

impl From<StoredTaskEvent<'_>> for TaskEvent {
    fn from(row: StoredTaskEvent<'_>) -> Self {
        match row {
            StoredTaskEvent::Started(start) => Self::Started(Box::new((*start).into())),
            StoredTaskEvent::Entered { step, by } => Self::Entered { step: step.into(), by: by.into() },
            StoredTaskEvent::Working { step } => Self::Working { step: step.into() },
            StoredTaskEvent::Guarded { step, hook, guard, word } => {
                Self::Guarded { step: step.into(), hook: hook.into(), guard: guard.into(), word: word.into() }
            }
            StoredTaskEvent::EffectRun { step, hook, effect, occasion, result } => Self::EffectRun {
                step: step.into(),
                hook: hook.into(),
                effect: effect.into(),
                occasion: occasion.0,
                result: result.into(),
            },
            StoredTaskEvent::Specified { number, text } => Self::Specified { number, text: text.into() },
            StoredTaskEvent::Reviewed { number, text } => Self::Reviewed { number, text: text.into() },
            StoredTaskEvent::Noted { text, by } => Self::Noted { text: text.into(), by: by.into() },
            StoredTaskEvent::Asked { question } => Self::Asked { question: question.into() },
            StoredTaskEvent::Answered { text, by } => Self::Answered { text: text.into(), by: by.into() },
            StoredTaskEvent::Checkpointed { number, step, commit } => {
                Self::Checkpointed { number, step: step.into(), commit: commit.map(Into::into) }
            }
            StoredTaskEvent::Moved { to, by } => Self::Moved { to, by: by.into() },
            StoredTaskEvent::MetadataSet { name, value, by } => Self::MetadataSet {
                name: name.into(),
                value: value.map(|value| JsonText(value.into())),
                by: by.into(),
            },
            StoredTaskEvent::Checked { target, result } => {
                Self::Checked { target: target.into(), result: result.into() }
            }
            StoredTaskEvent::Delivered { delivery } => Self::Delivered { delivery: delivery.into() },
            StoredTaskEvent::Left { step, end } => Self::Left { step: step.into(), end: end.into() },
            StoredTaskEvent::Finished { by } => Self::Finished { by: by.into() },
            StoredTaskEvent::Abandoned { by } => Self::Abandoned { by: by.into() },
        }
    }
}
