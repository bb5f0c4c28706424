//! Rows about questions put to people.
//!
//! Knows what is stored of a question and its answer. Refuses to know what follows from either.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    ApprovalAnswer, ApprovalId, ApprovalScope, CallId, EventBody, JsonText, PatchId, Question, Remember,
    Risk, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{StoredActor, Str, Text, list, texts, unlist, untext};

#[derive(Serialize, Deserialize)]
pub(super) struct ApprovalAsked<'a> {
    pub(super) approval: Text<ApprovalId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<Text<CallId>>,
    pub(super) question: StoredQuestion<'a>,
    pub(super) risk: Text<Risk>,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<i64>,
}

impl From<ApprovalAsked<'_>> for EventBody {
    fn from(row: ApprovalAsked<'_>) -> Self {
        let ApprovalAsked { approval, call, question, risk, expires } = row;
        Self::ApprovalAsked {
            approval: approval.0,
            call: call.map(|call| call.0),
            question: question.into(),
            risk: risk.0,
            expires: expires.map(Timestamp),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ApprovalDecided<'a> {
    pub(super) approval: Text<ApprovalId>,
    pub(super) answer: StoredAnswer<'a>,
    pub(super) by: StoredActor<'a>,
}

impl From<ApprovalDecided<'_>> for EventBody {
    fn from(row: ApprovalDecided<'_>) -> Self {
        let ApprovalDecided { approval, answer, by } = row;
        Self::ApprovalDecided { approval: approval.0, answer: answer.into(), by: by.into() }
    }
}

/// What is asked.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredQuestion<'a> {
    Patches {
        tool: Str<'a>,
        patches: Vec<Text<PatchId>>,
    },
    Command {
        command: Str<'a>,
        directory: Str<'a>,
        environment: Vec<StoredVariable<'a>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Str<'a>>,
    },
    Tool {
        tool: Str<'a>,
        arguments: Str<'a>,
    },
}

impl<'a> From<&'a Question> for StoredQuestion<'a> {
    fn from(question: &'a Question) -> Self {
        match question {
            Question::Patches { tool, patches } => {
                Self::Patches { tool: tool.into(), patches: texts(patches) }
            }
            Question::Command { command, directory, environment, reason } => Self::Command {
                command: command.into(),
                directory: directory.into(),
                environment: list(environment),
                reason: reason.as_ref().map(Into::into),
            },
            Question::Tool { tool, arguments } => {
                Self::Tool { tool: tool.into(), arguments: (&arguments.0).into() }
            }
        }
    }
}

impl From<StoredQuestion<'_>> for Question {
    fn from(row: StoredQuestion<'_>) -> Self {
        match row {
            StoredQuestion::Patches { tool, patches } => {
                Self::Patches { tool: tool.into(), patches: untext(patches) }
            }
            StoredQuestion::Command { command, directory, environment, reason } => Self::Command {
                command: command.into(),
                directory: directory.into(),
                environment: unlist(environment),
                reason: reason.map(Into::into),
            },
            StoredQuestion::Tool { tool, arguments } => {
                Self::Tool { tool: tool.into(), arguments: JsonText(arguments.into()) }
            }
        }
    }
}

/// One variable of a command. A list of these, not an object: order and repetition are kept.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredVariable<'a> {
    name: Str<'a>,
    value: Str<'a>,
}

impl<'a> From<&'a (String, String)> for StoredVariable<'a> {
    fn from((name, value): &'a (String, String)) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

impl From<StoredVariable<'_>> for (String, String) {
    fn from(row: StoredVariable<'_>) -> Self {
        let StoredVariable { name, value } = row;
        (name.into(), value.into())
    }
}

/// What somebody decided.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredAnswer<'a> {
    scope: StoredScope,
    remember: Text<Remember>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<Str<'a>>,
}

impl<'a> From<&'a ApprovalAnswer> for StoredAnswer<'a> {
    fn from(answer: &'a ApprovalAnswer) -> Self {
        let ApprovalAnswer { scope, remember, comment } = answer;
        Self { scope: scope.into(), remember: Text(*remember), comment: comment.as_ref().map(Into::into) }
    }
}

impl From<StoredAnswer<'_>> for ApprovalAnswer {
    fn from(row: StoredAnswer<'_>) -> Self {
        let StoredAnswer { scope, remember, comment } = row;
        Self { scope: scope.into(), remember: remember.0, comment: comment.map(Into::into) }
    }
}

/// How much of what was asked is allowed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredScope {
    None {},
    All {},
    Patches { allowed: Vec<Text<PatchId>> },
    Hunks { allowed: Vec<StoredHunks> },
}

impl From<&ApprovalScope> for StoredScope {
    fn from(scope: &ApprovalScope) -> Self {
        match scope {
            ApprovalScope::None => Self::None {},
            ApprovalScope::All => Self::All {},
            ApprovalScope::Patches(allowed) => Self::Patches { allowed: texts(allowed) },
            ApprovalScope::Hunks(allowed) => Self::Hunks { allowed: list(allowed) },
        }
    }
}

impl From<StoredScope> for ApprovalScope {
    fn from(row: StoredScope) -> Self {
        match row {
            StoredScope::None {} => Self::None,
            StoredScope::All {} => Self::All,
            StoredScope::Patches { allowed } => Self::Patches(untext(allowed)),
            StoredScope::Hunks { allowed } => Self::Hunks(unlist(allowed)),
        }
    }
}

/// Some hunks of one patch.
#[derive(Serialize, Deserialize)]
struct StoredHunks {
    patch: Text<PatchId>,
    hunks: Vec<usize>,
}

impl From<&(PatchId, Vec<usize>)> for StoredHunks {
    fn from((patch, hunks): &(PatchId, Vec<usize>)) -> Self {
        Self { patch: Text(*patch), hunks: hunks.clone() }
    }
}

impl From<StoredHunks> for (PatchId, Vec<usize>) {
    fn from(row: StoredHunks) -> Self {
        let StoredHunks { patch, hunks } = row;
        (patch.0, hunks)
    }
}
