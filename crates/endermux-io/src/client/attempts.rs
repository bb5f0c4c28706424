//! Which epoch a client tries next.
//!
//! A server that does not know a framing closes without a word, and one that knows the framing but not the epoch says
//! which it speaks. So a client begins with the newest, or the one that fitted last time, goes down after a silent close,
//! and jumps after a hint. Each attempt that does not fit is a warning in the log of existing servers, which their consoles
//! show; that is why what fitted is tried first.

use loggia_protocol_endermux::{Epoch, HandshakeFailure};

/// What one attempt came to, if it was not a success.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    /// Closed before an answer.
    Closed,
    /// Answered, and the two do not fit.
    Failed(&'a HandshakeFailure),
}

/// The epochs that are left to try, best first.
#[derive(Debug)]
pub(super) struct Attempts {
    left: Vec<Epoch>,
}

impl Attempts {
    /// All of these: the one that fitted last time first, then the newest.
    pub(super) fn new(epochs: &[Epoch], fitted: Option<Epoch>) -> Self {
        let mut left = epochs.to_vec();
        left.sort_by_key(|epoch| (Some(*epoch) == fitted, *epoch));
        left.reverse();
        left.dedup();
        Self { left }
    }

    /// The first to try.
    pub(super) fn first(&mut self) -> Option<Epoch> {
        (!self.left.is_empty()).then(|| self.left.remove(0))
    }

    /// The next to try after one that failed.
    pub(super) fn next(&mut self, outcome: &Outcome<'_>) -> Option<Epoch> {
        match outcome {
            Outcome::Closed => self.first(),
            Outcome::Failed(HandshakeFailure::EpochMismatch { server, .. }) => {
                let hinted = self.left.iter().position(|epoch| epoch.number() == *server)?;
                Some(self.left.remove(hinted))
            }
            Outcome::Failed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Epoch; 3] = [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen];

    fn hint(server: i32) -> HandshakeFailure {
        HandshakeFailure::EpochMismatch { server, client: 17 }
    }

    #[test]
    fn a_silent_close_leads_to_the_next_older_epoch() {
        let mut attempts = Attempts::new(&ALL, None);
        assert_eq!(attempts.first(), Some(Epoch::Seventeen));
        assert_eq!(attempts.next(&Outcome::Closed), Some(Epoch::Sixteen));
        assert_eq!(attempts.next(&Outcome::Closed), Some(Epoch::Fifteen));
        assert_eq!(attempts.next(&Outcome::Closed), None);
    }

    #[test]
    fn what_fitted_last_time_is_tried_first_and_the_newest_after_it() {
        let mut attempts = Attempts::new(&ALL, Some(Epoch::Fifteen));
        assert_eq!(attempts.first(), Some(Epoch::Fifteen));
        assert_eq!(attempts.next(&Outcome::Closed), Some(Epoch::Seventeen));
        assert_eq!(attempts.next(&Outcome::Closed), Some(Epoch::Sixteen));
        assert_eq!(attempts.next(&Outcome::Closed), None);
    }

    #[test]
    fn a_server_that_names_its_epoch_is_believed_once() {
        let mut attempts = Attempts::new(&ALL, None);
        attempts.first();
        assert_eq!(attempts.next(&Outcome::Failed(&hint(15))), Some(Epoch::Fifteen));
        assert_eq!(attempts.next(&Outcome::Failed(&hint(15))), None);
        assert_eq!(attempts.next(&Outcome::Failed(&hint(18))), None);
    }

    #[test]
    fn another_refusal_is_final() {
        let mut attempts = Attempts::new(&ALL, None);
        attempts.first();
        assert_eq!(attempts.next(&Outcome::Failed(&HandshakeFailure::NoSelection)), None);
    }
}
