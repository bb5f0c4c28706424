//! The beginning and the end of a long text.
//!
//! What always holds: what is kept is never longer than allowed, nothing is left out of a text that fits, and no
//! character is cut.

use loggia_domain::CapturedOutput;

/// Keeps the beginning and the end of a text that comes in pieces.
#[derive(Debug)]
pub(crate) struct Capture {
    /// How many bytes are kept in all; half of them for the beginning.
    limit: usize,
    head: String,
    /// Set when the first piece did not fit into the head.
    full: bool,
    /// Grows to twice what is kept of it, so that it is seldom moved.
    tail: String,
    left_out: u64,
}

impl Capture {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, head: String::new(), full: false, tail: String::new(), left_out: 0 }
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut rest = text;
        if !self.full {
            let room = self.limit.div_ceil(2) - self.head.len();
            let fits = rest.floor_char_boundary(room);
            self.head.push_str(&rest[..fits]);
            rest = &rest[fits..];
            self.full = !rest.is_empty();
        }
        self.tail.push_str(rest);
        if self.tail.len() > self.tail_limit().saturating_mul(2) {
            self.trim();
        }
    }

    pub(crate) fn finish(mut self) -> CapturedOutput {
        if self.tail.len() > self.tail_limit() {
            self.trim();
        }
        if self.left_out == 0 {
            self.head.push_str(&self.tail);
            self.tail.clear();
        }
        CapturedOutput { head: self.head, tail: self.tail, left_out: self.left_out }
    }

    /// What the head could not use is the tail's.
    fn tail_limit(&self) -> usize {
        self.limit - self.head.len()
    }

    fn trim(&mut self) {
        let cut = self.tail.ceil_char_boundary(self.tail.len().saturating_sub(self.tail_limit()));
        self.left_out += cut as u64;
        self.tail.drain(..cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(limit: usize, pieces: &[&str]) -> (String, String, u64) {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        let CapturedOutput { head, tail, left_out } = capture.finish();
        (head, tail, left_out)
    }

    #[test]
    fn a_text_that_fits_is_kept_whole() {
        assert_eq!(capture(8, &[]), (String::new(), String::new(), 0));
        assert_eq!(capture(8, &["abc", "", "defgh"]), ("abcdefgh".into(), String::new(), 0));
        // The head cannot use its last byte; the tail does.
        assert_eq!(capture(8, &["abc€de"]), ("abc€de".into(), String::new(), 0));
    }

    #[test]
    fn the_middle_of_a_longer_text_is_left_out() {
        assert_eq!(capture(8, &["abcdefghi"]), ("abcd".into(), "fghi".into(), 1));
        let digits = "0123456789".repeat(100);
        for size in [1, 3, 7, 1000] {
            let pieces: Vec<&str> =
                digits.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
            assert_eq!(capture(8, &pieces), ("0123".into(), "6789".into(), 992), "pieces of {size}");
        }
    }

    #[test]
    fn no_character_is_cut() {
        let (head, tail, left_out) = capture(8, &["€€€€€"]);
        assert_eq!((head.as_str(), tail.as_str(), left_out), ("€", "€", 9));
    }

    #[test]
    fn nothing_is_kept_if_nothing_may_be() {
        assert_eq!(capture(0, &["abc", "def"]), (String::new(), String::new(), 6));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut capture = Capture::new(100);
        for _ in 0..10_000 {
            capture.push("0123456789");
            assert!(capture.head.len() + capture.tail.len() <= 200);
        }
    }
}
