//! Long log text in pieces that fit a frame.
//!
//! Invariants: no piece is longer than [`LOG_PIECE`] and none cuts a character or an escape sequence that ends within
//! reach; pieces put together are the text, unless it was over [`MAX_LOG`]: then its middle is missing and a line says so.

use std::borrow::Cow;

use crate::limits::{LOG_PIECE, MAX_LOG};

/// How far before a cut an escape sequence may begin: colours of a terminal take some twenty bytes.
const ESCAPE_REACH: usize = 64;

/// Cuts a text, at line ends where there are some.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(cut(rest, LOG_PIECE));
        rest = after;
        Some(piece)
    })
}

/// The text itself, or its ends with a line between them that says how much is missing.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_LOG {
        return Cow::Borrowed(text);
    }
    let start = cut(text, MAX_LOG / 2);
    let end = start + cut(&text[start..], text.len() - start - MAX_LOG / 2 + LOG_PIECE);
    let newline = if text[..start].ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{}{newline}… {} bytes left out\n{}", &text[..start], end - start, &text[end..]))
}

/// Where to cut so that the first part has at most `limit` bytes and at least one.
fn cut(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let edge = text.floor_char_boundary(limit);
    if let Some(newline) = text[..edge].rfind('\n') {
        return newline + 1;
    }
    let reach = text.floor_char_boundary(edge.saturating_sub(ESCAPE_REACH));
    match text[reach..edge].rfind('\u{1b}').map(|at| reach + at) {
        Some(escape) if escape > 0 && is_open(&text[escape..edge]) => escape,
        _ => edge,
    }
}

/// Whether an escape sequence goes on after this text: none of its final bytes has come yet.
fn is_open(sequence: &str) -> bool {
    let mut rest = sequence.chars().skip(1);
    match rest.next() {
        None => true,
        Some('[') => !rest.any(|c| ('@'..='~').contains(&c)),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lengths(text: &str) -> Vec<usize> {
        pieces(text).map(str::len).collect()
    }

    #[test]
    fn short_text_is_one_piece_and_none_is_none() {
        assert_eq!(lengths("hello\n"), [6]);
        assert!(lengths("").is_empty());
        assert_eq!(lengths(&"x".repeat(LOG_PIECE)), [LOG_PIECE]);
    }

    #[test]
    fn long_text_is_cut_after_a_line_where_there_is_one() {
        let line = "x".repeat(LOG_PIECE - 10) + "\n";
        assert_eq!(lengths(&line.repeat(2)), [LOG_PIECE - 9, LOG_PIECE - 9]);
        assert_eq!(lengths(&"x".repeat(LOG_PIECE + 5)), [LOG_PIECE, 5]);
    }

    #[test]
    fn an_escape_sequence_is_not_cut() {
        let text = "x".repeat(LOG_PIECE - 4) + "\u{1b}[38;5;212mred\u{1b}[m";
        let cut: Vec<&str> = pieces(&text).collect();
        assert_eq!(cut[1], "\u{1b}[38;5;212mred\u{1b}[m");
        let complete = "x".repeat(LOG_PIECE - 4) + "\u{1b}[mred";
        assert_eq!(lengths(&complete), [LOG_PIECE, 2]);
    }

    #[test]
    fn text_over_the_limit_loses_its_middle_and_says_so() {
        let text = format!("first\n{}last\n", "x".repeat(MAX_LOG));
        let short = shorten(&text);
        assert!(short.len() <= MAX_LOG, "{}", short.len());
        assert!(short.starts_with("first\n") && short.ends_with("last\n"), "the ends stay");
        assert!(short.contains("bytes left out\n"));
        assert_eq!(shorten("short"), "short");
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_text(parts in prop::collection::vec("[aé😀\n\u{1b}\\[;m]{0,40}", 1..8), times in 1usize..4000) {
            let text = parts.concat().repeat(times);
            let cut: Vec<&str> = pieces(&text).collect();
            prop_assert!(cut.iter().all(|piece| !piece.is_empty() && piece.len() <= LOG_PIECE));
            prop_assert_eq!(cut.concat(), text);
        }
    }
}
