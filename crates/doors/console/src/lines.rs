//! Text that comes in pieces, given on in whole lines.
//!
//! Invariants: nothing is lost or changed; what is held back is bounded, so that a line without end comes in parts.

/// The longest part of a line that is held back.
const MOST: usize = 8 * 1024;

/// Text that waits for the end of its line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: String,
}

impl Lines {
    /// Takes a piece; gives what can be given on, which ends with a line as a rule.
    pub(crate) fn push(&mut self, piece: &str) -> Option<String> {
        self.held.push_str(piece);
        let end = match self.held.rfind('\n') {
            Some(end) => end + 1,
            None if self.held.len() > MOST => self.held.len(),
            None => return None,
        };
        let rest = self.held.split_off(end);
        Some(std::mem::replace(&mut self.held, rest))
    }

    /// What was held back.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_nothing_is_lost() {
        let mut lines = Lines::default();
        assert_eq!(lines.push("Hello, "), None);
        assert_eq!(lines.push("you\nand").as_deref(), Some("Hello, you\n"));
        assert_eq!(lines.push(" them\n").as_deref(), Some("and them\n"));
        assert_eq!(lines.push("end"), None);
        assert_eq!((lines.rest().as_deref(), lines.rest()), (Some("end"), None));
    }

    #[test]
    fn a_line_without_end_comes_in_parts() {
        let mut lines = Lines::default();
        let given: usize = (0..100).filter_map(|_| lines.push(&"é".repeat(500))).map(|part| part.len()).sum();
        assert!(lines.held.len() <= MOST && given + lines.held.len() == 100_000, "{given}");
    }
}
