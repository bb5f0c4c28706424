//! Source text without its comments and strings, so that braces and words in what is left are code.
//!
//! Knows how languages quote, roughly: what it gets wrong makes a hint longer or shorter, and nothing else. What always
//! holds: the result has the same length and the same lines, and no byte is looked at more than a few times, whatever the
//! text is.

use std::collections::BTreeMap;

use crate::turn::gather::language::Language;

/// How often a byte is looked at: to go on, and for each quote that may turn out to begin nothing.
const MOST_LOOKS: usize = 4;

/// The text with everything in comments and strings replaced by spaces.
pub(super) fn plain(text: &str, language: Language) -> Vec<u8> {
    let mut scanner = Scanner::new(text, language);
    scanner.run();
    scanner.out
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
    language: Language,
    /// The last byte so far that is neither blank nor in a comment or a string.
    last: Option<u8>,
    /// The quotes that nothing closed, and where that was known: before that, others would end there as well.
    unclosed: BTreeMap<u8, usize>,
    /// How many bytes were looked at, each as often as it was.
    looked: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            out: text.as_bytes().to_vec(),
            language,
            last: None,
            unclosed: BTreeMap::new(),
            looked: 0,
        }
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            self.step();
        }
        debug_assert!(self.looked <= MOST_LOOKS * self.bytes.len(), "{} looks", self.looked);
    }

    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        let has_braces = self.language.has_braces();
        let end = match rest[0] {
            b'/' if has_braces && rest.starts_with(b"//") => line_end(rest),
            b'/' if has_braces && rest.starts_with(b"/*") => after(rest, 2, b"*/"),
            b'/' if self.language == Language::Script && self.may_be_expression() => {
                self.string_on_line(b'/')
            }
            b'#' if !has_braces => line_end(rest),
            b'"' | b'\'' if self.language == Language::Python && is_triple(rest) => {
                after(rest, 3, &rest[..3])
            }
            b'"' if self.language == Language::Rust => string(rest, b'"'),
            b'\'' if self.language == Language::Rust => character(rest),
            quote @ (b'"' | b'\'') => self.string_on_line(quote),
            b'`' if matches!(self.language, Language::Script | Language::Go) => string(rest, b'`'),
            b'r' if self.language == Language::Rust && !self.is_in_word() => raw(rest),
            _ => 0,
        };
        let end = self.at + end.min(rest.len());
        if end == self.at && !rest[0].is_ascii_whitespace() {
            self.last = Some(rest[0]);
        }
        for byte in &mut self.out[self.at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        let next = end.max(self.at + 1);
        self.looked += next - self.at;
        self.at = next;
    }

    fn is_in_word(&self) -> bool {
        self.at > 0 && (self.bytes[self.at - 1].is_ascii_alphanumeric() || self.bytes[self.at - 1] == b'_')
    }

    /// Whether a slash here begins a regular expression and divides nothing: a value never follows these.
    fn may_be_expression(&self) -> bool {
        self.last.is_none_or(|byte| b"(,=:[!&|?{};".contains(&byte))
    }

    /// How long the string here is; nothing if the line ends first, since then it is none.
    fn string_on_line(&mut self, quote: u8) -> usize {
        if self.unclosed.get(&quote).is_some_and(|until| self.at < *until) {
            return 0;
        }
        let rest = &self.bytes[self.at..];
        let end = closing(rest, |byte| byte == quote || byte == b'\n');
        if rest.get(end) == Some(&quote) {
            return end + 1;
        }
        self.looked += end;
        self.unclosed.insert(quote, self.at + end);
        0
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

/// How long a string is that may hold the ends of lines.
fn string(rest: &[u8], quote: u8) -> usize {
    closing(rest, |byte| byte == quote) + 1
}

/// Where the first byte is that ends a string and is not escaped, behind the first; the text's end if there is none.
fn closing(rest: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            byte if ends(byte) => return at,
            _ => {}
        }
        at += 1;
    }
    rest.len()
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
        check(Language::C, "it's \"{\" x", "it's x");
        check(Language::Script, "a = 'b\\\nc{' + /}/ + x\n/{/", "a = + /}/ + x /{/");
    }

    #[test]
    fn no_byte_is_looked_at_more_than_a_few_times() {
        let languages = [
            Language::Rust,
            Language::Python,
            Language::Script,
            Language::Go,
            Language::Java,
            Language::C,
            Language::Braces,
            Language::Indented,
        ];
        let parts = [
            "/a/ ",
            "/ ",
            "(/",
            "\\/",
            "'",
            "\\'",
            "\"",
            "\\\"",
            "`",
            "\\`",
            "'\"",
            "\\'\\\"",
            "\\\n'",
            "'\\\n",
            "r#",
            "r\"",
            "r##\"",
            "\"#",
            "'''",
            "\"\"\"'",
            "/*",
            "*/",
            "//",
            "#",
            "\\",
            " ",
            "x = '\\'\n",
        ];
        let pairs = parts.iter().flat_map(|first| parts.map(|part| (*first, part)));
        for (language, (first, part)) in
            languages.into_iter().flat_map(|language| pairs.clone().map(move |pair| (language, pair)))
        {
            let text = format!("{first}{}", part.repeat(512));
            let mut scanner = Scanner::new(&text, language);
            scanner.run();
            let (looked, most) = (scanner.looked, MOST_LOOKS * text.len());
            assert!(looked <= most, "{looked} of {most}: {first:?} {part:?} in {language:?}");
        }
    }
}
