//! `read_file`: a text file's lines, with their numbers.
//!
//! A line is shown as its number, a tab and its text. What is not the file's is in brackets on a line of its own at
//! the end: how much there is beyond what is shown, and what the shown lines do not say of themselves.

use std::num::NonZeroUsize;

use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::text::{LineEnds, Lines, binary_kind, cut, is_binary, without_end};
use crate::view::View;

/// How large a file may be of which lines are shown: it is in memory while they are looked for.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// How many lines are shown at once: most files whole, without filling a model's context.
const MAX_LINES: usize = 2000;

/// How much is shown at once, for the same reason.
const MAX_OUTPUT: usize = 256 * 1024;

/// How many characters of a line are shown: longer ones are not written by people.
const MAX_LINE: usize = 2000;

/// Reads a text file. Each line comes as its number, a tab and its text; remarks about the file follow in brackets.
/// Long files come in pieces of at most 2000 lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, counted from 1.
    start_line: Option<NonZeroUsize>,
    /// The last line to show.
    end_line: Option<NonZeroUsize>,
}

/// A checked call.
pub(crate) struct Read {
    path: ModelPath,
    start: usize,
    end: usize,
}

impl Arguments for ReadFile {
    const NAME: &'static str = "read_file";
    type Call = Read;

    fn check(self) -> Result<Read, ArgumentError> {
        let start = self.start_line.map_or(1, NonZeroUsize::get);
        let end = self.end_line.map_or(usize::MAX, NonZeroUsize::get);
        if end < start {
            return Err(ArgumentError(format!("`end_line` ({end}) is before `start_line` ({start})")));
        }
        Ok(Read { path: ModelPath::new(self.path), start, end })
    }
}

impl Call for Read {
    fn demand(&self) -> Demand {
        Demand { reads: vec![self.path.named()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.path.tree()?;
        let bytes = view.read(path, MAX_FILE)?.ok_or_else(|| view.no_such_file(path))?;
        if is_binary(&bytes) {
            return Err(ToolError::Failed(format!(
                "`{path}` is not text but {} of {} bytes",
                binary_kind(&bytes),
                bytes.len()
            )));
        }
        let shown = show(&bytes, self.start, self.end);
        shown.map(ToolEffect::Output).map_err(|why| ToolError::Failed(format!("`{path}` {why}")))
    }
}

fn show(bytes: &[u8], start: usize, end: usize) -> Result<String, String> {
    let text = String::from_utf8_lossy(bytes);
    let (text, has_mark) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, true),
        None => (text.as_ref(), false),
    };
    let count = text.split_inclusive('\n').count();
    let mut output = Lines::within(MAX_OUTPUT);
    if count == 0 {
        output.note("the file is empty");
        return Ok(output.finish());
    }
    if start > count {
        return Err(format!("has {}; there is no line {start}", crate::text::counted(count, "line")));
    }
    let mut last = start - 1;
    let wanted = text.split_inclusive('\n').enumerate().skip(start - 1);
    for (number, line) in wanted.take_while(|(number, _)| *number < end).take(MAX_LINES) {
        if !output.push(&format!("{}\t{}", number + 1, cut(without_end(line), MAX_LINE))) {
            break;
        }
        last = number + 1;
    }
    if last < end.min(count) {
        output.note(&format!("lines {start}-{last} of {count}; read on with start_line {}", last + 1));
    } else if (start, last) != (1, count) {
        output.note(&format!("lines {start}-{last} of {count}"));
    }
    remarks(bytes, has_mark, &mut output);
    Ok(output.finish())
}

/// What lines do not show and an edit must get right.
fn remarks(bytes: &[u8], has_mark: bool, output: &mut Lines) {
    match LineEnds::of(bytes) {
        LineEnds::Crlf => output.note("lines end in CRLF"),
        LineEnds::Mixed => output.note("some lines end in CRLF, some in LF"),
        LineEnds::Lf | LineEnds::None => {}
    }
    if !bytes.ends_with(b"\n") {
        output.note("no line end after the last line");
    }
    if has_mark {
        output.note("the file begins with a byte order mark");
    }
    if std::str::from_utf8(bytes).is_err() {
        output.note("the file is not UTF-8; what could not be read is shown as \u{fffd}");
    }
}
