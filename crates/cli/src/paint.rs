//! Colours, widths, and text from outside that must not steer the terminal.
//!
//! What always holds: whatever a model, a file or a command wrote goes through [`printable`] before a terminal gets it.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use loggia_endermux_io::terminal::spelt_out;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No style.
pub(crate) const PLAIN: Style = Style::new();
/// What the line is about.
pub(crate) const SUBJECT: Style = Style::new().bold();
/// What most readers skip.
pub(crate) const ASIDE: Style = Style::new().dimmed();
/// Something that went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Something that did not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// A word that announces a failure.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Something to look at.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// A question, and the keys that answer it.
pub(crate) const QUESTION: Style = AnsiColor::Magenta.on_default().bold();
/// What was looked for, where it stands.
pub(crate) const MATCH: Style = AnsiColor::Yellow.on_default().bold();
/// Advice, places in diffs, code.
pub(crate) const CODE: Style = AnsiColor::Cyan.on_default();

/// Puts styles around text, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Whether there are colours.
    pub(crate) color: bool,
}

impl Paint {
    /// The text in this style. The text is ours, or printable already.
    pub(crate) fn text<'t>(self, style: Style, text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        let text = text.into();
        if !self.color || style == PLAIN || text.is_empty() {
            return text;
        }
        Cow::Owned(format!("{style}{text}{style:#}"))
    }

    /// Text from outside in this style.
    pub(crate) fn foreign(self, style: Style, text: &str) -> String {
        self.text(style, printable(text)).into_owned()
    }
}

/// One line of text from outside: control characters, and marks that turn the direction of writing, are spelt out.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push_printable(&mut plain, character);
    }
    Cow::Owned(plain)
}

/// Text from outside with the lines it has: each of them as [`printable`] makes it.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// One line of text that somebody is to approve: nothing is taken away, and what a terminal would not show is spelt out.
pub(crate) fn to_be_approved(text: &str) -> String {
    spelt_out(text).replace('\t', "    ")
}

/// Appends one character from outside.
pub(crate) fn push_printable(text: &mut String, character: char) {
    match character {
        '\t' => text.push_str("    "),
        character if is_steering(character) => write!(text, "{}", character.escape_default()).unwrap_or(()),
        character => text.push(character),
    }
}

fn is_steering(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How many columns a text takes; it has no styles in it.
pub(crate) fn width_of(text: &str) -> usize {
    text.width()
}

/// How many columns a character takes.
pub(crate) fn width_of_char(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// At most so many columns of a text, with an ellipsis if that is not all of it.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width_of(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut taken = 1;
    for character in text.chars() {
        taken += width_of_char(character);
        if taken > columns {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// The first line that says something, printable.
pub(crate) fn first_line(text: &str) -> Cow<'_, str> {
    printable(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim())
}

/// A number as people write it: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("rm \u{202e}x"), "rm \\u{202e}x");
        assert_eq!(printable("bell\u{7}\ttab"), "bell\\u{7}    tab");
        assert_eq!(printable("héllo 漢字"), "héllo 漢字");
    }

    #[test]
    fn what_is_to_be_approved_is_all_there() {
        assert_eq!(to_be_approved("a\u{1b}]0;b\u{7}\r\tc\u{200b}"), "a\\x1b]0;b\\x07\\r    c\\u{200b}");
    }

    #[test]
    fn long_text_is_cut_by_columns() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn without_colours_there_are_no_styles() {
        assert_eq!(Paint { color: false }.text(BAD, "x"), "x");
        assert_eq!(Paint { color: true }.text(BAD, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
