//! Text with styles, and what terminals of each colour level get of it.
//!
//! Invariant: whatever is put in, what comes out holds no control characters but tabs and line ends, no marks that turn
//! the direction of writing around, and no escape sequences but our own; for a terminal without colours none at all.

use std::borrow::Cow;
use std::fmt::Write as _;

use loggia_endermux_io::server::Log;
use loggia_endermux_io::terminal::harmless;
use loggia_protocol_endermux::ColorLevel;

/// What a piece of text is, as far as its looks are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Nothing in particular.
    Plain,
    /// Less important than what is around it.
    Aside,
    /// What it is about: a command, a heading.
    Subject,
    /// A name: a session, a question, a model.
    Name,
    /// A value somebody typed.
    Value,
    /// It went well; a line that is added.
    Good,
    /// Somebody should look.
    Warning,
    /// It went wrong; a line that is removed.
    Bad,
}

impl Style {
    /// The parameters of its escape sequence; nothing where it looks like the rest.
    fn code(self, level: ColorLevel) -> Option<&'static str> {
        let [eight, sixteen, indexed, full] = match self {
            Self::Plain => return None,
            Self::Aside => ["2", "90", "38;5;245", "38;2;138;138;138"],
            Self::Subject => ["1", "1", "1", "1"],
            Self::Name => ["36", "36", "38;5;80", "38;2;95;215;215"],
            Self::Value => ["35", "95", "38;5;147", "38;2;175;175;255"],
            Self::Good => ["32", "32", "38;5;114", "38;2;135;215;135"],
            Self::Warning => ["33;1", "33;1", "1;38;5;220", "1;38;2;255;215;0"],
            Self::Bad => ["31", "91", "38;5;203", "38;2;255;95;95"],
        };
        match level {
            ColorLevel::None => None,
            ColorLevel::Indexed8 => Some(eight),
            ColorLevel::Indexed16 => Some(sixteen),
            ColorLevel::Indexed256 => Some(indexed),
            ColorLevel::TrueColor => Some(full),
        }
    }
}

/// Text with styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Painted {
    spans: Vec<(Style, String)>,
}

impl Painted {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One piece of text.
    pub(crate) fn of(style: Style, text: impl AsRef<str>) -> Self {
        Self::new().with(style, text)
    }

    /// And more.
    #[must_use]
    pub(crate) fn with(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.put(style, text);
        self
    }

    /// And more in no particular style.
    #[must_use]
    pub(crate) fn plain(self, text: impl AsRef<str>) -> Self {
        self.with(Style::Plain, text)
    }

    pub(crate) fn put(&mut self, style: Style, text: impl AsRef<str>) {
        let text = clean(text.as_ref());
        if !text.is_empty() {
            self.spans.push((style, text.into_owned()));
        }
    }

    /// Everything of another text.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.spans.append(&mut other.spans);
    }

    /// Ends the line.
    pub(crate) fn end_line(&mut self) {
        self.spans.push((Style::Plain, "\n".to_owned()));
    }

    /// As a line of its own.
    #[must_use]
    pub(crate) fn line(mut self) -> Self {
        self.end_line();
        self
    }

    /// For a terminal with these colours. A style never goes over the end of a line.
    pub(crate) fn render(&self, level: ColorLevel) -> String {
        let mut out = String::new();
        for (style, text) in &self.spans {
            match style.code(level) {
                None => out.push_str(text),
                Some(code) => paint_lines(&mut out, code, text),
            }
        }
        out
    }
}

impl Log for Painted {
    fn text(&self, level: ColorLevel) -> Cow<'_, str> {
        Cow::Owned(self.render(level))
    }

    fn weight(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.len() + size_of::<(Style, String)>()).sum()
    }
}

fn paint_lines(out: &mut String, code: &str, text: &str) {
    for piece in text.split_inclusive('\n') {
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        if !line.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(out, "\u{1b}[{code}m{line}\u{1b}[0m");
        }
        if line.len() < piece.len() {
            out.push('\n');
        }
    }
}

/// A line with the same characters and escape sequences in between: what an editor shows while somebody types.
pub(crate) fn paint_exactly(pieces: &[(Style, &str)], level: ColorLevel) -> String {
    let mut out = String::new();
    for (style, text) in pieces {
        match style.code(level).filter(|_| !text.is_empty()) {
            None => out.push_str(text),
            Some(code) => {
                let _ = write!(out, "\u{1b}[{code}m{text}\u{1b}[0m");
            }
        }
    }
    out
}

/// Text from anywhere as lines that cannot drive a terminal. Colours of others go, too: only ours mean something here.
/// For logs and replies: what somebody is to approve is spelt out before it comes here, and stays as it is.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || turns_writing(c);
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let text = harmless(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            // Only colours are left of escape sequences.
            '\u{1b}' => drop(rest.by_ref().find(|c| *c == 'm')),
            c if turns_writing(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// What makes text look like other text.
fn turns_writing(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text as part of a line: its first line with words, not too long.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let text = clean(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let is_cut = lines.next().is_some() || line.chars().nth(most).is_some();
    let mut brief: String = line.chars().take(most).map(|c| if c == '\t' { ' ' } else { c }).collect();
    if is_cut {
        brief.push('…');
    }
    brief
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_level_has_its_own_colours_and_none_has_none() {
        let text = Painted::of(Style::Bad, "no").plain(" more");
        let shown = |level| text.render(level).replace('\u{1b}', "^");
        assert_eq!(shown(ColorLevel::None), "no more");
        assert_eq!(shown(ColorLevel::Indexed8), "^[31mno^[0m more");
        assert_eq!(shown(ColorLevel::Indexed16), "^[91mno^[0m more");
        assert_eq!(shown(ColorLevel::Indexed256), "^[38;5;203mno^[0m more");
        assert_eq!(shown(ColorLevel::TrueColor), "^[38;2;255;95;95mno^[0m more");
    }

    #[test]
    fn a_style_ends_with_its_line() {
        let text = Painted::of(Style::Good, "a\n\nb\n").render(ColorLevel::Indexed16);
        assert_eq!(text.replace('\u{1b}', "^"), "^[32ma^[0m\n\n^[32mb^[0m\n");
    }

    #[test]
    fn nothing_that_is_put_in_drives_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{1b}[2Jc\u{1b}]0;t\u{7}d\r\n\te"), "abcd\n\te");
        assert_eq!(clean("x\u{202e}y"), "x\\u{202e}y");
        assert!(matches!(clean("plain ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_brief_text_is_one_line() {
        assert_eq!(brief("\n  one\ttwo \nthree", 20), "one two…");
        assert_eq!(brief("abcdef", 3), "abc…");
        assert_eq!(brief("abc", 3), "abc");
    }

    proptest! {
        #[test]
        fn without_colours_there_are_no_escapes(text in "[a\u{1b}\\[\\]0-9;mHJ\r\n\u{7}\u{9b}\u{202e}é]{0,40}") {
            let plain = Painted::of(Style::Warning, &text).render(ColorLevel::None);
            prop_assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{plain:?}");
            prop_assert!(!plain.chars().any(turns_writing));
        }
    }
}
