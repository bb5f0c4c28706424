//! Pieces of a reply told together, for clients that have room for few notifications.
//!
//! Pure: time is handed in. What always holds: nothing that is not a piece of the reply overtakes one, the pieces joined are
//! the reply, and one is held back for no longer than was asked for, or until it is as long as an update may be.

use std::time::Duration;

use loggia_engine::{ReplyPiece, Told};
use loggia_protocol_autohand::limits::MAX_PIECE_BYTES;
use tokio::time::Instant;

/// What is held back, and since when.
#[derive(Debug)]
pub(super) struct Merging {
    /// The time between two pieces; none tells them as they come.
    every: Duration,
    held: Option<ReplyPiece>,
    /// When a piece was let go last.
    last: Option<Instant>,
}

impl Merging {
    pub(super) fn new(every: Duration) -> Self {
        Self { every, held: None, last: None }
    }

    /// When what is held back must be told; nothing if nothing is.
    pub(super) fn due(&self) -> Option<Instant> {
        let last = self.last.filter(|_| self.held.is_some())?;
        Some(last + self.every)
    }

    /// What is to be told now that this has come, in this order.
    pub(super) fn pass(&mut self, told: Told, now: Instant) -> [Option<Told>; 2] {
        let piece = match told {
            Told::Reply(piece) if !self.every.is_zero() => piece,
            other => return [self.release(now), Some(other)],
        };
        let before = match &mut self.held {
            Some(held) if held.message == piece.message => {
                held.text.push_str(&piece.text);
                held.thought.push_str(&piece.thought);
                None
            }
            _ => {
                let before = self.release(now);
                self.held = Some(piece);
                before
            }
        };
        let is_long =
            self.held.as_ref().is_some_and(|held| held.text.len() + held.thought.len() >= MAX_PIECE_BYTES);
        let is_due = self.last.is_none_or(|last| now >= last + self.every);
        let ripe = (is_long || is_due).then(|| self.release(now)).flatten();
        [before, ripe]
    }

    /// What is held back.
    pub(super) fn release(&mut self, now: Instant) -> Option<Told> {
        let held = self.held.take()?;
        self.last = Some(now);
        Some(Told::Reply(held))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_domain::{MessageId, Passing, TurnId};

    use super::*;

    const EVERY: Duration = Duration::from_millis(50);

    fn piece(message: MessageId, text: &str) -> Told {
        let text = text.to_owned();
        Told::Reply(ReplyPiece { turn: TurnId::new(), message, text, thought: String::new(), offset: 0 })
    }

    fn texts(told: [Option<Told>; 2]) -> Vec<String> {
        let text = |told: Told| match told {
            Told::Reply(piece) => piece.text,
            Told::Event(_) | Told::Passing(_) => "something else".to_owned(),
        };
        told.into_iter().flatten().map(text).collect()
    }

    #[test]
    fn the_first_piece_goes_at_once_and_the_next_ones_together() {
        let (mut merging, message, now) = (Merging::new(EVERY), MessageId::new(), Instant::now());
        assert_eq!(texts(merging.pass(piece(message, "a"), now)), ["a"]);
        assert_eq!(merging.due(), None);
        assert!(texts(merging.pass(piece(message, "b"), now)).is_empty());
        assert!(texts(merging.pass(piece(message, "c"), now)).is_empty());
        assert_eq!(merging.due(), Some(now + EVERY));
        assert_eq!(texts(merging.pass(piece(message, "d"), now + EVERY)), ["bcd"]);
        assert_eq!(merging.due(), None);
    }

    #[test]
    fn nothing_overtakes_a_piece() {
        let (mut merging, message, now) = (Merging::new(EVERY), MessageId::new(), Instant::now());
        merging.pass(piece(message, "a"), now);
        merging.pass(piece(message, "b"), now);
        let other = Told::Passing(Arc::new(Passing::MessageStarted { message }));
        assert_eq!(texts(merging.pass(other, now)), ["b", "something else"]);
        merging.pass(piece(message, "c"), now);
        // A piece of another message goes its own way.
        assert_eq!(texts(merging.pass(piece(MessageId::new(), "d"), now)), ["c"]);
        assert_eq!(texts([merging.release(now), None]), ["d"]);
    }

    #[test]
    fn what_is_long_is_not_held_back() {
        let (mut merging, message, now) = (Merging::new(EVERY), MessageId::new(), Instant::now());
        merging.pass(piece(message, "a"), now);
        let long = "x".repeat(MAX_PIECE_BYTES);
        assert_eq!(texts(merging.pass(piece(message, &long), now)), [long]);
    }

    #[test]
    fn without_a_time_pieces_go_as_they_come() {
        let (mut merging, message, now) = (Merging::new(Duration::ZERO), MessageId::new(), Instant::now());
        for text in ["a", "b"] {
            assert_eq!(texts(merging.pass(piece(message, text), now)), [text]);
        }
    }
}
