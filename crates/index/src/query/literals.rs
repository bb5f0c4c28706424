//! What a line must contain to match an expression: parts of words.
//!
//! Knows regular expressions as trees. What it gives is necessary and never sufficient: files without it need not be
//! read, files with it are.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A part shorter than this is in too many words to be of use.
const MIN_PART: usize = 3;

/// How many parts are looked for: each one more rules out fewer files.
const MAX_PARTS: usize = 3;

/// A part of a word that every match contains, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Whether it is a whole word, as far as can be told.
    pub(super) is_whole: bool,
}

/// The parts of words that a text contains wherever it occurs.
pub(super) fn of_phrase(text: &str) -> Vec<Part> {
    best(parts(text))
}

/// The parts of words that every match of an expression contains. None, if nothing can be said.
pub(super) fn of_regex(pattern: &str) -> Vec<Part> {
    let parsed = ParserBuilder::new().utf8(false).build().parse(pattern);
    let Ok(hir) = parsed else { return Vec::new() };
    let mut required = Required::default();
    required.visit(&hir);
    required.cut();
    // What stands before and after a literal is not known, so its first and last word may go on.
    best(required.literals.iter().flat_map(|literal| parts(literal)).collect())
}

fn best(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| part.text.len() >= MIN_PART && part.text.is_ascii());
    parts.sort_by_key(|part| (!part.is_whole, std::cmp::Reverse(part.text.len())));
    parts.dedup();
    parts.truncate(MAX_PARTS);
    parts
}

/// The runs of word characters in a text; those at its ends may go on.
fn parts(text: &str) -> Vec<Part> {
    let lower = text.to_lowercase();
    let mut parts = Vec::new();
    let mut start = None;
    for (at, char) in lower.char_indices().chain([(lower.len(), ' ')]) {
        match (start, crate::words::is_word(char)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let is_whole = from > 0 && at < lower.len();
                parts.push(Part { text: lower[from..at].to_owned(), is_whole });
                start = None;
            }
            _ => {}
        }
    }
    parts
}

/// Literals that every match contains.
#[derive(Default)]
struct Required {
    literals: Vec<String>,
    /// The literal that is being put together.
    open: String,
}

impl Required {
    fn visit(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.open.push_str(text),
                Err(_) => self.cut(),
            },
            HirKind::Class(class) => match one_letter(class) {
                Some(letter) => self.open.push(letter),
                None => self.cut(),
            },
            HirKind::Capture(capture) => self.visit(&capture.sub),
            HirKind::Concat(all) => all.iter().for_each(|hir| self.visit(hir)),
            // Where nothing is matched nothing stands between.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                self.cut();
                self.visit(&repetition.sub);
                self.cut();
            }
            HirKind::Repetition(_) | HirKind::Alternation(_) => self.cut(),
        }
    }

    fn cut(&mut self) {
        if !self.open.is_empty() {
            self.literals.push(std::mem::take(&mut self.open));
        }
    }
}

/// The letter that a class is, apart from its case.
fn one_letter(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let mut letter = None;
    for range in class.iter() {
        if range.len() > 2 {
            return None;
        }
        for char in range.start()..=range.end() {
            // Two signs that are taken for a `k` and an `s` without regard to case; our words do the same.
            let lower = match char {
                'ſ' => 's',
                '\u{212a}' => 'k',
                char => char.to_ascii_lowercase(),
            };
            match letter {
                None => letter = Some(lower),
                Some(letter) if letter == lower => {}
                Some(_) => return None,
            }
        }
    }
    letter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[Part]) -> String {
        let each = parts.iter().map(|part| format!("{}{}", part.text, if part.is_whole { "!" } else { "" }));
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parts_of_phrases_and_expressions() {
        assert_eq!(shown(&of_phrase("let mut value = read_file")), "value! mut! read_file");
        assert_eq!(shown(&of_phrase("ab")), "");
        let check =
            |pattern: &str, expected: &str| assert_eq!(shown(&of_regex(pattern)), expected, "{pattern}");
        check("fn read_\\w+", "read_");
        check("foo.*barbaz", "barbaz foo");
        check("(?i)FooBar", "foobar");
        check("foo|bar", "");
        check("(abc)+def", "abc def");
        check("(abc)?def", "def");
        check("\\bname\\b", "name");
        check("x{3}yy", "");
        check("[Ff]oobar", "foobar");
        check("struct Thing \\{", "thing! struct");
        check("(", "");
    }
}
