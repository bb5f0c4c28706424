//! An HL7 message of version 2: its lines, as the bytes they are.
//!
//! Knows segments, delimiters and which line is what. Refuses to know what any field means: that is the schema's.
//! Segments are separated by CR, LF or CRLF, each line with its own; a line that is no segment is kept as it is.
//!
//! Invariant: the text is never put together from what was understood of it. What changes is a range of a line, and all
//! other bytes stay what they were.

pub(crate) mod align;
pub(crate) mod delimiters;
pub(crate) mod escape;
pub(crate) mod export;
pub(crate) mod field;
pub(crate) mod import;
pub(crate) mod lines;
pub(crate) mod patch;
pub(crate) mod path;
pub(crate) mod replace;

use std::ops::Range;

use thiserror::Error;

use crate::hl7::delimiters::{Delimiters, DelimitersError};
use crate::hl7::lines::{Line, LinesError};
use crate::hl7::path::{FieldPlace, SegmentPath};
use crate::limits::{MAX_LINES, MAX_MESSAGE};

/// What every message begins with.
pub(crate) const HEADER: &str = "MSH";

/// A message and where its lines are.
#[derive(Debug, Clone)]
pub(crate) struct Hl7 {
    text: String,
    lines: Vec<Line>,
    delimiters: Delimiters,
}

/// Why a text is no HL7 message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Hl7Error {
    #[error("it does not begin with `MSH` and its delimiters")]
    NoHeader,
    #[error(transparent)]
    Delimiters(#[from] DelimitersError),
    #[error("it has {bytes} bytes and at most {MAX_MESSAGE} are possible")]
    TooLong { bytes: usize },
    #[error("it has more than {MAX_LINES} lines")]
    TooManyLines,
}

impl Hl7 {
    /// A message that has no text yet.
    pub(crate) fn empty() -> Self {
        Self { text: String::new(), lines: Vec::new(), delimiters: Delimiters::USUAL }
    }

    /// Reads a text that is not empty.
    pub(crate) fn read(text: String) -> Result<Self, Hl7Error> {
        if text.len() > MAX_MESSAGE {
            return Err(Hl7Error::TooLong { bytes: text.len() });
        }
        let delimiters = Delimiters::of_header(text.strip_prefix(HEADER).ok_or(Hl7Error::NoHeader)?)?;
        let lines = lines::split(&text, &delimiters).map_err(|LinesError| Hl7Error::TooManyLines)?;
        Ok(Self { text, lines, delimiters })
    }

    /// Whether it has no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Its text with the separators it came with.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn delimiters(&self) -> &Delimiters {
        &self.delimiters
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// A line without its separator.
    pub(crate) fn line(&self, line: &Line) -> &str {
        &self.text[line.range()]
    }

    /// Its text with CR between the lines, whatever is between them here.
    pub(crate) fn with_carriage_returns(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        for line in &self.lines {
            text.push_str(self.line(line));
            if !line.separator(&self.text).is_empty() {
                text.push('\r');
            }
        }
        text
    }

    /// What stands at a path, as it stands there; nothing if the path leads nowhere.
    pub(crate) fn get(&self, path: &SegmentPath) -> Result<Option<&str>, field::TooManyParts> {
        let line = self.lines.iter().filter(|line| line.is(path.segment)).nth(path.occurrence_index());
        let Some(line) = line.map(|line| self.line(line)) else { return Ok(None) };
        match &path.field {
            None => Ok(Some(line)),
            Some(place) => Ok(self.find(line, place)?.map(|range| &line[range])),
        }
    }

    fn find(&self, line: &str, place: &FieldPlace) -> Result<Option<Range<usize>>, field::TooManyParts> {
        let Some(whole) = field::range_in(line, place.field, &self.delimiters) else { return Ok(None) };
        if field::is_delimiters(line, place.field) {
            // The delimiters themselves: nothing in them separates anything.
            return Ok(place.is_leaf_one().then_some(whole));
        }
        let inner = field::find(&line[whole.clone()], place, &self.delimiters)?;
        Ok(inner.map(|inner| whole.start + inner.start..whole.start + inner.end))
    }
}
