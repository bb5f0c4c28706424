//! Pieces of rows about tasks: what guards, effects, checks and agents said, and how things ended.
//!
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    CheckResult, Commit, Delivery, EffectResult, GuardWord, StepEnd, TaskCommit, TaskQuestion,
};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{StoredActor, Str};

/// What a guard said.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum StoredWord<'a> {
    Warned { warning: Str<'a> },
    Stopped { reason: Str<'a> },
    Overridden { by: StoredActor<'a> },
}

impl<'a> From<&'a GuardWord> for StoredWord<'a> {
    fn from(word: &'a GuardWord) -> Self {
        match word {
            GuardWord::Warned(warning) => Self::Warned { warning: warning.into() },
            GuardWord::Stopped(reason) => Self::Stopped { reason: reason.into() },
            GuardWord::Overridden(by) => Self::Overridden { by: by.into() },
        }
    }
}

impl From<StoredWord<'_>> for GuardWord {
    fn from(row: StoredWord<'_>) -> Self {
        match row {
            StoredWord::Warned { warning } => Self::Warned(warning.into()),
            StoredWord::Stopped { reason } => Self::Stopped(reason.into()),
            StoredWord::Overridden { by } => Self::Overridden(by.into()),
        }
    }
}

/// What came of an effect.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum StoredEffect<'a> {
    Done {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Str<'a>>,
    },
    Failed {
        reason: Str<'a>,
    },
    Stopped {
        reason: Str<'a>,
    },
}

impl<'a> From<&'a EffectResult> for StoredEffect<'a> {
    fn from(result: &'a EffectResult) -> Self {
        match result {
            EffectResult::Done(message) => Self::Done { message: message.as_ref().map(Into::into) },
            EffectResult::Failed(reason) => Self::Failed { reason: reason.into() },
            EffectResult::Stopped(reason) => Self::Stopped { reason: reason.into() },
        }
    }
}

impl From<StoredEffect<'_>> for EffectResult {
    fn from(row: StoredEffect<'_>) -> Self {
        match row {
            StoredEffect::Done { message } => Self::Done(message.map(Into::into)),
            StoredEffect::Failed { reason } => Self::Failed(reason.into()),
            StoredEffect::Stopped { reason } => Self::Stopped(reason.into()),
        }
    }
}

/// A question of an agent.
#[derive(Serialize, Deserialize)]
pub(in crate::rows) struct StoredQuestion<'a> {
    text: Str<'a>,
    options: Vec<Str<'a>>,
    context: Str<'a>,
}

impl<'a> From<&'a TaskQuestion> for StoredQuestion<'a> {
    fn from(question: &'a TaskQuestion) -> Self {
        let TaskQuestion { text, options, context } = question;
        Self { text: text.into(), options: options.iter().map(Into::into).collect(), context: context.into() }
    }
}

impl From<StoredQuestion<'_>> for TaskQuestion {
    fn from(row: StoredQuestion<'_>) -> Self {
        let StoredQuestion { text, options, context } = row;
        Self {
            text: text.into(),
            options: options.into_iter().map(Into::into).collect(),
            context: context.into(),
        }
    }
}

/// A checkpoint's commit.
#[derive(Serialize, Deserialize)]
pub(in crate::rows) struct StoredCommit<'a> {
    commit: Str<'a>,
    mark: Str<'a>,
}

impl<'a> From<&'a TaskCommit> for StoredCommit<'a> {
    fn from(commit: &'a TaskCommit) -> Self {
        let TaskCommit { commit, mark } = commit;
        Self { commit: (&commit.0).into(), mark: mark.into() }
    }
}

impl From<StoredCommit<'_>> for TaskCommit {
    fn from(row: StoredCommit<'_>) -> Self {
        let StoredCommit { commit, mark } = row;
        Self { commit: Commit(commit.into()), mark: mark.into() }
    }
}

/// What came of checking the work.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum StoredCheck<'a> {
    Passed {},
    Absent {},
    Failed { output: Str<'a> },
}

impl<'a> From<&'a CheckResult> for StoredCheck<'a> {
    fn from(result: &'a CheckResult) -> Self {
        match result {
            CheckResult::Passed => Self::Passed {},
            CheckResult::Absent => Self::Absent {},
            CheckResult::Failed(output) => Self::Failed { output: output.into() },
        }
    }
}

impl From<StoredCheck<'_>> for CheckResult {
    fn from(row: StoredCheck<'_>) -> Self {
        match row {
            StoredCheck::Passed {} => Self::Passed,
            StoredCheck::Absent {} => Self::Absent,
            StoredCheck::Failed { output } => Self::Failed(output.into()),
        }
    }
}

/// Where the work went.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum StoredDelivery<'a> {
    Merged {
        into: Str<'a>,
        commit: Str<'a>,
        pushed: bool,
    },
    Proposed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<Str<'a>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Str<'a>>,
    },
    Kept {
        pushed: bool,
    },
}

impl<'a> From<&'a Delivery> for StoredDelivery<'a> {
    fn from(delivery: &'a Delivery) -> Self {
        match delivery {
            Delivery::Merged { into, commit, pushed } => {
                Self::Merged { into: into.into(), commit: (&commit.0).into(), pushed: *pushed }
            }
            Delivery::Proposed { label, location } => Self::Proposed {
                label: label.as_ref().map(Into::into),
                location: location.as_ref().map(Into::into),
            },
            Delivery::Kept { pushed } => Self::Kept { pushed: *pushed },
        }
    }
}

impl From<StoredDelivery<'_>> for Delivery {
    fn from(row: StoredDelivery<'_>) -> Self {
        match row {
            StoredDelivery::Merged { into, commit, pushed } => {
                Self::Merged { into: into.into(), commit: Commit(commit.into()), pushed }
            }
            StoredDelivery::Proposed { label, location } => {
                Self::Proposed { label: label.map(Into::into), location: location.map(Into::into) }
            }
            StoredDelivery::Kept { pushed } => Self::Kept { pushed },
        }
    }
}

/// How a step ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum StoredStepEnd<'a> {
    Done {},
    Asked {},
    Failed { reason: Str<'a> },
    Cancelled {},
}

impl<'a> From<&'a StepEnd> for StoredStepEnd<'a> {
    fn from(end: &'a StepEnd) -> Self {
        match end {
            StepEnd::Done => Self::Done {},
            StepEnd::Asked => Self::Asked {},
            StepEnd::Failed(reason) => Self::Failed { reason: reason.into() },
            StepEnd::Cancelled => Self::Cancelled {},
        }
    }
}

impl From<StoredStepEnd<'_>> for StepEnd {
    fn from(row: StoredStepEnd<'_>) -> Self {
        match row {
            StoredStepEnd::Done {} => Self::Done,
            StoredStepEnd::Asked {} => Self::Asked,
            StoredStepEnd::Failed { reason } => Self::Failed(reason.into()),
            StoredStepEnd::Cancelled {} => Self::Cancelled,
        }
    }
}
