//! Finding lines by a phrase or a regular expression.
//!
//! The index rules files out; ripgrep's libraries read the others, so what is found is really there, and nothing that is
//! there is left out. Findings come in the order of paths and lines.

use std::io;
use std::sync::Mutex;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use loggia_domain::{CodeFinding, CodeQuery, IndexError, TextMatch};

use crate::control::lock;
use crate::fields::Field;
use crate::query::excerpt::shortened;
use crate::query::filter::PathFilter;
use crate::query::literals::{self, Part};
use crate::query::{Search, unavailable};

/// How large a compiled expression may become: a hundred times what people write.
const MAX_EXPRESSION: usize = 10 * 1024 * 1024;

/// Files that are read before it is asked whether enough was found.
const BATCH: usize = 128;

/// Threads that read, when many files are left.
const MAX_READERS: usize = 8;

/// How many bytes of a line are shown.
const MAX_LINE: usize = 400;

impl Search<'_> {
    /// The lines that match.
    pub(super) fn lines(&self, query: &CodeQuery) -> Result<Vec<CodeFinding>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        let is_regex = query.matching == TextMatch::Regex;
        if !is_regex && query.text.contains('\n') {
            return Err(IndexError::BadQuery(
                "it spans several lines; one line is searched at a time".to_owned(),
            ));
        }
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(!is_regex)
            .case_smart(true)
            // Each line is a text of its own, whose end is before its last `\n` or `\r\n`.
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_EXPRESSION)
            .dfa_size_limit(MAX_EXPRESSION)
            .build(&query.text)
            .map_err(|error| IndexError::BadQuery(format!("it is no regular expression: {error}")))?;
        let parts = if is_regex { literals::of_regex(&query.text) } else { literals::of_phrase(&query.text) };
        let mut paths: Vec<&str> =
            self.candidates(&parts)?.into_iter().filter(|path| filter.is_wanted(path)).collect();
        paths.sort_unstable();
        let mut findings = Vec::new();
        for batch in paths.chunks(BATCH) {
            self.check()?;
            findings.extend(self.read(batch, &matcher, query.limit - findings.len()));
            if findings.len() >= query.limit {
                break;
            }
        }
        findings.truncate(query.limit);
        Ok(findings)
    }

    /// The files that may hold all of the parts.
    fn candidates(&self, parts: &[Part]) -> Result<Vec<&str>, IndexError> {
        let mut counts = vec![0_usize; self.snapshot.numbers()];
        for (place, part) in parts.iter().enumerate() {
            let mut mark = |file: u32| {
                let count = &mut counts[file as usize];
                if *count == place {
                    *count += 1;
                }
            };
            if part.is_whole {
                for field in [Field::Body, Field::Comments] {
                    let found = self.snapshot.base.each_with(field, &part.text, |file, _| mark(file));
                    found.map_err(unavailable)?;
                }
            } else {
                self.snapshot
                    .base
                    .containing(&part.text)
                    .map_err(unavailable)?
                    .into_iter()
                    .for_each(&mut mark);
            }
            for (file, changed) in self.snapshot.changes() {
                if changed.contains(&part.text) {
                    mark(file);
                }
            }
        }
        let wanted = |(file, entry): (u32, &crate::entry::Entry)| {
            counts[file as usize] == parts.len() || entry.has_long_runs
        };
        let entries = self.snapshot.entries().filter(|(file, entry)| wanted((*file, entry)));
        Ok(entries.map(|(_, entry)| &*entry.path).collect())
    }

    /// Reads some files, on several threads; what is found comes in their order.
    fn read(&self, paths: &[&str], matcher: &RegexMatcher, limit: usize) -> Vec<CodeFinding> {
        let found: Mutex<Vec<(usize, Vec<CodeFinding>)>> = Mutex::default();
        let readers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_READERS);
        let share = paths.len().div_ceil(readers).max(1);
        let read = |place: usize, paths: &[&str]| {
            let mut searcher = searcher();
            let mut findings = Vec::new();
            for path in paths {
                if self.is_stopped() || findings.len() >= limit {
                    break;
                }
                if let Some(text) = self.text(path) {
                    let sink = Lines { path, findings: &mut findings, limit };
                    // A sink that takes from memory does not fail.
                    let _ = searcher.search_slice(matcher, text.as_bytes(), sink);
                }
            }
            lock(&found).push((place, findings));
        };
        if paths.len() < readers * 2 {
            read(0, paths);
        } else {
            std::thread::scope(|scope| {
                let read = &read;
                for (place, paths) in paths.chunks(share).enumerate() {
                    scope.spawn(move || read(place, paths));
                }
            });
        }
        let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort_unstable_by_key(|(place, _)| *place);
        found.into_iter().flat_map(|(_, findings)| findings).collect()
    }
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .build()
}

/// Takes the matches of one file.
struct Lines<'a> {
    path: &'a str,
    findings: &'a mut Vec<CodeFinding>,
    limit: usize,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = u32::try_from(found.line_number().unwrap_or_default()).unwrap_or(u32::MAX);
        let text = String::from_utf8_lossy(found.bytes());
        self.findings.push(CodeFinding {
            path: self.path.to_owned(),
            start_line: line,
            end_line: line,
            symbol: None,
            snippet: shortened(text.trim_end_matches(['\r', '\n']), MAX_LINE).to_owned(),
            score: 1.0,
            definition: None,
        });
        Ok(self.findings.len() < self.limit)
    }
}
