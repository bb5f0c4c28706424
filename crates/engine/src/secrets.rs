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
mod stream;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use regex::Regex;

pub use stream::MaskStream;

/// Shorter values stand in ordinary text by chance.
const SHORTEST_VALUE: usize = 8;
/// No secret is longer; a longer value is a document.
const LONGEST_VALUE: usize = 16 * 1024;
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
#[derive(Debug, Default)]
struct Known {
    values: Vec<String>,
    regex: Option<Regex>,
}

impl Masker {
    /// Masks what looks like a secret, and these values: what the environment holds under names like `…_TOKEN`. Values
    /// of fewer than eight characters are not masked.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let fits = |value: &String| value.chars().count() >= SHORTEST_VALUE && value.len() <= LONGEST_VALUE;
        let mut values: Vec<String> = values.into_iter().filter(fits).take(MOST_VALUES).collect();
        // Of two values with the same beginning the longer one must be tried first.
        values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        values.dedup();
        let escaped: Vec<String> = values.iter().map(|value| regex::escape(value)).collect();
        let regex = (!values.is_empty()).then(|| {
            regex::RegexBuilder::new(&escaped.join("|"))
                .size_limit(4 * MOST_VALUES * LONGEST_VALUE * 32)
                .build()
                .expect("escaped texts within these bounds always compile")
        });
        Self { known: Arc::new(Known { values, regex }) }
    }

    /// The text with every secret replaced by a mark.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = self.secrets(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_by_key(|(span, _)| span.start);
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for (span, kind) in merged(spans) {
            masked.push_str(&text[at..span.start]);
            masked.push_str("[masked: ");
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

    /// Where secrets are, in no order and perhaps one inside another.
    fn secrets(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        let known = self
            .known
            .regex
            .iter()
            .flat_map(|regex| regex.find_iter(text).map(|found| (found.range(), KNOWN)));
        let mut spans: Vec<_> = known.collect();
        for format in formats::all() {
            format.find(text, &mut spans);
        }
        spans
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

/// Joins spans that overlap, under the kind of the one that begins first.
fn merged(spans: Vec<(Range<usize>, &'static str)>) -> Vec<(Range<usize>, &'static str)> {
    let mut merged: Vec<(Range<usize>, &'static str)> = Vec::with_capacity(spans.len());
    for (span, kind) in spans {
        match merged.last_mut() {
            Some((last, _)) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push((span, kind)),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
