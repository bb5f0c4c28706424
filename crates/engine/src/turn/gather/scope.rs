//! The function around a line: text in, lines out.
//!
//! Knows how definitions look in the common languages, by their first lines, braces and indentation. Refuses to know
//! grammars: where it is wrong, a model is told a few lines too many or too few.
//!
//! What always holds: the lines are in the text, the one that was asked for is among them, and the time is bounded.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;

use crate::turn::gather::language::Language;
use crate::turn::gather::patience::Patience;
use crate::turn::gather::plain::plain;

/// How many bytes are read in all to find where definitions end: of what was never closed, each would go to the end.
const MOST_READ: usize = 4 << 20;

/// A longer line begins nothing that people wrote.
const LONGEST_LINE: usize = 4 << 10;

/// How many lines the head of a definition may have.
const LONGEST_HEAD: usize = 40;

/// How many lines are told around a line that is in no definition.
const AROUND: usize = 10;

/// A definition around a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// Its lines, counted from 1, with the comments and attributes before it.
    pub(super) lines: RangeInclusive<usize>,
    /// Its name, if it has one.
    pub(super) name: Option<String>,
}

/// The innermost function around a line, else the innermost other definition, else the lines near it.
pub(super) fn around(text: &str, line: usize, language: Language, patience: &Patience) -> Scope {
    let source = Source::new(text, language);
    let count = source.original.len().max(1);
    let line = line.clamp(1, count);
    // Who looks at the comment before a definition asks about the definition.
    let below = (line..=count).find(|number| !source.is_lead(*number)).unwrap_or(line);
    for kind in [Kind::Function, Kind::Container] {
        if let Some(scope) = source.enclosing(below, kind, patience) {
            return scope;
        }
    }
    let blank = |number: &usize| source.original[number - 1].trim().is_empty();
    let first = (line.saturating_sub(AROUND).max(1)..line)
        .rev()
        .find(blank)
        .map_or_else(|| line.saturating_sub(AROUND).max(1), |blank| blank + 1);
    let end = (line + AROUND).min(count);
    let last = (line + 1..=end).find(blank).map_or(end, |blank| blank - 1);
    Scope { lines: first..=last, name: None }
}

