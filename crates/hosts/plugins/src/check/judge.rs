//! What an answer is worth.

use std::time::Duration;

use loggia_jsonrpc::{ErrorObject, Method, decode};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::report::Outcome;

/// As much of what a plugin said as says what it is.
const SHOWN_CHARACTERS: usize = 200;

/// What a plugin did with a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// It answered.
    Result(Box<RawValue>),
    /// It answered that it failed.
    Error(ErrorObject),
    /// It answered that it failed, in a form that hosts have to guess at.
    Untidy(ErrorObject, &'static str),
    /// It said nothing for so long.
    Silence(Duration),
    /// It is gone.
    Gone(String),
}

/// A call, and what came of it.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) answer: Answer,
    pub(super) took: Duration,
}

impl Answer {
    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Result(result) => format!("the result `{}`", cut(result.get())),
            Self::Error(error) => format!("the error {}: {}", error.code, cut(&error.message)),
            Self::Untidy(error, form) => format!("{form}: {}", cut(&error.message)),
            Self::Silence(limit) => format!("nothing within {} s", limit.as_secs_f32()),
            Self::Gone(how) => how.clone(),
        }
    }

    /// Whether there is nobody left to ask.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Silence(_) | Self::Gone(_))
    }

    /// The result as the method promises it, or what is wrong.
    pub(super) fn read<M: Method>(&self) -> Result<M::Result, Outcome> {
        let promised = || format!("the result of `{}`", M::NAME);
        match self {
            Self::Result(result) => decode(result.get())
                .map_err(|error| failed(promised(), format!("`{}`, in which {error}", cut(result.get())))),
            _ => Err(failed(promised(), self.words())),
        }
    }

    /// What was read otherwise than it was written, if anything was: hosts put up with that, and other hosts may not.
    pub(super) fn otherwise<T: Serialize>(&self, read: &T) -> Option<Outcome> {
        let Self::Result(came) = self else { return None };
        let came: Value = serde_json::from_str(came.get()).ok()?;
        let mut changed = Vec::new();
        compare(&came, &serde_json::to_value(read).ok()?, "", &mut changed);
        let wanted = "values of the kinds that the specification has";
        (!changed.is_empty()).then(|| noted(wanted, cut(&changed.join(", "))))
    }

    /// An error with one of these codes is right, another one is tolerated, a result is as `otherwise` says.
    pub(super) fn should_fail(&self, wanted: &str, codes: &[i64], otherwise: Tolerance) -> Outcome {
        match self {
            Self::Error(error) if codes.is_empty() || codes.contains(&error.code) => Outcome::Passed,
            Self::Error(_) | Self::Untidy(..) => noted(wanted, self.words()),
            Self::Result(_) if otherwise == Tolerance::Tolerated => noted(wanted, self.words()),
            _ => failed(wanted, self.words()),
        }
    }

    /// Any answer will do.
    pub(super) fn should_come(&self, wanted: &str) -> Outcome {
        match self {
            Self::Result(_) | Self::Error(_) => Outcome::Passed,
            Self::Untidy(..) => noted(wanted, self.words()),
            _ => failed(wanted, self.words()),
        }
    }
}

/// Notes where two values differ, by key. Keys that only one of them has are others' affair.
fn compare(came: &Value, read: &Value, path: &str, changed: &mut Vec<String>) {
    match (came, read) {
        (Value::Object(came), Value::Object(read)) => {
            let both = came.iter().filter_map(|(key, value)| Some((key, value, read.get(key)?)));
            both.for_each(|(key, came, read)| compare(came, read, &format!("{path}.{key}"), changed));
        }
        (Value::Array(came), Value::Array(read)) if came.len() == read.len() => {
            let both = came.iter().zip(read).enumerate();
            both.for_each(|(at, (came, read))| compare(came, read, &format!("{path}[{at}]"), changed));
        }
        _ if came == read => {}
        _ => changed.push(format!("`{}` is `{came}`, read as `{read}`", path.trim_start_matches('.'))),
    }
}

/// Whether hosts put up with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tolerance {
    Tolerated,
    Refused,
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
