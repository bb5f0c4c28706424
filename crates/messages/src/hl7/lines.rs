//! The lines of a message: where each begins, what separates it from the next, and which segment it is.

use std::ops::Range;

use memchr::memchr2;

use crate::hl7::delimiters::Delimiters;
use crate::limits::MAX_LINES;

/// The name of a segment: three letters or digits.
pub(crate) type Name = [u8; 3];

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    start: u32,
    /// Where its separator begins.
    end: u32,
    /// Where the next line begins.
    next: u32,
    /// Which segment it is; nothing if it is none.
    pub(crate) name: Option<Name>,
}

/// There are more lines than are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinesError;

impl Line {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// What separates it from the next: CR, LF, CRLF, or nothing at the end.
    pub(crate) fn separator<'t>(&self, text: &'t str) -> &'t str {
        &text[self.end as usize..self.next as usize]
    }

    pub(crate) fn is(&self, name: Name) -> bool {
        self.name == Some(name)
    }
}

/// The lines of a text. A text that ends with a separator has no empty line after it.
///
/// Positions have 32 bits: a message is much shorter, see [`MAX_MESSAGE`](crate::limits::MAX_MESSAGE).
pub(crate) fn split(text: &str, delimiters: &Delimiters) -> Result<Vec<Line>, LinesError> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        if lines.len() == MAX_LINES {
            return Err(LinesError);
        }
        let end = memchr2(b'\r', b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let separator = match &bytes[end..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let name = name_of(&bytes[start..end], delimiters);
        let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        lines.push(Line { start: place(start), end: place(end), next: place(end + separator), name });
        start = end + separator;
    }
    Ok(lines)
}

/// The name of the segment that a line is: three letters or digits and the field's delimiter.
pub(crate) fn name_of(line: &[u8], delimiters: &Delimiters) -> Option<Name> {
    match line {
        [a, b, c, delimiter, ..] if *delimiter == delimiters.field => name_from(&[*a, *b, *c]),
        _ => None,
    }
}

/// Bytes as a name, if they are one.
pub(crate) fn name_from(bytes: &[u8]) -> Option<Name> {
    let name = Name::try_from(bytes).ok()?;
    name.iter().all(u8::is_ascii_alphanumeric).then_some(name)
}

/// A name as text.
pub(crate) fn shown(name: Name) -> String {
    name.iter().map(|byte| char::from(*byte)).collect()
}

/// What separates most lines; CR where nothing does.
pub(crate) fn usual_separator<'t>(separators: impl Iterator<Item = &'t str>) -> &'static str {
    let mut counts = [0_usize; 3];
    for separator in separators {
        match separator {
            "\r" => counts[0] += 1,
            "\n" => counts[1] += 1,
            "\r\n" => counts[2] += 1,
            _ => {}
        }
    }
    let [carriage_return, line_feed, both] = counts;
    if line_feed > carriage_return && line_feed >= both {
        "\n"
    } else if both > carriage_return {
        "\r\n"
    } else {
        "\r"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, Option<&str>)]) {
        let lines = split(text, &Delimiters::USUAL).unwrap();
        let found: Vec<_> = lines
            .iter()
            .map(|line| (&text[line.range()], line.separator(text), line.name.map(shown)))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, separator, name)| (*line, *separator, name.map(str::to_owned)))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn each_line_keeps_its_own_separator() {
        check("", &[]);
        check("MSH|^", &[("MSH|^", "", Some("MSH"))]);
        check(
            "MSH|\rPID|1\nNK1|\r\nZ01|\r",
            &[
                ("MSH|", "\r", Some("MSH")),
                ("PID|1", "\n", Some("PID")),
                ("NK1|", "\r\n", Some("NK1")),
                ("Z01|", "\r", Some("Z01")),
            ],
        );
    }

    #[test]
    fn lines_that_are_no_segments_have_no_name() {
        check(
            "MSH|\r\rNK1\r|x\réé|\rPI-|1",
            &[
                ("MSH|", "\r", Some("MSH")),
                ("", "\r", None),
                ("NK1", "\r", None),
                ("|x", "\r", None),
                ("éé|", "\r", None),
                ("PI-|1", "", None),
            ],
        );
    }

    #[test]
    fn the_usual_separator_is_that_of_most_lines() {
        let usual = |separators: &[&'static str]| usual_separator(separators.iter().copied());
        assert_eq!(usual(&[]), "\r");
        assert_eq!(usual(&["\n", "\n", "\r"]), "\n");
        assert_eq!(usual(&["\r\n", "\r\n", "\n", ""]), "\r\n");
        assert_eq!(usual(&["\r", "\n"]), "\r");
    }
}
