//! Steps that can be taken back and made again.
//!
//! A step keeps what one text had in the place of another, from the first byte that differs to the last. Invariant:
//! taking a step back gives the text before it, to the byte; steps are dropped oldest first, within
//! [`MAX_STEPS`] and [`MAX_STEP_BYTES`].

use std::collections::VecDeque;

use crate::limits::{MAX_STEP_BYTES, MAX_STEPS};

/// How long the pieces are in which long texts are compared.
const PIECE: usize = 4096;

/// What was done, and what was taken back.
#[derive(Debug, Default)]
pub(crate) struct History {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    bytes: usize,
}

/// One change of a text.
#[derive(Debug)]
struct Step {
    start: usize,
    removed: Box<str>,
    inserted: Box<str>,
}

impl History {
    /// Keeps a change. What was taken back before can no longer be made again.
    pub(crate) fn keep(&mut self, before: &str, after: &str) {
        for step in self.undone.drain(..) {
            self.bytes -= step.bytes();
        }
        let step = Step::between(before, after);
        self.bytes += step.bytes();
        self.done.push_back(step);
        while self.done.len() > 1 && (self.done.len() > MAX_STEPS || self.bytes > MAX_STEP_BYTES) {
            if let Some(step) = self.done.pop_front() {
                self.bytes -= step.bytes();
            }
        }
    }

    pub(crate) fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    pub(crate) fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// The text before the last step; nothing if there is none.
    pub(crate) fn undo(&mut self, text: &str) -> Option<String> {
        let step = self.done.pop_back()?;
        let before = step.with(text, &step.inserted, &step.removed);
        self.undone.push(step);
        Some(before)
    }

    /// The text after the step that was taken back last; nothing if there is none.
    pub(crate) fn redo(&mut self, text: &str) -> Option<String> {
        let step = self.undone.pop()?;
        let after = step.with(text, &step.removed, &step.inserted);
        self.done.push_back(step);
        Some(after)
    }
}

impl Step {
    fn between(before: &str, after: &str) -> Self {
        let same = |(one, other): &(u8, u8)| one == other;
        // Long texts that differ little are compared in pieces, which is a hundred times as fast.
        let pieces = before.as_bytes().chunks(PIECE).zip(after.as_bytes().chunks(PIECE));
        let mut start = pieces.take_while(|(one, other)| one.len() == PIECE && one == other).count() * PIECE;
        start += before.bytes().skip(start).zip(after.bytes().skip(start)).take_while(same).count();
        while !before.is_char_boundary(start) {
            start -= 1;
        }
        let (old, new) = (&before[start..], &after[start..]);
        let pieces = old.as_bytes().rchunks(PIECE).zip(new.as_bytes().rchunks(PIECE));
        let mut end = pieces.take_while(|(one, other)| one.len() == PIECE && one == other).count() * PIECE;
        end += old.bytes().rev().skip(end).zip(new.bytes().rev().skip(end)).take_while(same).count();
        while !old.is_char_boundary(old.len() - end) {
            end -= 1;
        }
        Self { start, removed: old[..old.len() - end].into(), inserted: new[..new.len() - end].into() }
    }

    fn bytes(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }

    /// A text with one of the two in the place of the other.
    fn with(&self, text: &str, there: &str, instead: &str) -> String {
        [&text[..self.start], instead, &text[self.start + there.len()..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_oldest_steps_go_first() {
        let mut history = History::default();
        for step in 0..MAX_STEPS + 5 {
            history.keep(&step.to_string(), &(step + 1).to_string());
        }
        let mut text = (MAX_STEPS + 5).to_string();
        while let Some(before) = history.undo(&text) {
            text = before;
        }
        assert_eq!(text, "5");
        assert!(history.can_redo() && !history.can_undo());
    }

    #[test]
    fn large_steps_are_few_but_one_is_kept() {
        let mut history = History::default();
        let large = "x".repeat(MAX_STEP_BYTES / 2 + 1);
        history.keep("", &large);
        history.keep(&large, "");
        assert_eq!(history.done.len(), 1);
        assert_eq!(history.undo("").as_deref(), Some(large.as_str()));
    }

    #[test]
    fn a_new_step_forgets_those_taken_back() {
        let mut history = History::default();
        history.keep("a", "b");
        assert_eq!(history.undo("b").as_deref(), Some("a"));
        history.keep("a", "c");
        assert!(!history.can_redo());
        assert_eq!(history.bytes, 2);
    }

    proptest! {
        #[test]
        fn steps_lead_back_and_forth_to_the_byte(texts in prop::collection::vec("[aé€😀]{0,8}", 2..8)) {
            let mut history = History::default();
            texts.windows(2).for_each(|pair| history.keep(&pair[0], &pair[1]));
            for pair in texts.windows(2).rev() {
                prop_assert_eq!(history.undo(&pair[1]), Some(pair[0].clone()));
            }
            for pair in texts.windows(2) {
                prop_assert_eq!(history.redo(&pair[0]), Some(pair[1].clone()));
            }
        }
    }
}
