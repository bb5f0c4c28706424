//! `apply_patch`: a git-style diff over several files.
//!
//! diffy parses and applies; what models get wrong about diffs is mended before. What always holds: all of the diff is
//! proposed or nothing is; a file whose lines end in CRLF keeps them, whatever the diff's lines end in.

mod mend;
mod parse;
#[cfg(test)]
mod tests;

use diffy::{Hunk, Line, Patch};
use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use loggia_tree::TreePath;
use memchr::memmem;
use schemars::JsonSchema;
use serde::Deserialize;

use self::parse::{Change, Diff, Operation};
use crate::call::{Arguments, Call};
use crate::near_miss;
use crate::path::ModelPath;
use crate::proposal::{Proposal, Reasons};
use crate::text::{LineEnds, counted};
use crate::view::View;

/// How long a diff may be: more than a model writes in one go.
const MAX_DIFF: usize = 4 * 1024 * 1024;

/// How many comparisons of lines finding the places of a file's hunks may take, at worst: some seconds.
const MAX_COMPARISONS: usize = 4_000_000_000;

/// Applies a unified diff in git's form to one or more files: "--- a/PATH" and "+++ b/PATH" lines (/dev/null to make or
/// delete a file), then hunks that begin with "@@ -START,COUNT +START,COUNT @@". Lines of context and removed lines must
/// be exactly as in the file. All of it is applied or nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatch {
    /// The diff.
    diff: String,
    /// Why the change is made, in a sentence.
    reason: Option<String>,
    /// How to tell that the change is right.
    #[serde(default)]
    acceptance_criteria: Vec<String>,
}

/// A checked call.
pub(crate) struct Apply {
    diff: Diff,
    operations: Vec<Located>,
    reasons: Reasons,
}

/// What is done, and to which paths of the workspace.
struct Located {
    /// The file the hunks are about; none if it is made from nothing.
    source: Option<ModelPath>,
    /// The file that holds the result; none if it goes.
    target: Option<ModelPath>,
    /// Whether the source stays where it is, though the result is elsewhere.
    is_copy: bool,
}

impl Arguments for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    type Call = Apply;

    fn check(self) -> Result<Apply, ArgumentError> {
        if self.diff.len() > MAX_DIFF {
            let message = format!("`diff` is {} bytes long; the limit is {MAX_DIFF}", self.diff.len());
            return Err(ArgumentError(message));
        }
        let diff = Diff::new(&self.diff);
        let changes = diff.changes().map_err(ArgumentError)?;
        let operations = changes.into_iter().map(|change| Located::new(change.operation)).collect();
        Ok(Apply { operations, diff, reasons: Reasons::new(self.reason, self.acceptance_criteria) })
    }
}

impl Located {
    fn new(operation: Operation) -> Self {
        let path = |path: String| Some(ModelPath::new(path));
        let (source, target, is_copy) = match operation {
            Operation::Create(to) => (None, path(to), false),
            Operation::Delete(from) => (path(from), None, false),
            Operation::Modify(at) => (path(at.clone()), path(at), false),
            Operation::Move { from, to } => (path(from), path(to), false),
            Operation::Copy { from, to } => (path(from), path(to), true),
        };
        Self { source, target, is_copy }
    }

    fn goes(&self) -> Option<String> {
        let source = self.source.as_ref()?.named();
        let stays = self.is_copy || self.target.as_ref().is_some_and(|target| target.named() == source);
        (!stays).then_some(source)
    }
}

impl Call for Apply {
    fn demand(&self) -> Demand {
        let mut demand = Demand::default();
        for operation in &self.operations {
            demand.reads.extend(operation.source.as_ref().map(ModelPath::named));
            demand.writes.extend(operation.target.as_ref().map(ModelPath::named));
            demand.deletes.extend(operation.goes());
        }
        for paths in [&mut demand.reads, &mut demand.writes, &mut demand.deletes] {
            paths.sort_unstable();
            paths.dedup();
        }
        demand
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        // It was read once before, so it can be read again.
        let changes = self.diff.changes().map_err(ToolError::Failed)?;
        let mut proposal = Proposal::new(view);
        for (located, change) in self.operations.iter().zip(&changes) {
            view.stop().check()?;
            propose(&mut proposal, view, located, change)?;
        }
        Ok(proposal.into_effect(&self.reasons))
    }
}

