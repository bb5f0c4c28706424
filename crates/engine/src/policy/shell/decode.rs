//! Taking quotes and escapes away from words.
//!
//! Knows every kind of quoting and where substitutions begin and end. Refuses to expand anything but the home and
//! working directory, and those only as a guess.
//!
//! What always holds: a word comes out [`Certainty::Known`] only if every shell makes the same text of it. A word
//! whose end two shells could see in different places comes out odd.

use super::ansi;
use super::extent;
use super::word::{Certainty, HOLE, Word};

/// What variables and `~` stand for, as a guess.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surroundings<'a> {
    pub(super) home: Option<&'a str>,
    pub(super) directory: Option<&'a str>,
}

/// A word, and the scripts inside it.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) word: Word,
    /// The text of every command substitution.
    pub(super) scripts: Vec<String>,
    /// Why it cannot be read, if it cannot.
    pub(super) odd: Option<&'static str>,
}

/// Takes quotes and escapes away from a word as it stands in a line.
pub(super) fn decode(raw: &str, surroundings: Surroundings<'_>) -> Decoded {
    let mut decoder = Decoder::new(raw, surroundings);
    decoder.unquoted();
    decoder.finish()
}

/// The scripts inside a text that the shell expands without splitting it into words: here-documents, arithmetic,
/// what stands between `${` and `}`. Quotes are not believed there, since not every shell does.
pub(super) fn scripts_in(text: &str) -> Decoded {
    let mut decoder = Decoder::new(text, Surroundings::default());
    decoder.expanded_text();
    decoder.finish()
}

/// What a `$` or a backquote stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

struct Decoder<'a> {
    rest: &'a str,
    surroundings: Surroundings<'a>,
    text: String,
    certainty: Certainty,
    scripts: Vec<String>,
    odd: Option<&'static str>,
}

impl<'a> Decoder<'a> {
    fn new(raw: &'a str, surroundings: Surroundings<'a>) -> Self {
        Self {
            rest: raw,
            surroundings,
            text: String::new(),
            certainty: Certainty::Known,
            scripts: Vec::new(),
            odd: None,
        }
    }

