//! Journals from elsewhere: what they may not bring along.
//!
//! What somebody allowed there was allowed for other files and another machine. So a journal that is taken in has no
//! preset of its own, and nothing that was answered in it is remembered: the workspace's own policy holds.
//!
//! Knows the words of the two kinds of lines that loosen anything. Refuses to know the others: the store reads them.
//! What always holds: a line this module cannot read is refused, never passed on as it is.

use std::borrow::Cow;

use loggia_domain::StoreError;
use serde::Deserialize;
use serde_json::{Value, json};

/// What every line says first.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// The lines without what would loosen anything here.
///
/// # Errors
/// If a line cannot be read.
pub(super) fn without_permissions(lines: Vec<String>) -> Result<Vec<String>, StoreError> {
    let bad =
        |line: usize, error: serde_json::Error| StoreError::BadImport { line, reason: error.to_string() };
    let one = |(line, number): (String, usize)| without_permission(line).map_err(|error| bad(number, error));
    lines.into_iter().zip(1..).map(one).collect()
}

fn without_permission(line: String) -> Result<String, serde_json::Error> {
    let Line { kind } = serde_json::from_str(&line)?;
    let change: fn(&mut Value) = match &*kind {
        "session_opened" => forget_preset,
        "approval_decided" => forget_answer,
        _ => return Ok(line),
    };
    let mut value: Value = serde_json::from_str(&line)?;
    value.get_mut("data").into_iter().for_each(change);
    Ok(value.to_string())
}

fn forget_preset(data: &mut Value) {
    if let Some(opening) = data.as_object_mut() {
        opening.remove("preset");
    }
}

fn forget_answer(data: &mut Value) {
    if let Some(remember) = data.pointer_mut("/answer/remember") {
        *remember = json!("once");
    }
}
