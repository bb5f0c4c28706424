//! `search_text`: lines that match, in all files.
//!
//! ripgrep's libraries do the searching. What always holds: at most [`MAX_SHOWN`] lines are kept, however many match.

use std::io;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use loggia_domain::{ArgumentError, Demand, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call, Stop};
use crate::glob::PathGlob;
use crate::text::{Lines, counted, is_binary, without_end};
use crate::view::View;

/// How many lines are shown: more are not read with care.
const MAX_SHOWN: usize = 200;

/// How much is shown.
const MAX_OUTPUT: usize = 64 * 1024;

/// How many matching lines are counted; then the search ends, for the count says enough.
const MAX_COUNTED: usize = 10_000;

/// How large a file may be that is searched: sources are smaller, and it is in memory meanwhile.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// How many bytes of a line are shown, around the match.
const MAX_LINE: usize = 400;

/// How many bytes are shown before the match in a line that is cut.
const BEFORE_MATCH: usize = 100;

/// How large a compiled expression may become: a hundred times what people write.
const MAX_EXPRESSION: usize = 10 * 1024 * 1024;

/// Searches the files of the workspace for a text and shows the lines that hold it as path:line:text. A query without
/// capital letters ignores case. Files that .gitignore or .ignore exclude and binary files are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchText {
    /// What to look for, within one line.
    query: String,
    /// Whether the query is a regular expression (Rust syntax, no look-around); plain text otherwise.
    #[serde(default)]
    regex: bool,
    /// Only in files that match this glob, like "*.rs" or "src/**".
    glob: Option<String>,
}

/// A checked call.
pub(crate) struct Search {
    matcher: RegexMatcher,
    glob: Option<PathGlob>,
}

impl Arguments for SearchText {
    const NAME: &'static str = "search_text";
    type Call = Search;

    fn check(self) -> Result<Search, ArgumentError> {
        if self.query.is_empty() {
            return Err(ArgumentError("`query` is empty".to_owned()));
        }
        if self.query.contains('\n') {
            return Err(ArgumentError(
                "`query` spans several lines; one line is searched at a time".to_owned(),
            ));
        }
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(!self.regex)
            .case_smart(true)
            .line_terminator(Some(b'\n'))
            .crlf(true)
            .size_limit(MAX_EXPRESSION)
            .dfa_size_limit(MAX_EXPRESSION)
            .build(&self.query)
            .map_err(|error| ArgumentError(format!("`query` is no regular expression: {error}")))?;
        let glob = self.glob.as_deref().map(PathGlob::parse).transpose()?;
        Ok(Search { matcher, glob })
    }
}

impl Call for Search {
    fn demand(&self) -> Demand {
        Demand { reads: vec![".".to_owned()], ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let mut searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .build();
        let mut tally = Tally::new();
        let mut files = view.files();
        while let Some(file) = files.next()? {
            let wanted = self.glob.as_ref().is_none_or(|glob| glob.matches(file.path.as_str()));
            if file.is_link || !wanted {
                continue;
            }
            match view.content(&file, MAX_FILE) {
                Ok(bytes) if is_binary(&bytes) => continue,
                Ok(bytes) => {
                    tally.search(&mut searcher, &self.matcher, file.path.as_str(), &bytes, view.stop());
                }
                Err(_) => tally.unread += 1,
            }
            if tally.matched >= MAX_COUNTED {
                break;
            }
        }
        let mut output = tally.into_lines();
        files.unseen().note(&mut output);
        Ok(ToolEffect::Output(output.finish()))
    }
}

/// What was found so far.
struct Tally {
    output: Lines,
    shown: usize,
    matched: usize,
    files: usize,
    unread: usize,
}

impl Tally {
    fn new() -> Self {
        Self { output: Lines::within(MAX_OUTPUT), shown: 0, matched: 0, files: 0, unread: 0 }
    }

    fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        path: &str,
        bytes: &[u8],
        stop: &Stop,
    ) {
        let before = self.matched;
        let sink = Found { tally: self, matcher, path, stop };
        if searcher.search_slice(matcher, bytes, sink).is_err() {
            self.unread += 1;
        }
        if self.matched > before {
            self.files += 1;
        }
    }

    fn into_lines(self) -> Lines {
        let Self { mut output, shown, matched, files, unread } = self;
        if matched == 0 {
            output.note("no line matches; ignored and binary files are not searched");
        }
        if matched >= MAX_COUNTED {
            output.note(&format!(
                "{shown} of more than {MAX_COUNTED} lines shown; narrow the query or give a glob"
            ));
        } else if shown < matched {
            let total = counted(matched, "line");
            let files = counted(files, "file");
            output.note(&format!("{shown} of {total} in {files} shown; narrow the query or give a glob"));
        }
        if unread > 0 {
            output.note(&format!("{} too large or not readable", counted(unread, "file")));
        }
        output
    }
}

/// Takes the matches of one file.
struct Found<'a> {
    tally: &'a mut Tally,
    matcher: &'a RegexMatcher,
    path: &'a str,
    stop: &'a Stop,
}

impl Sink for Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let tally = &mut *self.tally;
        tally.matched += 1;
        // Once one did not fit none is shown, so that what is shown is the beginning of what was found.
        if tally.shown + 1 == tally.matched && tally.shown < MAX_SHOWN {
            let line = excerpt(self.matcher, found.bytes());
            let number = found.line_number().unwrap_or_default();
            if tally.output.push(&format!("{}:{number}:{line}", self.path)) {
                tally.shown += 1;
            }
        }
        Ok(tally.matched < MAX_COUNTED && self.stop.check().is_ok())
    }
}

/// A line, or what is around its first match if it is long.
fn excerpt(matcher: &RegexMatcher, line: &[u8]) -> String {
    if line.len() <= MAX_LINE {
        return without_end(&String::from_utf8_lossy(line)).to_owned();
    }
    let start = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    let start = start.saturating_sub(BEFORE_MATCH);
    let end = (start + MAX_LINE).min(line.len());
    let text = String::from_utf8_lossy(&line[start..end]);
    // A character cut in half at either end is not worth showing.
    let text = without_end(&text).trim_matches('\u{fffd}');
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!("{before}{text}{after}")
}
