//! Log text as lines that may be shown.
//!
//! Invariants: a line holds no control characters but tab and no escape sequences but colours; a colour that is open at the
//! end of a line is closed there and opened again on the next line of the same event; without colours there are none.

use std::borrow::Cow;

use loggia_endermux_io::limits::LOG_PIECE;
use loggia_endermux_io::terminal::harmless;

/// The longest line that is put together from pieces; what is longer goes on in the next line.
const MAX_LINE: usize = 1024 * 1024;

/// A piece of a longer text is nearly as long as a message may be; whatever is shorter and has no line end is whole.
const WHOLE: usize = LOG_PIECE - 1024;

/// Colours that may be open at once. Whoever opens more never closes any.
const MAX_OPEN: usize = 256;

const RESET: &str = "\u{1b}[0m";

/// Text that comes in pieces.
#[derive(Debug)]
pub(super) struct Lines {
    color: bool,
    rest: String,
    open: String,
}

impl Lines {
    /// Lines with colours, or without.
    pub(super) fn new(color: bool) -> Self {
        Self { color, rest: String::new(), open: String::new() }
    }

    /// Takes the text of one log message and gives the lines that are whole now. Existing servers do not always end a line.
    pub(super) fn take(&mut self, text: &str) -> Vec<String> {
        let ends = ends_line(text) || text.len() < WHOLE;
        let mut lines = self.part(text);
        if ends {
            lines.extend(self.finish());
        }
        lines
    }

    /// Takes some of a text that goes on, and gives the lines that are whole now.
    pub(super) fn part(&mut self, text: &str) -> Vec<String> {
        self.rest.push_str(text);
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        let whole = if self.rest.len() - whole > MAX_LINE { self.rest.len() } else { whole };
        let after = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, after);
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        lines.into_iter().map(|line| self.line(line)).collect()
    }

    /// The text ends here: what is left is a line of its own if something is seen of it.
    pub(super) fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.rest);
        let line = Some(self.line(&rest)).filter(|_| !plain(&harmless(&rest)).is_empty());
        self.open.clear();
        line
    }

    fn line(&mut self, line: &str) -> String {
        let line = harmless(line);
        let line = without_turns(&line);
        if !self.color {
            return plain(&line).into_owned();
        }
        let before = self.open.clone();
        for sequence in sequences(&line) {
            match sequence {
                "\u{1b}[m" | RESET => self.open.clear(),
                other if self.open.len() + other.len() <= MAX_OPEN => self.open.push_str(other),
                _ => {}
            }
        }
        let end = if self.open.is_empty() { "" } else { RESET };
        format!("{before}{line}{end}")
    }
}

/// A text without colours; it is harmless already.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
        rest = &rest[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// One line of somebody else's words, for a place that has no room for more.
pub(super) fn one_line(text: &str) -> String {
    let text = harmless(text);
    let text = plain(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    without_turns(&words.join(" ")).into_owned()
}

/// Marks that turn the direction of writing could make a line read as another one.
fn without_turns(text: &str) -> Cow<'_, str> {
    let is_turn = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.contains(is_turn) { Cow::Owned(text.replace(is_turn, "")) } else { Cow::Borrowed(text) }
}

/// Whether a text ends with its line; a colour that is closed after it does not count.
fn ends_line(text: &str) -> bool {
    let text = text.strip_suffix("\u{1b}[m").or_else(|| text.strip_suffix(RESET)).unwrap_or(text);
    text.ends_with('\n')
}

fn sequences(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('\u{1b}').filter_map(|(at, _)| {
        let end = text[at..].find('m')?;
        Some(&text[at..=at + end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(color: bool, pieces: &[&str]) -> Vec<String> {
        let mut lines = Lines::new(color);
        pieces.iter().flat_map(|piece| lines.take(piece)).map(|line| line.replace('\u{1b}', "^")).collect()
    }

    #[test]
    fn events_become_lines_with_or_without_an_end() {
        assert_eq!(shown(true, &["one\n", "two", "three\nfour\n\u{1b}[m"]), ["one", "two", "three", "four"]);
        assert_eq!(shown(true, &["\n", "a\n\nb\r\n"]), ["", "a", "", "b"]);
        assert_eq!(shown(true, &[""]), [""; 0]);
    }

    #[test]
    fn a_long_line_that_comes_in_pieces_is_one_line() {
        let piece = "x".repeat(LOG_PIECE);
        let lines = shown(true, &[&piece, &piece, "end\nnext\n"]);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [2 * LOG_PIECE + 3, 4]);
        let many: Vec<&str> = std::iter::repeat_n(piece.as_str(), 100).collect();
        assert!(shown(true, &many).iter().all(|line| line.len() <= MAX_LINE + LOG_PIECE));
    }

    #[test]
    fn a_text_that_goes_on_has_lines_where_it_says_so() {
        let mut lines = Lines::new(true);
        assert_eq!(lines.part("one, "), [""; 0]);
        assert_eq!(lines.part("still one\ntwo"), ["one, still one"]);
        assert_eq!((lines.finish(), lines.finish()), (Some("two".to_owned()), None));
    }

    #[test]
    fn a_colour_ends_with_its_line_and_goes_on_in_the_next() {
        assert_eq!(
            shown(true, &["\u{1b}[31mred\nstill\u{1b}[m plain\nno\n", "\u{1b}[1mbold", "not"]),
            ["^[31mred^[0m", "^[31mstill^[m plain", "no", "^[1mbold^[0m", "not"]
        );
    }

    #[test]
    fn what_drives_a_terminal_goes_and_colours_go_where_there_are_none() {
        let hostile = "a\u{1b}[2Jb\u{1b}]0;title\u{7}\u{1b}[31mc\rd\u{202e}e\n";
        assert_eq!(shown(true, &[hostile]), ["ab^[31mcde^[0m"]);
        assert_eq!(shown(false, &[hostile]), ["abcde"]);
        assert_eq!(one_line("a\u{1b}[31m\n b\u{1b}[2J\tc"), "a b c");
    }
}