    fn finish(self) -> Decoded {
        let certainty = if self.odd.is_some() { Certainty::Unknown } else { self.certainty };
        Decoded { word: Word { text: self.text, certainty }, scripts: self.scripts, odd: self.odd }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Makes the word less certain, never more.
    fn doubt(&mut self, certainty: Certainty) {
        self.certainty = self.certainty.max(certainty);
    }

    fn hole(&mut self) {
        self.doubt(Certainty::Unknown);
        self.text.push(HOLE);
    }

    fn is_odd(&mut self, why: &'static str) {
        self.odd.get_or_insert(why);
    }

    fn unquoted(&mut self) {
        let mut in_braces = false;
        let mut in_brackets = false;
        self.tilde();
        // zsh looks up a command's path, and an interactive bash edits the last line.
        if self.rest.starts_with(['=', '^']) {
            self.doubt(Certainty::Guessed);
        }
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(escaped) => self.text.push(escaped),
                    None => self.is_odd("a backslash ends the line"),
                },
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' => self.dollar(Quotes::None),
                '`' => self.backquoted(Quotes::None),
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                    self.is_odd("shells disagree on where a word of it ends");
                    self.text.push(c);
                }
                _ => {
                    match c {
                        '*' | '?' => self.doubt(Certainty::Glob),
                        '[' => in_brackets = true,
                        ']' if in_brackets => self.doubt(Certainty::Glob),
                        '{' => in_braces = true,
                        ',' if in_braces => self.doubt(Certainty::Unknown),
                        '.' if in_braces && self.rest.starts_with('.') => self.doubt(Certainty::Unknown),
                        // `!` brings back an earlier line, in a terminal.
                        '!' if !self.rest.is_empty() => self.doubt(Certainty::Guessed),
                        '~' if self.text.ends_with(['=', ':']) => self.doubt(Certainty::Guessed),
                        _ => {}
                    }
                    self.text.push(c);
                }
            }
        }
    }

    fn tilde(&mut self) {
        let Some(rest) = self.rest.strip_prefix('~') else { return };
        let user_ends = rest.find('/').unwrap_or(rest.len());
        let stands_for = match &rest[..user_ends] {
            "" => self.surroundings.home,
            "+" => self.surroundings.directory,
            _ => None,
        };
        match stands_for {
            Some(directory) => {
                self.text.push_str(directory);
                self.doubt(Certainty::Guessed);
            }
            None => self.hole(),
        }
        self.rest = &rest[user_ends..];
    }

    fn single_quoted(&mut self) {
        match self.rest.split_once('\'') {
            Some((inside, rest)) => {
                self.text.push_str(inside);
                self.rest = rest;
            }
            None => {
                self.is_odd("a quote is never closed");
                self.rest = "";
            }
        }
    }

    fn double_quoted(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => match self.peek() {
                    Some('\n') => {
                        self.next();
                    }
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        self.next();
                        self.text.push(escaped);
                    }
                    _ => self.text.push('\\'),
                },
                '$' => self.dollar(Quotes::Double),
                '`' => self.backquoted(Quotes::Double),
                _ => {
                    if c == '!' && !self.rest.starts_with(['"', ' ', '=']) {
                        self.doubt(Certainty::Guessed);
                    }
                    self.text.push(c);
                }
            }
        }
        self.is_odd("a quote is never closed");
    }

    /// Text in which only `$`, backquotes and backslashes mean something.
    fn expanded_text(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    self.text.push(c);
                    let escaped = self.next();
                    self.text.extend(escaped);
                }
                '$' => self.dollar(Quotes::Double),
                '`' => self.backquoted(Quotes::None),
                _ => self.text.push(c),
            }
        }
    }

    /// What follows a `$`.
    fn dollar(&mut self, quotes: Quotes) {
        if self.take("(") {
            self.substitution();
        } else if self.take("{") {
            self.braced_parameter();
        } else if self.take("[") {
            let inside = self.enclosed(extent::of_brackets(self.rest));
            self.look_into(inside);
            self.hole();
        } else if quotes == Quotes::None && self.take("'") {
            // dash knows no such quotes.
            self.doubt(Certainty::Guessed);
            self.ansi_c_quoted();
        } else if quotes == Quotes::None && self.take("\"") {
            self.doubt(Certainty::Guessed);
            self.double_quoted();
        } else {
            self.parameter();
        }
    }

    fn parameter(&mut self) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let ends = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at(ends);
                self.rest = rest;
                self.variable(name);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.next();
                self.hole();
            }
            _ => self.text.push('$'),
        }
    }

    fn variable(&mut self, name: &str) {
        let stands_for = match name {
            "HOME" => self.surroundings.home,
            "PWD" => self.surroundings.directory,
            _ => None,
        };
        match stands_for {
            Some(directory) => {
                self.text.push_str(directory);
                self.doubt(Certainty::Guessed);
            }
            None => self.hole(),
        }
    }

    fn braced_parameter(&mut self) {
        match self.enclosed(extent::of_braces(self.rest)) {
            name @ ("HOME" | "PWD") => self.variable(name),
            inside => {
                self.look_into(inside);
                self.hole();
            }
        }
    }

    /// What stands after `$(`, which may be arithmetic if it stands after `$((`.
    fn substitution(&mut self) {
        let inside = self.enclosed(extent::of_parentheses(self.rest));
        let arithmetic = inside
            .strip_prefix('(')
            .and_then(|inside| inside.strip_suffix(')'))
            .filter(|inside| is_balanced(inside));
        if let Some(arithmetic) = arithmetic {
            self.look_into(arithmetic);
        }
        // With quotes inside, shells may disagree on what is balanced: then it is both.
        if arithmetic.is_none_or(|inside| inside.contains(['\'', '"', '\\'])) {
            self.scripts.push(inside.to_owned());
        }
        self.hole();
    }

    fn look_into(&mut self, text: &str) {
        let inside = scripts_in(text);
        self.scripts.extend(inside.scripts);
        if let Some(why) = inside.odd {
            self.is_odd(why);
        }
    }

    fn backquoted(&mut self, quotes: Quotes) {
        let mut script = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => script.push(c),
                    Some('"') if quotes == Quotes::Double => script.push('"'),
                    Some(c) => script.extend(['\\', c]),
                    None => {}
                },
                Some(c) => script.push(c),
                None => {
                    self.is_odd("a backquote is never closed");
                    break;
                }
            }
        }
        self.scripts.push(script);
        self.hole();
    }

    fn ansi_c_quoted(&mut self) {
        let quoted = ansi::decode(self.rest);
        self.text.push_str(&quoted.text);
        self.rest = quoted.rest;
        if quoted.text.contains(HOLE) {
            self.doubt(Certainty::Unknown);
        }
        if !quoted.closed {
            self.is_odd("a quote is never closed");
        }
    }

    /// Takes the text up to its closing character, and that character.
    fn enclosed(&mut self, ends: Result<usize, &'static str>) -> &'a str {
        match ends {
            Ok(ends) => {
                let inside = &self.rest[..ends];
                self.rest = &self.rest[ends + 1..];
                inside
            }
            Err(why) => {
                self.is_odd(why);
                std::mem::take(&mut self.rest)
            }
        }
    }
}

/// Whether every parenthesis has its partner. If not, shells take `$((…))` for a command.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}
