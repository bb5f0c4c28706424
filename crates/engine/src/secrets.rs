//! Masking secrets in text on its way out: to models, into journals, to clients.
//!
//! Knows how keys and tokens look, where they stand (`Authorization: …`, `password = …`, `user:…@host`) and the values
//! it was told. Refuses to know where text comes from. A mark says what kind of secret stood there, so that people and
//! models can go on: `[masked: github token]`.
//!
//! Masking is a net, not a wall: what looks like nothing in particular passes. The wall is that files with
//! credentials are not read and commands do not see them.
//!
//! What always holds: the time is linear in the text; text without a secret comes back unchanged and uncopied;
//! masking twice changes nothing more.

mod formats;
mod pieces;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::dfa::DFA;
use aho_corasick::{AhoCorasick, MatchKind};

use formats::Secret;

pub(crate) use pieces::PieceMask;
pub use stream::MaskStream;

/// Shorter values stand in ordinary text by chance.
const SHORTEST_VALUE: usize = 8;
/// A longer value is a document. The largest keys in use are shorter.
const LONGEST_VALUE: usize = 4 * 1024;
/// More values than any environment has.
const MOST_VALUES: usize = 256;
/// The kind of a value that was told.
const KNOWN: &str = "known secret";

/// Finds secrets. Clones share what was compiled.
#[derive(Debug, Clone)]
pub struct Masker {
    known: Arc<Known>,
}

/// Values that are secret whatever they look like.
#[derive(Debug)]
struct Known {
    values: Vec<String>,
    finder: Option<AhoCorasick>,
    /// How they, and all other secrets, begin.
    beginnings: DFA,
}

/// What stands before the kind of a secret in its place.
const MARK: &str = "[masked: ";

/// Whether a secret was masked in a text.
pub(crate) fn is_masked(text: &str) -> bool {
    text.contains(MARK)
}

impl Masker {
    /// Masks what looks like a secret, and these values: what the environment holds under names like `…_TOKEN`. Values
    /// of fewer than eight characters are not masked.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let fits = |value: &String| value.chars().count() >= SHORTEST_VALUE && value.len() <= LONGEST_VALUE;
        let values: Vec<String> = values.into_iter().filter(fits).take(MOST_VALUES).collect();
        // Of two values with the same beginning the longer one is meant.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&values);
        let finder = finder.expect("so few values of this length always fit");
        let finder = (!values.is_empty()).then_some(finder);
        let beginnings = pieces::beginnings(&values);
        Self { known: Arc::new(Known { values, finder, beginnings }) }
    }

    /// The text with every secret replaced by a mark.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask_after(text, 0)
    }

    /// What comes after a part that was told already, masked. A secret that begins in that part is masked from here.
    fn mask_after<'a>(&self, text: &'a str, told: usize) -> Cow<'a, str> {
        let mut secrets = merged(self.secrets(text));
        secrets.retain(|secret| secret.span.end > told);
        if secrets.is_empty() {
            return Cow::Borrowed(&text[told..]);
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = told;
        for Secret { span, kind, .. } in secrets {
            masked.push_str(&text[at..span.start.max(told)]);
            masked.push_str(MARK);
            masked.push_str(kind);
            masked.push(']');
            at = span.end;
        }
        masked.push_str(&text[at..]);
        Cow::Owned(masked)
    }

    /// Masks text that comes in pieces.
    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.clone())
    }

    /// The same for what follows a text that was told already.
    fn stream_after(&self, told: &str) -> MaskStream {
        MaskStream::after(self.clone(), told)
    }

    /// Masks text that comes in many small pieces.
    pub(crate) fn pieces(&self) -> PieceMask {
        PieceMask::new(self.clone())
    }

    fn beginnings(&self) -> &DFA {
        &self.known.beginnings
    }

    /// What is secret in a text, in no order and perhaps one inside another.
    fn secrets(&self, text: &str) -> Vec<Secret> {
        let known = self.known.finder.iter().flat_map(|finder| finder.find_iter(text));
        let mut secrets: Vec<Secret> =
            known.map(|found| Secret { span: found.range(), begins: found.start(), kind: KNOWN }).collect();
        for format in formats::all() {
            format.find(text, &mut secrets);
        }
        secrets
    }

    /// Values that may begin at the end of one piece and go on in the next.
    fn values(&self) -> &[String] {
        &self.known.values
    }
}

impl Default for Masker {
    fn default() -> Self {
        Self::new([])
    }
}

/// In order, with those joined that overlap, under the kind of the one that begins first.
fn merged(mut secrets: Vec<Secret>) -> Vec<Secret> {
    secrets.sort_by_key(|secret| secret.span.start);
    let mut merged: Vec<Secret> = Vec::with_capacity(secrets.len());
    for secret in secrets {
        match merged.last_mut() {
            Some(last) if secret.span.start < last.span.end => {
                last.span.end = last.span.end.max(secret.span.end);
            }
            _ => merged.push(secret),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
