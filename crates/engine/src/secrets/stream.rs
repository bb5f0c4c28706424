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
use super::formats::{BEGINNINGS, KEY_BEGINS, NAMES, Secret};

/// No more than this is held. The largest keys in use have half of it, tokens much less.
const MOST_HELD: usize = 8 * 1024;
/// How much stays held when there is more, so that a secret at the end of a long word is not cut.
const KEPT_OF_LONG_WORD: usize = 1024;
/// How far back a name is looked for that a value may follow.
const CONTEXT: usize = 256;

/// Masks text that comes in pieces.
#[derive(Debug)]
pub struct MaskStream {
    masker: Masker,
    held: String,
    /// So much of what is held was told by somebody else and is only looked at.
    told: usize,
}

impl MaskStream {
    pub(super) fn new(masker: Masker) -> Self {
        Self::after(masker, "")
    }

    /// For what follows a text that was told already.
    pub(super) fn after(masker: Masker, told: &str) -> Self {
        Self { masker, held: told.to_owned(), told: told.len() }
    }

    /// Whether all that came has been given.
    pub(super) fn holds_nothing(&self) -> bool {
        self.held.len() == self.told
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
        let told = self.told.min(end);
        self.told -= told;
        self.masker.mask_after(&settled, told).into_owned()
    }

    /// How much of what is held can no longer become part of a secret. Ends between two words.
    fn settled(&self) -> usize {
        let held = self.held.as_str();
        let starts = [context_start(held), self.value_start(held), key_start(held)];
        let end = starts.into_iter().flatten().min().unwrap_or(held.len());
        let mut end = word_start(held, end);
        // What is kept together with one secret may lie in another.
        loop {
            let earlier = word_start(held, self.together(end));
            if earlier == end {
                break;
            }
            end = earlier;
        }
        if held.len() - end > MOST_HELD { floor_boundary(held, held.len() - KEPT_OF_LONG_WORD) } else { end }
    }

    /// An end that cuts no secret from that by which it is known. Only keys are longer than a line.
    fn together(&self, end: usize) -> usize {
        let before = &self.held[..end];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let from = before.rfind(KEY_BEGINS).map_or(line, |key| key.min(line));
        let is_cut = |secret: &Secret| from + secret.begins < end && end < from + secret.span.end;
        let secrets = self.masker.secrets(&self.held[from..]);
        secrets.iter().filter(|secret| is_cut(secret)).map(|secret| from + secret.begins).min().unwrap_or(end)
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

    /// Whether more text could make a secret of this.
    fn may_begin_secret(&self, rest: &str) -> bool {
        let begins = |beginning: &&str| rest.contains(*beginning) || ends_with_part_of(rest, beginning, 1);
        // Names are written with and without `_`, in small letters and capitals.
        let plain = rest.to_ascii_lowercase().replace('_', " ");
        let names = |name: &&str| {
            ends_with_part_of(&plain, name, 1) || ends_with_part_of(&plain.replace(' ', ""), name, 3)
        };
        let in_url = rest.rfind("://").is_some_and(|at| !rest[at + 3..].contains(['/', '@']));
        in_url
            || rest.ends_with([':', '/', '='])
            || context_start(rest).is_some()
            || self.value_start(rest).is_some()
            || NAMES.iter().any(names)
            || BEGINNINGS.iter().any(begins)
    }
}

/// Whether a text ends with the first letters of a word: at least so many of them, or any if a word begins there.
fn ends_with_part_of(text: &str, word: &str, inside: usize) -> bool {
    (1..=word.len()).any(|length| {
        text.strip_suffix(&word[..length])
            .is_some_and(|before| inside > 1 && length >= inside || !before.ends_with(char::is_alphanumeric))
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

/// Where the word begins that holds the place `at`, or ends there.
fn word_start(text: &str, at: usize) -> usize {
    let blank = text[..at].char_indices().rev().find(|(_, c)| c.is_whitespace());
    blank.map_or(0, |(at, c)| at + c.len_utf8())
}

/// The nearest place at or before `at` where a character begins.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
