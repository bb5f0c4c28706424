//! `edit_file`: one text in a file for another.
//!
//! What always holds: the text to replace is there exactly once, byte for byte; otherwise nothing is proposed and
//! the error says how often it is there, at which lines, or what it nearly matches.

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use memchr::memmem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::near_miss;
use crate::path::ModelPath;
use crate::proposal::{Proposal, Reasons};
use crate::view::View;

/// How many places an error lists.
const MAX_PLACES: usize = 10;

/// Replaces one piece of text in a file. `old` must be in the file exactly once, byte for byte, white space and line
/// ends included: take it from read_file without the line numbers, with enough lines around it to be unique.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    /// The file, relative to the workspace.
    path: String,
    /// The text to replace.
    old: String,
    /// What to put in its place; empty to remove it.
    new: String,
    /// Why the change is made, in a sentence.
    reason: Option<String>,
    /// How to tell that the change is right.
    #[serde(default)]
    acceptance_criteria: Vec<String>,
}

/// A checked call.
pub(crate) struct Edit {
    path: ModelPath,
    old: String,
    new: String,
    reasons: Reasons,
}

impl Arguments for EditFile {
    const NAME: &'static str = "edit_file";
    type Call = Edit;

    fn check(self) -> Result<Edit, ArgumentError> {
        if self.old.is_empty() {
            return Err(ArgumentError("`old` is empty; to write a whole file use write_file".to_owned()));
        }
        if self.old == self.new {
            return Err(ArgumentError("`old` and `new` are the same".to_owned()));
        }
        let reasons = Reasons::new(self.reason, self.acceptance_criteria);
        Ok(Edit { path: ModelPath::new(self.path), old: self.old, new: self.new, reasons })
    }
}

impl Call for Edit {
    fn demand(&self) -> Demand {
        Demand { reads: vec![self.path.named()], writes: vec![self.path.named()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.tree()?;
        let mut proposal = Proposal::new(view);
        let before = proposal.text(path)?.ok_or_else(|| view.no_such_file(path))?;
        let after = replace_once(before, &self.old, &self.new)
            .map_err(|why| ToolError::Failed(format!("`{path}`: {why}")))?;
        proposal.set(path, Some(after))?;
        Ok(proposal.into_effect(&self.reasons))
    }
}

fn replace_once(text: &[u8], old: &str, new: &str) -> Result<Vec<u8>, String> {
    let found: Vec<usize> = memmem::find_iter(text, old.as_bytes()).collect();
    match found.as_slice() {
        [position] => Ok([&text[..*position], new.as_bytes(), &text[position + old.len()..]].concat()),
        [] => {
            let hint = near_miss::hint(&String::from_utf8_lossy(text), old, "`old`");
            let hint = hint.as_deref().unwrap_or("read the file again and copy the text exactly");
            Err(format!("`old` is not in the file (0 matches); {hint}"))
        }
        several => Err(format!(
            "`old` is in the file {} times, {}; add lines around it so that it matches once",
            several.len(),
            places(text, several)
        )),
    }
}

fn places(text: &[u8], positions: &[usize]) -> String {
    let mut line = 1;
    let mut seen = 0;
    let mut numbers = Vec::new();
    for position in positions.iter().take(MAX_PLACES) {
        line += memchr::memchr_iter(b'\n', &text[seen..*position]).count();
        seen = *position;
        numbers.push(line.to_string());
    }
    let more = positions.len() - numbers.len();
    let listed = numbers.join(", ");
    if more == 0 { format!("at lines {listed}") } else { format!("at lines {listed} and {more} more") }
}
