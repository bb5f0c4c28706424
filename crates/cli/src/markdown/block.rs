//! What kind of line begins: decided by its first characters.

use anstyle::Style;

use super::wrap::Mark;
use crate::paint::{ASIDE, Paint, QUESTION, SUBJECT, printable};

/// The most digits of a numbered item: more is a number that begins a line.
const MAX_DIGITS: usize = 9;

/// How wide a rule is at most.
const RULE_COLUMNS: usize = 40;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Blank,
    Rule,
    Fence { mark: char, length: usize, diff: bool },
    Heading { level: usize },
    Item,
    Quote,
    Row,
    Text { indent: usize },
}

/// What a line is and how much of it says so; `None` while it cannot be known.
pub(super) fn begin(line: &str, complete: bool) -> Option<(Block, usize)> {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - text.len();
    let undecided = !complete;
    let plain = Some((Block::Text { indent: indent.min(8) }, indent));
    let Some(first) = text.chars().next() else {
        return complete.then_some((Block::Blank, line.len()));
    };
    match first {
        '`' | '~' => {
            let length = text.chars().take_while(|character| *character == first).count();
            let info = &text[length..];
            if length < 3 && (!info.is_empty() || complete) || info.contains('`') {
                return plain;
            }
            if undecided {
                return None;
            }
            let diff = matches!(info.trim(), "diff" | "patch");
            Some((Block::Fence { mark: first, length, diff }, line.len()))
        }
        '#' => {
            let level = text.chars().take_while(|character| *character == '#').count();
            let rest = &text[level..];
            match rest.chars().next() {
                Some(' ') if level <= 6 => {
                    Some((Block::Heading { level }, indent + level + rest.len() - rest.trim_start().len()))
                }
                None if undecided && level <= 6 => None,
                _ => plain,
            }
        }
        '-' | '*' | '+' | '_' => {
            let only_marks = text.chars().all(|character| character == first || character == ' ');
            let marks = text.matches(first).count();
            if only_marks && undecided {
                return None;
            }
            if only_marks && marks >= 3 && first != '+' {
                return Some((Block::Rule, line.len()));
            }
            match text[1..].starts_with(' ') && first != '_' {
                true => Some((Block::Item, indent + 1 + spaces(&text[1..]))),
                false => plain,
            }
        }
        '0'..='9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let rest = &text[digits..];
            if digits > MAX_DIGITS {
                return plain;
            }
            match rest.as_bytes() {
                [] | [b'.' | b')'] if undecided => None,
                [b'.' | b')', b' ', ..] => Some((Block::Item, indent + digits + 1 + spaces(&rest[1..]))),
                _ => plain,
            }
        }
        '>' => {
            let rest = &text[1..];
            match rest.is_empty() && undecided {
                true => None,
                false => Some((Block::Quote, indent + 1 + usize::from(rest.starts_with(' ')))),
            }
        }
        '|' => complete.then_some((Block::Row, line.len())),
        _ => plain,
    }
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// The beginning of a line as it is shown.
pub(super) struct Begun {
    /// What was read of it.
    pub(super) mark: String,
    pub(super) paint: Paint,
    pub(super) width: usize,
}

impl Begun {
    pub(super) fn as_written(&self) -> String {
        printable(&self.mark).into_owned()
    }

    pub(super) fn rule(&self) -> String {
        match self.paint.color {
            true => self.paint.text(ASIDE, "─".repeat(self.width.min(RULE_COLUMNS))).into_owned(),
            false => self.as_written(),
        }
    }

    pub(super) fn heading(&self, level: usize) -> Style {
        match (self.paint.color, level) {
            (false, _) => Style::new(),
            (true, 1 | 2) => QUESTION,
            (true, _) => SUBJECT,
        }
    }

    pub(super) fn heading_mark(&self) -> Mark {
        Mark::plain(if self.paint.color { String::new() } else { self.as_written() })
    }

    /// The mark of an item, and what its further lines begin with.
    pub(super) fn item(&self) -> (Mark, String) {
        let hang = " ".repeat(self.mark.chars().count());
        let word = self.mark.trim();
        let shown = match word {
            "-" | "*" | "+" if self.paint.color => self.mark.replacen(word, "•", 1),
            _ => self.as_written(),
        };
        let shown = self.paint.text(SUBJECT, shown).into_owned();
        (Mark { text: shown, columns: hang.len() }, hang)
    }

    pub(super) fn quote(&self) -> Mark {
        match self.paint.color {
            true => Mark { text: self.paint.text(ASIDE, "│ ").into_owned(), columns: 2 },
            false => Mark { text: "> ".to_owned(), columns: 2 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_line_is_known_as_early_as_can_be() {
        let kind = |line: &str| begin(line, false).map(|(block, _)| block);
        assert_eq!(kind(""), None);
        assert_eq!(kind("#"), None);
        assert_eq!(kind("# "), Some(Block::Heading { level: 1 }));
        assert_eq!(kind("#x"), Some(Block::Text { indent: 0 }));
        assert_eq!(kind("-"), None);
        assert_eq!(kind("- "), None, "a rule may be written with spaces");
        assert_eq!(kind("- a"), Some(Block::Item));
        assert_eq!(kind("-a"), Some(Block::Text { indent: 0 }));
        assert_eq!(kind("*"), None);
        assert_eq!(kind("**b"), Some(Block::Text { indent: 0 }));
        assert_eq!(kind("1"), None);
        assert_eq!(kind("12. "), Some(Block::Item));
        assert_eq!(kind("12 apples"), Some(Block::Text { indent: 0 }));
        assert_eq!(kind("``"), None);
        assert_eq!(kind("`a"), Some(Block::Text { indent: 0 }));
        assert_eq!(kind("word"), Some(Block::Text { indent: 0 }));
    }

    #[test]
    fn a_whole_line_is_always_decided() {
        let kind = |line: &str| begin(line, true).map(|(block, _)| block).unwrap();
        assert_eq!(kind("---"), Block::Rule);
        assert_eq!(kind("* * *"), Block::Rule);
        assert_eq!(kind("-"), Block::Text { indent: 0 });
        assert_eq!(kind("```diff"), Block::Fence { mark: '`', length: 3, diff: true });
        assert_eq!(kind("``"), Block::Text { indent: 0 });
        assert_eq!(kind("| a | b |"), Block::Row);
        assert_eq!(kind("#######"), Block::Text { indent: 0 });
        assert_eq!(kind(">"), Block::Quote);
        assert_eq!(kind("   "), Block::Blank);
    }
}
