//! Source text without its comments and strings, so that braces and words in what is left are code.
//!
//! Knows how languages quote, roughly: what it gets wrong makes a hint longer or shorter, and nothing else. What always
//! holds: the result has the same length and the same lines.

use crate::turn::gather::language::Language;

/// The text with everything in comments and strings replaced by spaces.
pub(super) fn plain(text: &str, language: Language) -> Vec<u8> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, out: text.as_bytes().to_vec(), language };
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    scanner.out
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
    language: Language,
}

impl Scanner<'_> {
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        let has_braces = self.language.has_braces();
        let end = match rest[0] {
            b'/' if has_braces && rest.starts_with(b"//") => line_end(rest),
            b'/' if has_braces && rest.starts_with(b"/*") => after(rest, 2, b"*/"),
            b'/' if self.language == Language::Script && self.may_be_expression() => {
                string(rest, b'/', false)
            }
            b'#' if !has_braces => line_end(rest),
            b'"' | b'\'' if self.language == Language::Python && is_triple(rest) => {
                after(rest, 3, &rest[..3])
            }
            b'"' => string(rest, b'"', self.language == Language::Rust),
            b'\'' if self.language == Language::Rust => character(rest),
            b'\'' => string(rest, b'\'', false),
            b'`' if matches!(self.language, Language::Script | Language::Go) => string(rest, b'`', true),
            b'r' if self.language == Language::Rust && !self.is_in_word() => raw(rest),
            _ => 0,
        };
        let end = self.at + end.min(rest.len());
        for byte in &mut self.out[self.at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        self.at = end.max(self.at + 1);
    }

    fn is_in_word(&self) -> bool {
        self.at > 0 && (self.bytes[self.at - 1].is_ascii_alphanumeric() || self.bytes[self.at - 1] == b'_')
    }

    /// Whether a slash here begins a regular expression and divides nothing: a value never follows these.
    fn may_be_expression(&self) -> bool {
        let before = self.out[..self.at].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        before.is_none_or(|byte| b"(,=:[!&|?{};".contains(byte))
    }
}

fn line_end(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Where the next such end is over, looked for from a place on.
fn after(rest: &[u8], from: usize, end: &[u8]) -> usize {
    let found = rest[from.min(rest.len())..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |place| from + place + end.len())
}

/// Where a string is over. One that may not hold a line's end and does is none.
fn string(rest: &[u8], quote: u8, spans_lines: bool) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' if !spans_lines => return 0,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    if spans_lines { rest.len() } else { 0 }
}

/// A character of Rust, or nothing if it is a lifetime.
fn character(rest: &[u8]) -> usize {
    /// The longest is `'\u{10ffff}'`.
    const LONGEST: usize = 12;
    let end = rest.len().min(LONGEST);
    match rest.get(1) {
        Some(b'\\') => {
            rest[..end].iter().skip(3).position(|byte| *byte == b'\'').map_or(0, |place| place + 4)
        }
        Some(first) => {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        None => 0,
    }
}

/// A raw string of Rust, or nothing.
fn raw(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.extend(std::iter::repeat_n(b'#', hashes));
    after(rest, 2 + hashes, &end)
}

fn is_triple(rest: &[u8]) -> bool {
    rest.len() >= 3 && rest[1] == rest[0] && rest[2] == rest[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_become_spaces() {
        let check = |language, text: &str, expected: &str| {
            let told = String::from_utf8(plain(text, language)).expect("text");
            assert_eq!(told.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
            assert_eq!(told.len(), text.len());
        };
        check(Language::Rust, "a('{', '\\'', '\\u{7b}', 'ä') // {\nb", "a( , , , ) b");
        check(Language::Rust, "fn a<'a>(x: &'a str) { r#\"}\"# } /* } */ c", "fn a<'a>(x: &'a str) { } c");
        check(Language::Rust, "bar\"x\" \"two\nlines {\" d", "bar d");
        check(Language::Python, "a = '''x\n{''' # {\nb = '\\''", "a = b =");
        check(Language::Script, "a = `{\n${b}`; c = x / 2; d(/[\"{]/g)", "a = ; c = x / 2; d( g)");
        check(Language::Go, "a := `\"{`", "a :=");
        check(Language::C, "char c = '{'; it's", "char c = ; it's");
        check(Language::Rust, "\"never ends", "");
    }
}