/// The lines of the tests that a file of Rust holds itself.
pub(super) fn inline_tests(text: &str) -> Option<RangeInclusive<usize>> {
    static TESTS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+tests?\s*\{"));
    let source = Source::new(text, Language::Rust);
    let head = source.plain.iter().position(|line| line.len() <= LONGEST_LINE && TESTS.is_match(line))?;
    let last = source.end_by_braces(head + 1, true)?;
    Some(source.lead(head + 1)..=last)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    /// A class, a type, a module.
    Container,
}

/// The first line of a definition.
struct Head {
    name: String,
    /// Whether it is one only if it has a body: a call looks the same.
    is_only_alike: bool,
}

struct Source<'a> {
    original: Vec<&'a str>,
    /// The same without comments and strings.
    plain: Vec<String>,
    language: Language,
    /// How many more bytes may be read for where something ends.
    left: Cell<usize>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        // As `str::lines` counts: what ends the last line begins no other.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let plain = plain(text, language);
        let original: Vec<&str> = text.split('\n').collect();
        let plain = plain.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
        Self { plain: plain.collect(), original, language, left: Cell::new(MOST_READ) }
    }

    fn enclosing(&self, line: usize, kind: Kind, patience: &Patience) -> Option<Scope> {
        (1..=line).rev().take_while(|number| patience.lasts_at(*number)).find_map(|number| {
            let head = self.head(number, kind)?;
            let last = match self.language.has_braces() {
                true => self.end_by_braces(number, head.is_only_alike)?,
                false => self.end_by_indentation(number)?,
            };
            let name = Some(head.name).filter(|name| !name.is_empty());
            (last >= line).then(|| Scope { lines: self.lead(number)..=last, name })
        })
    }

    /// What begins on a line, if something of this kind does.
    fn head(&self, number: usize, kind: Kind) -> Option<Head> {
        let line = self.plain[number - 1].as_str();
        if line.len() > LONGEST_LINE {
            return None;
        }
        let (certain, is_like_c): (&[&Regex], bool) = match (kind, self.language) {
            (Kind::Container, Language::Indented) => return None,
            (Kind::Container, _) => (&[&CONTAINER], false),
            (Kind::Function, Language::Rust) => (&[&RUST], false),
            (Kind::Function, Language::Python) => (&[&PYTHON], false),
            (Kind::Function, Language::Go) => (&[&GO], false),
            (Kind::Function, Language::Script) => (&[&SCRIPT_FUNCTION, &SCRIPT_ARROW], true),
            (Kind::Function, Language::Java | Language::C | Language::Braces) => (&[], true),
            (Kind::Function, Language::Indented) => (&[&WORD], false),
        };
        let named =
            |captures: regex::Captures<'_>| captures.name("name").map_or("", |name| name.as_str()).to_owned();
        if let Some(captures) = certain.iter().find_map(|pattern| pattern.captures(line)) {
            return Some(Head { name: named(captures), is_only_alike: false });
        }
        // `else if (…) {` and the like look like methods.
        let words = || line.split('(').next().unwrap_or_default().split(|char: char| !char.is_alphanumeric());
        if !is_like_c || words().any(|word| STATEMENTS.contains(&word)) {
            return None;
        }
        METHOD.captures(line).map(|captures| Head { name: named(captures), is_only_alike: true })
    }

    /// The line with the brace that closes what begins on a line; the line with the semicolon, if that comes first and
    /// something may do without a body.
    fn end_by_braces(&self, head: usize, needs_body: bool) -> Option<usize> {
        let (mut parens, mut braces, mut opened) = (0_i32, 0_i32, false);
        for number in head..=self.plain.len() {
            let line = self.read(number)?.as_bytes();
            for (place, byte) in line.iter().enumerate() {
                match byte {
                    b'(' | b'[' if braces == 0 => parens += 1,
                    b')' | b']' if braces == 0 => parens -= 1,
                    b'{' if parens <= 0 => {
                        braces += 1;
                        opened = true;
                    }
                    b'}' if braces > 0 => {
                        braces -= 1;
                        // What stands between a list of arguments and the body may have braces of its own.
                        let next = || line[place + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                        if braces == 0 && next() != Some(&b'{') {
                            return Some(number);
                        }
                    }
                    // It closes what the head is in: there is no body.
                    b'}' if parens <= 0 => return None,
                    b';' if !opened && parens <= 0 => return (!needs_body).then_some(number),
                    _ => {}
                }
            }
            if !opened && number - head > LONGEST_HEAD {
                return None;
            }
        }
        None
    }

    /// A line without comments and strings; nothing once enough have been read.
    fn read(&self, number: usize) -> Option<&str> {
        let line = self.plain.get(number - 1)?;
        self.left.set(self.left.get().checked_sub(line.len() + 1)?);
        Some(line)
    }

    /// The last line that is indented deeper than the one something begins on, or closes it.
    fn end_by_indentation(&self, head: usize) -> Option<usize> {
        let depth = indentation(&self.plain[head - 1]);
        let mut parens = 0_i32;
        let mut last = head;
        let end = self.plain.len();
        for number in head..=end {
            let line = self.read(number)?;
            let is_head = number == head || parens > 0;
            for byte in line.bytes() {
                match byte {
                    b'(' | b'[' | b'{' => parens += 1,
                    b')' | b']' | b'}' => parens -= 1,
                    _ => {}
                }
            }
            let words = line.trim();
            // A comment or a string is blank here and is not in the original: its indentation says nothing.
            if words.is_empty() {
                continue;
            }
            if is_head || indentation(line) > depth {
                last = number;
                continue;
            }
            let closes = self.language != Language::Python
                && (words.starts_with("end") || words.starts_with('}') || words == "fi" || words == "done");
            return Some(if closes { number } else { self.trimmed(last, number - 1, depth) });
        }
        Some(self.trimmed(last, end, depth))
    }

    /// The last of the lines up to `end` that has something on it and is indented: a string's last line is.
    fn trimmed(&self, last: usize, end: usize, depth: usize) -> usize {
        let told = |number: &usize| {
            let line = self.original[number - 1];
            !line.trim().is_empty() && indentation(line) > depth
        };
        (last + 1..=end).rev().find(told).unwrap_or(last)
    }

    /// The first of the comments and attributes right before a line.
    fn lead(&self, head: usize) -> usize {
        (1..head).rev().take_while(|number| self.is_lead(*number)).last().unwrap_or(head)
    }

    fn is_lead(&self, number: usize) -> bool {
        let line = self.original[number - 1].trim_start();
        let starts = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        match self.language {
            Language::Rust => !line.starts_with("//!") && starts(&["//", "/*", "*", "#["]),
            Language::Python | Language::Indented => starts(&["#", "@"]),
            _ => starts(&["//", "/*", "*", "@", "template"]),
        }
    }
}

fn indentation(line: &str) -> usize {
    // A tab goes to the next eighth column, as in Python.
    line.bytes().take_while(u8::is_ascii_whitespace).fold(0, |column, byte| match byte {
        b'\t' => (column / 8 + 1) * 8,
        _ => column + 1,
    })
}

/// Words that begin or are in statements which look like the head of a method.
const STATEMENTS: [&str; 22] = [
    "if",
    "else",
    "for",
    "foreach",
    "while",
    "do",
    "switch",
    "case",
    "when",
    "match",
    "catch",
    "return",
    "throw",
    "new",
    "sizeof",
    "synchronized",
    "using",
    "lock",
    "await",
    "yield",
    "typeof",
    "class",
];

static RUST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|async|const|unsafe|extern)\s+)*fn\s+(?<name>\w+)")
});
static PYTHON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:async\s+)?def\s+(?<name>\w+)"));
static GO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^func\s*(?:\([^)]*\)\s*)?(?<name>\w+)"));
static SCRIPT_FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b\s*\*?\s*(?<name>\w*)")
});
static SCRIPT_ARROW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:export\s+)?(?:const|let|var)\s+(?<name>\w+)[^=]*=\s*(?:async\s*)?(?:function\b|\(.*$|\w+\s*=>)",
    )
});
/// A method of C's family: words, a name, and a list that no semicolon ends on the line.
static METHOD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*[\w<>\[\],.&*:~@?#\s]*?(?<name>~?\w+)\s*(?:<[^>]*>)?\s*\([^;]*$"));
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:local\s+)?(?:defp?|defmacro|function|func|fun|fn|sub|proc|task|test|it|describe)\b\s*(?<name>[\w.:?!]*)",
    )
});
static CONTAINER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:[\w()]+\s+)*?(?:struct|enum|union|trait|impl|mod|class|interface|type|namespace|object|record|module|message)\b(?:\s*<[^>]*>)?\s*(?<name>\w*)",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the expression is right")
}

#[cfg(test)]
mod tests;
