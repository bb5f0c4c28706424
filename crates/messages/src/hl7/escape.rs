//! Escaping: what would separate something is written as an escape sequence.
//!
//! Invariant: escaping is idempotent. Sequences that are well formed stay as they are, so text that was read from a
//! message can be written into it again; what is escaped once is not escaped twice.

use std::borrow::Cow;

use crate::hl7::delimiters::Delimiters;

/// A text as it may stand in the smallest part of a message.
pub(crate) fn escape<'t>(text: &'t str, delimiters: &Delimiters) -> Cow<'t, str> {
    let special = |byte: u8| delimiters.has(byte) || matches!(byte, b'\r' | b'\n');
    if !text.bytes().any(special) {
        return Cow::Borrowed(text);
    }
    let separators = delimiters.separators();
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.bytes().position(special).unwrap_or(rest.len());
        escaped.push_str(&rest[..end]);
        rest = &rest[end..];
        if let Some(length) = sequence(rest.as_bytes(), delimiters) {
            escaped.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(bare) = rest.get(..1) {
            escaped.push_str(&separators.encode(bare).to_string());
            rest = &rest[1..];
        }
    }
    Cow::Owned(escaped)
}

/// A text as people mean it: without the escapes of characters that would separate something.
///
/// Everything else that is escaped (highlighting, characters by number, commands of formatting) stays.
pub(crate) fn unescape<'t>(text: &'t str, delimiters: &Delimiters) -> Cow<'t, str> {
    if !text.as_bytes().contains(&delimiters.escape) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let meant = match rest.as_bytes() {
            [first, letter, last, ..] if *first == delimiters.escape && *last == delimiters.escape => {
                match letter {
                    b'F' => Some(delimiters.field),
                    b'S' => Some(delimiters.component),
                    b'T' => Some(delimiters.subcomponent),
                    b'R' => Some(delimiters.repetition),
                    b'E' => Some(delimiters.escape),
                    _ => None,
                }
            }
            _ => None,
        };
        match meant {
            Some(meant) => {
                plain.push(meant.into());
                rest = &rest[3..];
            }
            None => {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    Cow::Owned(plain)
}

/// The length of the well-formed escape sequence that a text begins with.
fn sequence(text: &[u8], delimiters: &Delimiters) -> Option<usize> {
    let body = text.strip_prefix(&[delimiters.escape])?;
    let length = body.iter().position(|byte| *byte == delimiters.escape)?;
    let body = &body[..length];
    let separates = body.iter().any(|byte| delimiters.has(*byte) || matches!(byte, b'\r' | b'\n'));
    (!separates && is_command(body)).then_some(length + 2)
}

/// What may stand between two escape characters.
fn is_command(body: &[u8]) -> bool {
    let hexadecimal = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match body {
        // Highlighting, its end, the delimiters, and the character of a cut.
        [b'H' | b'N' | b'F' | b'S' | b'T' | b'R' | b'E' | b'P'] => true,
        [b'X', digits @ ..] => !digits.is_empty() && digits.len().is_multiple_of(2) && hexadecimal(digits),
        // Other character sets, of one byte and of several.
        [b'C', digits @ ..] => digits.len() == 4 && hexadecimal(digits),
        [b'M', digits @ ..] => matches!(digits.len(), 4 | 6) && hexadecimal(digits),
        // Of local meaning.
        [b'Z', rest @ ..] => rest.iter().all(u8::is_ascii_alphanumeric),
        // Formatting, some with a number.
        [b'.', a, b, number @ ..] if a.is_ascii_lowercase() && b.is_ascii_lowercase() => {
            let digits = match number {
                [b'+' | b'-' | b' ', digits @ ..] if !digits.is_empty() => digits,
                digits => digits,
            };
            digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text, &Delimiters::USUAL), expected, "{text:?}");
        assert_eq!(escape(expected, &Delimiters::USUAL), expected, "a second time, of {text:?}");
    }

    #[test]
    fn bare_delimiters_and_separators_are_escaped() {
        check("plain é", "plain é");
        check("a^b|c~d&e", r"a\S\b\F\c\R\d\T\e");
        check("a\rb\nc", r"a\X0D\b\X0A\c");
        check(r"C:\dir\é", r"C:\E\dir\E\é");
        check("\\", r"\E\");
    }

    #[test]
    fn well_formed_sequences_stay() {
        for text in [
            r"\T\",
            r"\X0D\",
            r"\XC3A9\",
            r"\.br\",
            r"\.sp+3\",
            r"\.in-2\",
            r"\.ti5\",
            r"\H\bold\N\",
            r"\E\\E\",
            r"\C2842\",
            r"\M2442EF\",
            r"\Zx1\",
            r"a\F\b",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_only_looks_like_a_sequence_is_text() {
        check(r"\\", r"\E\\E\");
        check(r"\X0\", r"\E\X0\E\");
        check(r"\Q\", r"\E\Q\E\");
        check(r"\F^\", r"\E\F\S\\E\");
        check(r"\F\T\", r"\F\T\E\");
        check(r"\.br", r"\E\.br");
    }

    #[test]
    fn sequences_with_a_delimiter_of_this_message_are_text() {
        let delimiters = Delimiters::new('|', "^~\\.").unwrap();
        assert_eq!(escape(r"\.br\", &delimiters), r"\E\\T\br\E\");
    }

    #[test]
    fn escapes_of_delimiters_are_what_they_mean() {
        let plain = |text| unescape(text, &Delimiters::USUAL).into_owned();
        assert_eq!(plain(r"a\S\b\F\c\R\d\T\e\E\é\.br\"), r"a^b|c~d&e\é\.br\");
        assert_eq!(plain(r"\"), r"\");
    }

    proptest! {
        #[test]
        fn escaped_text_separates_nothing_and_is_escaped_once(text in r"[a-zA-Z0-9.\\|^~&é\r\n+ -]{0,40}") {
            let delimiters = Delimiters::USUAL;
            let once = escape(&text, &delimiters).into_owned();
            prop_assert!(!once.contains(['|', '^', '~', '&', '\r', '\n']));
            prop_assert_eq!(escape(&once, &delimiters).into_owned(), once);
        }
    }
}
