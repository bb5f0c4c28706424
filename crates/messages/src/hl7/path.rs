//! Paths into an HL7 message.
//!
//! ```text
//! path := SEG [ "[" n "]" ] [ sep field [ "[" rep "]" ] [ sep comp [ sep sub ] ] ]
//! sep  := "." | "-" | " "
//! ```
//!
//! All numbers are decimal, from 1 to [`MAX_INDEX`]. Invariant: a path that was read means one place; whatever is left
//! over, or out of range, is an error and not something else.

use thiserror::Error;

use crate::hl7::lines::{Name, name_from, shown};
use crate::limits::{MAX_INDEX, MAX_PATH_TEXT};

/// A segment, or a place in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentPath {
    pub(crate) segment: Name,
    /// Which of that name, from 1; the first if it is not said.
    pub(crate) occurrence: Option<u16>,
    pub(crate) field: Option<FieldPlace>,
}

/// A field, or a place in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldPlace {
    /// From 1.
    pub(crate) field: u16,
    /// From 1. Without one, a component is that of the first, and else all are meant.
    pub(crate) repetition: Option<u16>,
    pub(crate) component: Option<u16>,
    pub(crate) subcomponent: Option<u16>,
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SegmentPathError {
    #[error("`{0}` is no path: it begins with the three letters of a segment, as in `PID.5.1`")]
    NoSegment(String),
    #[error(
        "`{path}` is no path from `{rest}` on: such as `PID`, `OBX[2].5`, `PID.13[2].1` and `PID.3.4.2` are"
    )]
    Junk { path: String, rest: String },
    #[error("`{path}` has the number {number}: they are from 1 to {MAX_INDEX}")]
    OutOfRange { path: String, number: String },
    #[error("the path is {0} bytes long and at most {MAX_PATH_TEXT} are possible")]
    TooLong(usize),
}

impl SegmentPath {
    pub(crate) fn parse(text: &str) -> Result<Self, SegmentPathError> {
        if text.len() > MAX_PATH_TEXT {
            return Err(SegmentPathError::TooLong(text.len()));
        }
        let name = text.as_bytes().get(..3).and_then(name_from);
        let segment = name.ok_or_else(|| SegmentPathError::NoSegment(cut(text)))?;
        let mut rest = Rest { path: text, rest: &text[3..] };
        let occurrence = rest.bracketed()?;
        let field = match rest.separated()? {
            None => None,
            Some(field) => {
                let repetition = rest.bracketed()?;
                let component = rest.separated()?;
                let subcomponent = if component.is_some() { rest.separated()? } else { None };
                Some(FieldPlace { field, repetition, component, subcomponent })
            }
        };
        rest.end()?;
        Ok(Self { segment, occurrence, field })
    }

    /// Which of that name, from 0.
    pub(crate) fn occurrence_index(&self) -> usize {
        usize::from(self.occurrence.unwrap_or(1)) - 1
    }

    /// The segment, as people name it.
    pub(crate) fn segment_shown(&self) -> String {
        match self.occurrence {
            None => shown(self.segment),
            Some(occurrence) => format!("{}[{occurrence}]", shown(self.segment)),
        }
    }
}

impl FieldPlace {
    /// Whether it leads to the first of everything below its field: what a field without parts is.
    pub(crate) fn is_leaf_one(&self) -> bool {
        [self.repetition, self.component, self.subcomponent]
            .iter()
            .all(|number| matches!(number, None | Some(1)))
    }
}

/// What of a path is not read yet.
struct Rest<'p> {
    path: &'p str,
    rest: &'p str,
}

