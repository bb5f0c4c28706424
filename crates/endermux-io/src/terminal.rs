//! Text of somebody else on our terminal.
//!
//! A log line may hold whatever somebody managed to get logged. Invariant: what comes out of [`harmless`] holds no control
//! characters but tab and newline, and no escape sequences but those for colours and the like (`ESC [ … m`).
//!
//! What somebody is to approve is another matter: what is taken away there was never seen. Invariant: [`spelt_out`] takes
//! nothing away, and what comes out of it shows every character that went in.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::CharIndices;

const ESCAPE: char = '\u{1b}';

/// The text without what could drive a terminal: for logs and replies, never for what somebody is to approve. Existing
/// clients pass it all on.
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

/// The text as one line in which everything can be seen: what a terminal obeys or does not show is spelt out, as in
/// `\x1b`, `\r`, `\n` and `\u{202e}`. Only tabs stay.
pub fn spelt_out(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c != '\t' && is_unseen(c);
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.extend(c.escape_default()),
            // Writing to a string does not fail.
            c if is_odd(c) && c.is_ascii() => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c if is_odd(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether lines hold what [`spelt_out`] has to spell out. How lines end, and tabs, are nothing to warn of.
pub fn holds_unseen(text: &str) -> bool {
    text.lines().any(|line| line.chars().any(|c| c != '\t' && is_unseen(c)))
}

/// What a terminal obeys, and what it shows nothing of: controls, marks that turn the direction of writing around or join
/// and part letters, fillers, and tags.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
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

    #[test]
    fn what_is_to_be_approved_is_spelt_out() {
        let shown = spelt_out("true \u{1b}]0;x; touch PWNED; true \u{7}");
        assert_eq!(shown, "true \\x1b]0;x; touch PWNED; true \\x07");
        assert_eq!(spelt_out("a\rb\nc\td\u{9b}\u{202e}\u{200b}"), "a\\rb\\nc\td\\u{9b}\\u{202e}\\u{200b}");
        assert!(matches!(spelt_out("plain é 😀"), Cow::Borrowed(_)));
        assert!(holds_unseen("a\rb") && holds_unseen("a\nb\u{200b}") && !holds_unseen("\ta\r\nb\n"));
    }

    proptest! {
        #[test]
        fn nothing_is_taken_from_what_is_to_be_approved(text in "[a\u{1b}\\[\\]0-9;mHJ\r\n\u{7}\u{9b}?é\u{202e}]{0,40}") {
            let shown = spelt_out(&text).into_owned();
            prop_assert!(!shown.chars().any(is_unseen));
            let mut rest = shown.chars();
            // All that is to be seen comes in its order, with the rest spelt out between.
            for c in text.chars().filter(|c| !is_unseen(*c)) {
                prop_assert!(rest.any(|shown| shown == c), "{shown:?}");
            }
            prop_assert!(shown.chars().count() >= text.chars().count());
        }

        #[test]
        fn nothing_is_left_to_take_away(text in "[a\u{1b}\\[\\]0-9;mHJ\r\n\u{7}\u{9b}?é]{0,40}") {
            let once = harmless(&text).into_owned();
            prop_assert!(!once.chars().any(is_control));
            prop_assert_eq!(harmless(&once), once.clone());
        }
    }
}
