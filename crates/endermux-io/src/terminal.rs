//! Text of somebody else on our terminal.
//!
//! A log line may hold whatever somebody managed to get logged. Invariant: what comes out holds no control characters but
//! tab and newline, and no escape sequences but those for colours and the like (`ESC [ … m`).

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;

const ESCAPE: char = '\u{1b}';

/// The text without what could drive a terminal. Existing clients pass it all on.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_control(c) || c == ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        match c {
            ESCAPE => out.push_str(&text[start..skip_sequence(text, start, &mut rest)]),
            c if is_control(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | ESCAPE)
}

/// Goes behind an escape sequence and gives the end of what may stay of it: all, if it is about colours, or nothing.
fn skip_sequence(text: &str, start: usize, rest: &mut Peekable<CharIndices<'_>>) -> usize {
    match rest.peek() {
        Some((_, '[')) => {
            rest.next();
        }
        // Titles, links and the clipboard: text up to a bell, or to the escape that ends it.
        Some((_, ']' | 'P' | 'X' | '^' | '_')) => {
            while rest.next_if(|(_, c)| !matches!(*c, '\u{7}' | ESCAPE | '\n')).is_some() {}
            return start;
        }
        // Two characters, such as a reset; but never somebody's line end.
        Some((_, c)) if !c.is_control() => {
            rest.next();
            return start;
        }
        _ => return start,
    }
    // Parameters are digits, signs and spaces; one other character ends the sequence.
    while rest.next_if(|(_, c)| (' '..='?').contains(c)).is_some() {}
    match rest.next_if(|(_, c)| ('@'..='~').contains(c)) {
        Some((end, 'm')) if is_plain(&text[start + 2..end]) => end + 1,
        _ => start,
    }
}

/// Whether these are parameters of colours; others with the same end set modes of the keyboard.
fn is_plain(parameters: &str) -> bool {
    parameters.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_tabs_and_lines_stay() {
        for text in ["plain é 😀\n", "\u{1b}[31;1mred\u{1b}[m\tand\n", "\u{1b}[38:2:1:2:3mx", ""] {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn what_drives_a_terminal_goes() {
        assert_eq!(harmless("a\u{1b}[2Jb"), "ab");
        assert_eq!(harmless("a\u{1b}[10;10Hb"), "ab");
        assert_eq!(harmless("a\u{1b}]0;title\u{7}b"), "ab");
        assert_eq!(harmless("a\u{1b}]52;c;ZXZpbA==\u{1b}\\b"), "ab");
        assert_eq!(harmless("a\u{1b}cb\r\u{8}\u{9b}2Jc"), "ab2Jc");
        assert_eq!(harmless("a\u{1b}[>4;2mb"), "ab");
        assert_eq!(harmless("cut \u{1b}[31"), "cut ");
        assert_eq!(harmless("cut \u{1b}\nnext"), "cut \nnext");
        assert_eq!(harmless("\u{1b}\u{1b}[2Jx"), "x");
    }

    proptest! {
        #[test]
        fn nothing_is_left_to_take_away(text in "[a\u{1b}\\[\\]0-9;mHJ\r\n\u{7}\u{9b}?é]{0,40}") {
            let once = harmless(&text).into_owned();
            prop_assert!(!once.chars().any(is_control));
            prop_assert_eq!(harmless(&once), once.clone());
        }
    }
}
