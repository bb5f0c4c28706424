//! What differs between two texts, as git writes it.
//!
//! Knows lines and hunks; refuses to know files and who wants the change. A line ends with `\n` and nothing else, as
//! for git, so a carriage return is part of its line and comes through unchanged.
//!
//! What always holds:
//! - a hunk's numbers are those of its header, and its content is the text under that header, with the marks for a
//!   missing final newline: the diff is its header lines and its hunks, one after the other;
//! - time and memory are bounded. A diff that would take too long gets coarser, never wrong.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use loggia_domain::Hunk;
use similar::{Algorithm, DiffOp};

use super::quote::{label, quoted};

/// The largest text that is compared: an event carries the diff twice, whole and by hunks, and every client gets it.
pub const MAX_TEXT: usize = 8 << 20;

/// The most lines that are compared: each costs some 64 bytes while they are.
pub const MAX_LINES: usize = 400_000;

/// How long one comparison may look for the best answer before it settles for a coarser one. People wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Unchanged lines around a change, as git has them.
const CONTEXT: usize = 3;

/// How much of the line that names a hunk's surroundings is shown, as git has it.
const MAX_HEADING: usize = 80;

/// What follows a last line that has no newline.
pub(super) const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// A difference between two states of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnifiedDiff {
    /// As git writes it; empty if nothing differs.
    pub text: String,
    /// Its hunks, in order. None if an empty file comes or goes.
    pub hunks: Vec<Hunk>,
}

/// Why two states of a file cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// One of them is not text.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// One of them is too large.
    #[error("the file has {len} bytes, more than the {MAX_TEXT} that are compared")]
    TooLarge {
        /// How large.
        len: usize,
    },
    /// One of them has too many lines.
    #[error("the file has {lines} lines, more than the {MAX_LINES} that are compared")]
    TooManyLines {
        /// How many.
        lines: usize,
    },
}

impl UnifiedDiff {
    /// Compares two states of a file; nothing stands for one that is not there.
    ///
    /// # Errors
    /// [`DiffError`] for what is not text or too large to show.
    pub fn between(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<Self, DiffError> {
        Self::between_by(Instant::now() + PATIENCE, path, before, after)
    }

    /// The same, with another time at which to settle for a coarser answer.
    pub(crate) fn between_by(
        deadline: Instant,
        path: &str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<Self, DiffError> {
        let (old, new) = (lines_of(before)?, lines_of(after)?);
        if before == after {
            return Ok(Self::default());
        }
        let mut text = header(path, before, after);
        let mut hunks = Vec::new();
        let mut headings = Headings::new(&old);
        for group in compare(&old, &new, deadline) {
            let hunk = hunk_of(&group, &old, &new);
            let heading = headings.before(position(hunk.old_start, hunk.old_lines));
            write_hunk(&mut text, &hunk, heading);
            hunks.push(hunk);
        }
        Ok(Self { text, hunks })
    }
}

/// The lines that come before the hunks. A file that comes or goes empty has no hunk to say so; git then wants its own
/// header. The mode is what new files get; nobody here knows that of a file that goes, and git only warns.
fn header(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let (old, new) = (label("a/", path), label("b/", path));
    match (before, after) {
        (None, Some([])) => {
            format!("diff --git {} {}\nnew file mode 100644\n", quoted("a/", path), quoted("b/", path))
        }
        (Some([]), None) => {
            format!("diff --git {} {}\ndeleted file mode 100644\n", quoted("a/", path), quoted("b/", path))
        }
        (None, _) => format!("--- /dev/null\n+++ {new}\n"),
        (_, None) => format!("--- {old}\n+++ /dev/null\n"),
        (Some(_), Some(_)) => format!("--- {old}\n+++ {new}\n"),
    }
}

/// Adds a hunk under its header line.
pub(super) fn write_hunk(text: &mut String, hunk: &Hunk, heading: &str) {
    let (old, new) = (span(hunk.old_start, hunk.old_lines), span(hunk.new_start, hunk.new_lines));
    let space = if heading.is_empty() { "" } else { " " };
    writeln!(text, "@@ -{old} +{new} @@{space}{heading}").expect("a string takes every text");
    text.push_str(&hunk.content);
}

fn span(start: u32, lines: u32) -> String {
    if lines == 1 { start.to_string() } else { format!("{start},{lines}") }
}

/// How many lines come before a hunk. The header of one without lines on a side names the line before it.
pub(super) fn position(start: u32, lines: u32) -> usize {
    if lines == 0 { start as usize } else { start.saturating_sub(1) as usize }
}

/// The header's number for a hunk with so many lines before it.
pub(super) fn start_at(position: usize, lines: u32) -> u32 {
    number(if lines == 0 { position } else { position + 1 })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("there are fewer lines than MAX_LINES")
}

fn lines_of(side: Option<&[u8]>) -> Result<Vec<&str>, DiffError> {
    let bytes = side.unwrap_or_default();
    if bytes.len() > MAX_TEXT {
        return Err(DiffError::TooLarge { len: bytes.len() });
    }
    let text =
        std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(DiffError::NotText)?;
    let lines = text.split_inclusive('\n').count();
    if lines > MAX_LINES {
        return Err(DiffError::TooManyLines { lines });
    }
    Ok(text.split_inclusive('\n').collect())
}

fn compare(old: &[&str], new: &[&str], deadline: Instant) -> Vec<Vec<DiffOp>> {
    // It keeps blocks of code together where others match stray braces, and is as small but for rare cases.
    let ops = similar::capture_diff_slices_deadline(Algorithm::Histogram, old, new, Some(deadline));
    similar::group_diff_ops(ops, CONTEXT)
}

fn hunk_of(ops: &[DiffOp], old: &[&str], new: &[&str]) -> Hunk {
    let (first, last) = (&ops[0], &ops[ops.len() - 1]);
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let (old_lines, new_lines) = (number(old_range.len()), number(new_range.len()));
    let mut content = String::new();
    for op in ops {
        match op {
            DiffOp::Equal { .. } => write_lines(&mut content, ' ', old, op.old_range()),
            _ => {
                write_lines(&mut content, '-', old, op.old_range());
                write_lines(&mut content, '+', new, op.new_range());
            }
        }
    }
    Hunk {
        old_start: start_at(old_range.start, old_lines),
        old_lines,
        new_start: start_at(new_range.start, new_lines),
        new_lines,
        content,
    }
}

fn write_lines(content: &mut String, mark: char, lines: &[&str], range: Range<usize>) {
    for line in &lines[range] {
        content.push(mark);
        content.push_str(line);
        if !line.ends_with('\n') {
            content.push('\n');
            content.push_str(NO_NEWLINE);
        }
    }
}

/// Finds the line that names the surroundings of each hunk, as git does: the nearest one before it that begins with a
/// letter, `_` or `$`. Hunks are asked about in order, so each line is looked at once.
struct Headings<'a> {
    lines: &'a [&'a str],
    seen: usize,
    found: &'a str,
}

impl<'a> Headings<'a> {
    fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, seen: 0, found: "" }
    }

    fn before(&mut self, position: usize) -> &'a str {
        let fresh = &self.lines[self.seen..position];
        let names =
            |line: &str| line.starts_with(|first: char| first.is_ascii_alphabetic() || "_$".contains(first));
        if let Some(line) = fresh.iter().rfind(|line| names(line)) {
            self.found = line[..line.floor_char_boundary(MAX_HEADING)].trim_end();
        }
        self.seen = position;
        self.found
    }
}
