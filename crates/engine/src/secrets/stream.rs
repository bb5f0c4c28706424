//! Masking text that comes in pieces.
//!
//! A secret may be cut anywhere, so the end of what came is held back while it could be the beginning of one: the last
//! word, a name that a value may follow, a private key that has not ended. What is held is bounded; a secret longer
//! than the bounds may be cut.
//!
//! What always holds: pushed pieces and the end together give what masking the whole text gives, within the bounds.

use std::sync::LazyLock;

use regex::Regex;

use super::Masker;
use super::formats::{BEGINNINGS, KEY_BEGINS};

/// A word without a blank in it is held until it is longer than this. Tokens are shorter.
const MOST_HELD: usize = 8 * 1024;
/// How much of a longer word stays held, so that a secret at its end is not cut.
const KEPT_OF_LONG_WORD: usize = 1024;
/// A private key is held until it is longer than this. The largest in use have a quarter of it.
const MOST_OF_A_KEY: usize = 32 * 1024;
/// How far back a name is looked for that a value may follow.
const CONTEXT: usize = 256;

/// Masks text that comes in pieces.
#[derive(Debug)]
pub struct MaskStream {
    masker: Masker,
    held: String,
}

impl MaskStream {
    pub(super) fn new(masker: Masker) -> Self {
        Self { masker, held: String::new() }
    }

    /// Takes a piece and gives what can be told already.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let end = self.settled();
        self.give(end)
    }

    /// Gives what is held unless it looks like the beginning of a secret. For when nothing came for a while and people
    /// are watching.
    pub fn release(&mut self) -> String {
        let settled = self.settled();
        let rest = &self.held[settled..];
        let end = if self.may_begin_secret(rest) { settled } else { self.held.len() };
        self.give(end)
    }

    /// Gives the rest.
    pub fn finish(mut self) -> String {
        let end = self.held.len();
        self.give(end)
    }

    fn give(&mut self, end: usize) -> String {
        let rest = self.held.split_off(end);
        let settled = std::mem::replace(&mut self.held, rest);
        self.masker.mask(&settled).into_owned()
    }

    /// How much of what is held can no longer become part of a secret.
    fn settled(&self) -> usize {
        let held = self.held.as_str();
        let last_word = held
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + held[at..].chars().next().map_or(1, char::len_utf8));
        let end = [Some(last_word), context_start(held), self.value_start(held)]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(0);
        let end = match key_start(held) {
            Some(start) if held.len() - start <= MOST_OF_A_KEY => return end.min(start),
            _ => end,
        };
        if held.len() - end <= MOST_HELD { end } else { floor_boundary(held, held.len() - KEPT_OF_LONG_WORD) }
    }

    /// Where a value we were told may begin that has not come to its end.
    fn value_start(&self, held: &str) -> Option<usize> {
        let begun = |value: &String| {
            let ends = value.char_indices().map(|(at, _)| at).skip(1).filter(|&at| at <= held.len());
            ends.filter(|&at| held.as_bytes().ends_with(&value.as_bytes()[..at]))
                .max()
                .map(|length| held.len() - length)
        };
        self.masker.values().iter().filter_map(begun).min()
    }

    fn may_begin_secret(&self, rest: &str) -> bool {
        let begins = |beginning: &&str| rest.contains(*beginning) || ends_with_part_of(rest, beginning);
        let in_url = rest.rfind("://").is_some_and(|at| !rest[at + 3..].contains(['/', '@']));
        in_url
            || key_start(rest).is_some()
            || context_start(rest).is_some()
            || self.value_start(rest).is_some()
            || BEGINNINGS.iter().any(|beginning| begins(&beginning))
    }
}

/// Whether a text ends with the first letters of a beginning, at the start of a word.
fn ends_with_part_of(text: &str, beginning: &str) -> bool {
    (1..beginning.len()).any(|length| {
        text.strip_suffix(&beginning[..length])
            .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Where a private key begins that has not come to its end.
fn key_start(held: &str) -> Option<usize> {
    static ENDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----").expect("the expression is tested")
    });
    static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY(?: BLOCK)?-----|-{0,5}$)")
            .expect("the expression is tested")
    });
    let last = held.rfind(KEY_BEGINS)?;
    let begins = BEGINS.find_at(held, last)?;
    (!ENDS.is_match(&held[begins.end()..])).then_some(begins.start())
}

/// Where a name begins, at the end of a text, that is followed by nothing yet or by the beginning of a value.
fn context_start(held: &str) -> Option<usize> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?ix)
            [a-z0-9_.-]* (?: password | passwd | passphrase | secret | token | api_?key | access_?key | private_?key | auth_?key
                | credentials? | authorization ) ["']? [\x20\t]*
            (?: (?: => | := | [=:] ) [\x20\t]* ["']? (?: (?: bearer | basic | digest | token ) [\x20\t]* )? [^\s"']* )? $
            | \b bearer [\x20\t]* \S* $
            "#,
        )
        .expect("the expression is tested")
    });
    let from = floor_boundary(held, held.len().saturating_sub(CONTEXT));
    NAME.find(&held[from..]).map(|found| from + found.start())
}

/// The nearest place at or before `at` where a character begins.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
