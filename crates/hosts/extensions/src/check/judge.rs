//! What an answer is worth.

use std::time::Duration;

use loggia_jsonrpc::ErrorObject;
use serde_json::value::RawValue;

use super::report::Outcome;

/// As much of what an extension said as says what it is.
const SHOWN_CHARACTERS: usize = 200;

/// What an extension did with a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// It answered.
    Result(Box<RawValue>),
    /// It answered that it failed.
    Error(ErrorObject),
    /// It said nothing for so long.
    Silence(Duration),
    /// It is gone.
    Gone(String),
}

impl Answer {
    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Result(result) => format!("the result `{}`", cut(result.get())),
            Self::Error(error) => format!("the error {}: {}", error.code, cut(&error.message)),
            Self::Silence(limit) => format!("nothing within {} s", limit.as_secs_f32()),
            Self::Gone(how) => how.clone(),
        }
    }
}

pub(super) fn failed(expected: impl Into<String>, came: impl Into<String>) -> Outcome {
    Outcome::Failed { expected: expected.into(), came: came.into() }
}

pub(super) fn noted(expected: impl Into<String>, came: impl Into<String>) -> Outcome {
    Outcome::Noted { expected: expected.into(), came: came.into() }
}

pub(super) fn skipped(reason: impl Into<String>) -> Outcome {
    Outcome::Skipped { reason: reason.into() }
}

/// The beginning of something long, on one line.
pub(super) fn cut(text: &str) -> String {
    let spelt = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).map(spelt).collect();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}