impl Rest<'_> {
    /// `[n]`, if it is there.
    fn bracketed(&mut self) -> Result<Option<u16>, SegmentPathError> {
        let Some(after) = self.rest.strip_prefix('[') else { return Ok(None) };
        let digits = digits(after);
        let Some(after) = after[digits.len()..].strip_prefix(']') else { return Err(self.junk()) };
        let number = self.number(digits)?;
        self.rest = after;
        Ok(Some(number))
    }

    /// `.n`, if it is there.
    fn separated(&mut self) -> Result<Option<u16>, SegmentPathError> {
        let Some(after) = self.rest.strip_prefix(['.', '-', ' ']) else { return Ok(None) };
        let digits = digits(after);
        let number = self.number(digits)?;
        self.rest = &after[digits.len()..];
        Ok(Some(number))
    }

    fn number(&self, digits: &str) -> Result<u16, SegmentPathError> {
        if digits.is_empty() {
            return Err(self.junk());
        }
        let number = digits.parse().ok().filter(|number| (1..=MAX_INDEX).contains(number));
        number.ok_or_else(|| SegmentPathError::OutOfRange { path: cut(self.path), number: cut(digits) })
    }

    fn end(&self) -> Result<(), SegmentPathError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.junk()) }
    }

    fn junk(&self) -> SegmentPathError {
        SegmentPathError::Junk { path: cut(self.path), rest: cut(self.rest) }
    }
}

fn digits(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// The beginning of a text, for messages.
pub(crate) fn cut(text: &str) -> String {
    /// Enough to recognise a path by.
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (&str, [u16; 5])) {
        let path = SegmentPath::parse(text).unwrap();
        let place = path.field;
        let numbers = [
            path.occurrence,
            place.map(|place| place.field),
            place.and_then(|place| place.repetition),
            place.and_then(|place| place.component),
            place.and_then(|place| place.subcomponent),
        ]
        .map(Option::unwrap_or_default);
        assert_eq!((shown(path.segment).as_str(), numbers), expected, "{text}");
    }

    #[test]
    fn every_form_of_the_grammar_is_read() {
        check("PID", ("PID", [0; 5]));
        check("OBX[3]", ("OBX", [3, 0, 0, 0, 0]));
        check("PID.5", ("PID", [0, 5, 0, 0, 0]));
        check("PID-5-1", ("PID", [0, 5, 0, 1, 0]));
        check("PID 5 1", ("PID", [0, 5, 0, 1, 0]));
        check("PID.5.1.2", ("PID", [0, 5, 0, 1, 2]));
        check("OBX[2].5", ("OBX", [2, 5, 0, 0, 0]));
        check("PID.13[2].1", ("PID", [0, 13, 2, 1, 0]));
        check("Z9z[9999]-9999[9999] 9999.9999", ("Z9z", [9999; 5]));
        check("PID.05", ("PID", [0, 5, 0, 0, 0]));
    }

    #[test]
    fn junk_and_numbers_out_of_range_are_refused() {
        for text in [
            "",
            "P",
            "PI",
            "PI.5",
            "PIDX",
            "PID.",
            "PID.x",
            "PID.3.1xyz",
            "PID.5[",
            "PID.5[2",
            "PID.5[]",
            "PID.5[x]",
            "PID.5.1[2]",
            "PID[1][2]",
            "PID.1.2.3.4",
            "PID..5",
            "PID.5 ",
            " PID.5",
            "PID.+5",
            "PID.-5",
            "pé.5",
            "PéD.5",
            "PID.５",
            "PID.5\u{0}",
        ] {
            let error = SegmentPath::parse(text).unwrap_err();
            assert!(
                matches!(error, SegmentPathError::NoSegment(_) | SegmentPathError::Junk { .. }),
                "{text:?}: {error}"
            );
        }
        for text in [
            "PID.0",
            "PID.5[0]",
            "PID[0].1",
            "PID.5.0",
            "PID.5.1.0",
            "PID.10000",
            "PID.5[99999999999]",
            "PID.99999999999999999999999999",
            "XYZ[0].1.2.3.4.5",
        ] {
            let error = SegmentPath::parse(text).unwrap_err();
            assert!(matches!(error, SegmentPathError::OutOfRange { .. }), "{text:?}: {error}");
        }
        let long = format!("PID.{}", "1".repeat(MAX_PATH_TEXT));
        assert_eq!(SegmentPath::parse(&long).unwrap_err(), SegmentPathError::TooLong(MAX_PATH_TEXT + 4));
    }
}
