//! Masking a reply, which comes in thousands of small pieces that hold no secret.
//!
//! A piece is looked at byte by byte, by an automaton that knows how secrets begin and which names they follow. Only
//! from such a place on is the text given to a [`MaskStream`], which may hold some of it back, until it holds
//! nothing any more. So a piece costs a few nanoseconds where masking it would cost some microseconds.
//!
//! What always holds: what was told and what is told next are one text; a secret that was begun before it could be
//! known is masked from there on.

use std::borrow::Cow;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;

use super::formats::{BEGINNINGS, NAMES};
use super::{MaskStream, Masker};

/// How much of what was told is looked at again when a secret may have begun: the longest name and what joins it.
const BEFORE: usize = 64;

/// A value we were told begins when so many of its bytes stand there; fewer stand everywhere.
const OF_VALUE: usize = 4;

/// Names as they are also written.
const OTHER_NAMES: &[&str] = &["access_key", "api_key", "auth_key", "auth_token", "private_key"];

/// What stands before names and passwords in an address.
const IN_ADDRESS: &str = "://";

/// Masks text that comes in small pieces.
#[derive(Debug)]
pub(crate) struct PieceMask {
    masker: Masker,
    state: StateID,
    /// While there may be a secret.
    careful: Option<MaskStream>,
}

impl PieceMask {
    pub(super) fn new(masker: Masker) -> Self {
        let state = start(masker.beginnings());
        Self { masker, state, careful: None }
    }

    /// Takes a piece, after all that was told of the text, and gives what can be told of it already.
    pub(crate) fn push<'a>(&mut self, told: &str, piece: &'a str) -> Cow<'a, str> {
        if self.careful.is_none() && !self.may_begin_secret(piece) {
            return Cow::Borrowed(piece);
        }
        let before = || &told[told.ceil_char_boundary(told.len().saturating_sub(BEFORE))..];
        let careful = self.careful.get_or_insert_with(|| self.masker.stream_after(before()));
        let mut text = careful.push(piece);
        text.push_str(&careful.release());
        if careful.holds_nothing() {
            self.careful = None;
            self.state = start(self.masker.beginnings());
            // What it has just seen may be the beginning of a beginning.
            self.may_begin_secret(&text[text.ceil_char_boundary(text.len().saturating_sub(BEFORE))..]);
        }
        Cow::Owned(text)
    }

    /// Gives the rest, and can begin with another text.
    pub(crate) fn finish(&mut self) -> String {
        self.state = start(self.masker.beginnings());
        self.careful.take().map_or_else(String::new, MaskStream::finish)
    }

    fn may_begin_secret(&mut self, piece: &str) -> bool {
        let beginnings = self.masker.beginnings();
        let mut may = false;
        for byte in piece.bytes() {
            self.state = beginnings.next_state(Anchored::No, self.state, byte);
            may |= beginnings.is_special(self.state) && beginnings.is_match(self.state);
        }
        may
    }
}

fn start(beginnings: &DFA) -> StateID {
    beginnings.start_state(Anchored::No).expect("it was built for finding anywhere")
}

/// Finds whatever a secret may begin with or follow.
pub(super) fn beginnings(values: &[String]) -> DFA {
    let of_values = values.iter().map(|value| &value.as_bytes()[..OF_VALUE.min(value.len())]);
    let ours = BEGINNINGS.iter().chain(NAMES).chain(OTHER_NAMES).chain(&[IN_ADDRESS]);
    let patterns = ours.map(|text| text.as_bytes()).chain(of_values);
    let built = DFA::builder().ascii_case_insensitive(true).build(patterns);
    built.expect("so few short patterns always fit")
}