fn propose(
    proposal: &mut Proposal<'_>,
    view: &View,
    located: &Located,
    change: &Change<'_>,
) -> Result<(), ToolError> {
    let source = located.source.as_ref().map(ModelPath::tree).transpose()?;
    let target = located.target.as_ref().map(ModelPath::tree).transpose()?;
    let failed = |path: &TreePath, why: &str| ToolError::Failed(format!("`{path}`: {why}"));
    let before = match source {
        Some(path) => proposal.text(path)?.ok_or_else(|| view.no_such_file(path))?.to_vec(),
        None => Vec::new(),
    };
    let after = match source.or(target) {
        Some(path) => apply(&before, &change.patch).map_err(|why| failed(path, &why))?,
        None => before,
    };
    match (source, target) {
        (Some(source), None) if !after.is_empty() => {
            let left = counted(after.split_inclusive(|byte| *byte == b'\n').count(), "line");
            Err(failed(source, &format!("the diff deletes the file, but {left} would be left in it")))
        }
        (Some(source), None) => proposal.set(source, None),
        (Some(source), Some(target)) if source == target => proposal.set(target, Some(after)),
        (_, Some(target)) => {
            if proposal.text(target)?.is_some() {
                return Err(failed(target, "the diff makes the file, but it already exists"));
            }
            if let (Some(source), false) = (source, located.is_copy) {
                proposal.set(source, None)?;
            }
            proposal.set(target, Some(after))
        }
        (None, None) => Ok(()),
    }
}

fn apply(before: &[u8], patch: &Patch<'_, [u8]>) -> Result<Vec<u8>, String> {
    let lines = memchr::memchr_iter(b'\n', before).count() + 1;
    let hunk_lines: usize = patch.hunks().iter().map(|hunk| hunk.lines().len()).sum();
    if lines.saturating_mul(hunk_lines) > MAX_COMPARISONS {
        return Err("the file and its hunks are too long; change it in smaller steps".to_owned());
    }
    // A diff is about lines; what ends them is the file's own affair.
    if LineEnds::of(before) == LineEnds::Crlf && !has_crlf(patch) {
        let after = apply_exactly(&replaced(before, b"\r\n", b"\n"), patch)?;
        return Ok(replaced(&after, b"\n", b"\r\n"));
    }
    apply_exactly(before, patch)
}

fn apply_exactly(before: &[u8], patch: &Patch<'_, [u8]>) -> Result<Vec<u8>, String> {
    diffy::apply_bytes(before, patch).map_err(|error| {
        let text = error.to_string();
        // The number is only in the text.
        let number = text.rsplit('#').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(1);
        match patch.hunks().get(number.saturating_sub(1)) {
            Some(hunk) => misplaced(before, number, hunk),
            None => text,
        }
    })
}

/// Why a hunk has no place in a file, as far as one can tell.
fn misplaced(before: &[u8], number: usize, hunk: &Hunk<'_, [u8]>) -> String {
    let kept = hunk.lines().iter().filter_map(|line| match line {
        Line::Context(line) | Line::Delete(line) => Some(*line),
        Line::Insert(_) => None,
    });
    let wanted = kept.collect::<Vec<_>>().concat();
    let hint =
        near_miss::hint(&String::from_utf8_lossy(before), &String::from_utf8_lossy(&wanted), "the hunk");
    let hint =
        hint.as_deref().unwrap_or("its context and removed lines are not in the file; read the file again");
    format!("hunk {number} (@@ -{} +{} @@) does not apply: {hint}", hunk.old_range(), hunk.new_range())
}

fn has_crlf(patch: &Patch<'_, [u8]>) -> bool {
    let mut lines = patch.hunks().iter().flat_map(Hunk::lines);
    lines.any(|line| match line {
        Line::Context(line) | Line::Delete(line) | Line::Insert(line) => line.ends_with(b"\r\n"),
    })
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len() + text.len() / 16);
    let mut seen = 0;
    for position in memmem::find_iter(text, from) {
        replaced.extend_from_slice(&text[seen..position]);
        replaced.extend_from_slice(to);
        seen = position + from.len();
    }
    replaced.extend_from_slice(&text[seen..]);
    replaced
}
