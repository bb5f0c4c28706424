//! Marks within a line: code, bold, italic, links.
//!
//! What always holds: a mark without its partner in the same line is a character like any other, and what is waited for is
//! bounded.

use anstyle::Style;

use crate::paint::{ASIDE, CODE};

/// How much waits for the partner of a mark: longer than what anybody prints bold.
const MAX_HELD: usize = 400;

/// How deep marks nest: bold, italic and a link.
const MAX_DEPTH: usize = 4;

/// Text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

/// What is at a mark.
enum Found {
    /// A part with its partner: so many bytes.
    Part(Vec<Span>, usize),
    /// Nothing: so many bytes are text.
    Text(usize),
    /// It cannot be known yet.
    Undecided,
}

/// Reads what can be decided and gives how many bytes that were. `complete` when the line's end is seen.
pub(super) fn read(
    text: &str,
    complete: bool,
    style: Style,
    before: Option<char>,
    spans: &mut Vec<Span>,
) -> usize {
    Reader { complete, depth: 0 }.read(text, style, before, spans)
}

#[derive(Clone, Copy)]
struct Reader {
    complete: bool,
    depth: usize,
}

impl Reader {
    fn read(self, text: &str, style: Style, before: Option<char>, spans: &mut Vec<Span>) -> usize {
        let mut at = 0;
        let mut plain = String::new();
        let mut last = before;
        while let Some(next) = text[at..].chars().next() {
            let rest = &text[at..];
            let found = match next {
                '`' => self.code(rest),
                '*' | '_' => self.emphasis(rest, next, style, last),
                '[' => self.link(rest, style),
                '\\' => self.escaped(rest),
                _ => Found::Text(next.len_utf8()),
            };
            let taken = match found {
                Found::Undecided if rest.len() <= MAX_HELD => break,
                Found::Undecided => {
                    plain.push(next);
                    next.len_utf8()
                }
                Found::Text(bytes) => {
                    plain.push_str(&rest[..bytes]);
                    bytes
                }
                Found::Part(parts, bytes) => {
                    push(spans, style, &mut plain);
                    spans.extend(parts);
                    bytes
                }
            };
            last = rest[..taken].chars().next_back();
            at += taken;
        }
        push(spans, style, &mut plain);
        at
    }

    /// No partner was found.
    fn without_partner(self, marks: usize) -> Found {
        if self.complete { Found::Text(marks) } else { Found::Undecided }
    }

    fn code(self, text: &str) -> Found {
        let marks = run(text, '`');
        let mut at = marks;
        while let Some(found) = text[at..].find('`') {
            let start = at + found;
            let closing = run(&text[start..], '`');
            at = start + closing;
            if closing == marks && (self.complete || at < text.len()) {
                let inner = &text[marks..start];
                let inner =
                    inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' ')).unwrap_or(inner);
                return Found::Part(vec![Span { style: CODE, text: inner.to_owned() }], at);
            }
        }
        self.without_partner(marks)
    }

    fn emphasis(self, text: &str, mark: char, style: Style, before: Option<char>) -> Found {
        let marks = run(text, mark);
        let inside = &text[marks..];
        let Some(first) = inside.chars().next() else { return self.without_partner(marks) };
        let in_word = mark == '_' && before.is_some_and(char::is_alphanumeric);
        if first.is_whitespace() || marks > 3 || in_word || self.depth >= MAX_DEPTH {
            return Found::Text(marks);
        }
        let Some(end) = self.closing(inside, mark, marks) else { return self.without_partner(marks) };
        let style = match marks {
            1 => style.italic(),
            2 => style.bold(),
            _ => style.bold().italic(),
        };
        let mut spans = Vec::new();
        let inner = Self { complete: true, depth: self.depth + 1 };
        inner.read(&inside[..end], style, Some(mark), &mut spans);
        Found::Part(spans, marks + end + marks)
    }

    /// Where the same number of marks ends what they began.
    fn closing(self, text: &str, mark: char, marks: usize) -> Option<usize> {
        let mut at = 0;
        let mut last = ' ';
        while let Some(next) = text[at..].chars().next() {
            let rest = &text[at..];
            let bytes = match next {
                '`' => match (Self { complete: true, ..self }).code(rest) {
                    Found::Part(_, bytes) | Found::Text(bytes) => bytes,
                    Found::Undecided => 1,
                },
                next if next == mark => {
                    let found = run(rest, mark);
                    let after = rest[found..].chars().next();
                    let in_word = mark == '_' && after.is_some_and(char::is_alphanumeric);
                    let may_grow = after.is_none() && !self.complete;
                    if found == marks && !last.is_whitespace() && !in_word && !may_grow {
                        return Some(at);
                    }
                    found
                }
                next => next.len_utf8(),
            };
            last = rest[..bytes].chars().next_back().unwrap_or(' ');
            at += bytes;
        }
        None
    }

    fn link(self, text: &str, style: Style) -> Found {
        let Some(end) = text.find(']') else { return self.without_partner(1) };
        let label = &text[1..end];
        let rest = &text[end + 1..];
        match rest.chars().next() {
            None => return self.without_partner(1),
            Some('(') if !label.is_empty() && self.depth < MAX_DEPTH => {}
            Some(_) => return Found::Text(1),
        }
        let Some(close) = rest.find(')') else { return self.without_partner(1) };
        let target = &rest[1..close];
        let mut spans = Vec::new();
        let inner = Self { complete: true, depth: self.depth + 1 };
        inner.read(label, style.underline(), Some('['), &mut spans);
        if !target.is_empty() && target != label {
            spans.push(Span { style: ASIDE, text: format!(" ({target})") });
        }
        Found::Part(spans, end + 1 + close + 1)
    }

    fn escaped(self, text: &str) -> Found {
        match text[1..].chars().next() {
            None => self.without_partner(1),
            Some(next) if next.is_ascii_punctuation() => {
                Found::Part(vec![Span { style: Style::new(), text: next.to_string() }], 2)
            }
            Some(_) => Found::Text(1),
        }
    }
}

fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|character| *character == mark).count()
}

fn push(spans: &mut Vec<Span>, style: Style, plain: &mut String) {
    if !plain.is_empty() {
        spans.push(Span { style, text: std::mem::take(plain) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans as `style:text`, then what is held back.
    fn shown(text: &str, complete: bool) -> String {
        let mut spans = Vec::new();
        let read = read(text, complete, Style::new(), None, &mut spans);
        let name = |style: Style| match style {
            style if style == CODE => "code",
            style if style == ASIDE => "aside",
            style if style == Style::new().bold() => "bold",
            style if style == Style::new().italic() => "italic",
            style if style == Style::new().bold().italic() => "both",
            style if style == Style::new().underline() => "link",
            _ => "",
        };
        let mut parts: Vec<String> =
            spans.iter().map(|span| format!("{}:{}", name(span.style), span.text)).collect();
        if read < text.len() {
            parts.push(format!("held:{}", &text[read..]));
        }
        parts.join("|")
    }

    #[test]
    fn marks_with_partners_become_styles() {
        assert_eq!(shown("a **b c** d", true), ":a |bold:b c|: d");
        assert_eq!(shown("*i* _j_", true), "italic:i|: |italic:j");
        assert_eq!(shown("***x***", true), "both:x");
        assert_eq!(shown("`a*b` ``c`d``", true), "code:a*b|: |code:c`d");
        assert_eq!(shown("**a `**` b**", true), "bold:a |code:**|bold: b");
        assert_eq!(shown("**a *b* c**", true), "bold:a |both:b|bold: c");
        assert_eq!(shown("[the docs](https://x.y)", true), "link:the docs|aside: (https://x.y)");
        assert_eq!(shown("\\*not\\*", true), ":*|:not|:*");
    }

    #[test]
    fn marks_without_partners_are_text() {
        for text in
            ["2 * 3 * 4", "use *args and **kwargs", "snake_case_name", "a[0] and b[1]", "one ` tick", "**"]
        {
            assert_eq!(shown(text, true), format!(":{text}"));
        }
    }

    #[test]
    fn what_may_turn_out_otherwise_is_held_back() {
        assert_eq!(shown("a **b", false), ":a |held:**b");
        assert_eq!(shown("a **b*", false), ":a |held:**b*");
        assert_eq!(shown("a *b*", false), ":a |held:*b*");
        assert_eq!(shown("see [docs](http", false), ":see |held:[docs](http");
        assert_eq!(shown("`x`", false), "held:`x`");
        assert_eq!(shown("`x` ", false), "code:x|: ");
        assert_eq!(shown("plain", false), ":plain");
    }

    #[test]
    fn nobody_waits_for_a_partner_for_ever() {
        let text = format!("*a{}", "b".repeat(MAX_HELD));
        assert_eq!(shown(&text, false), format!(":{text}"));
    }
}
