//! What the agent is doing, as this client is told.
//!
//! `idle → processing → (waiting_permission ⇄ processing) → idle`. Pure.
//!
//! What always holds:
//! - a prompt that was taken counts at once, before its turn is heard of;
//! - a turn that ends late never frees a place that another has taken since.

use loggia_domain::TurnId;
use loggia_protocol_autohand::AgentStatus;

/// Who has the one place for a turn, as far as this client's prompts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Claim {
    /// Nobody.
    #[default]
    Free,
    /// A prompt that is on its way to the session, or is answered here.
    Asking {
        /// Whether it is to come to nothing.
        called_off: bool,
    },
    /// A prompt that became this turn.
    Turn(TurnId),
}

/// The place for a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    claim: Claim,
    /// The turn that is being told.
    told: Option<TurnId>,
    /// The turn whose end was told last.
    ended: Option<TurnId>,
}

impl Place {
    /// Takes the place for a prompt; false if it is taken.
    pub(crate) fn claim(&mut self) -> bool {
        let free = !self.is_taken();
        if free {
            self.claim = Claim::Asking { called_off: false };
        }
        free
    }

    /// The prompt came to nothing, or was answered here.
    pub(crate) fn release(&mut self) {
        self.claim = Claim::Free;
    }

    /// A prompt that is on its way is to come to nothing; false if none is.
    pub(crate) fn call_off(&mut self) -> bool {
        let is_asking = matches!(self.claim, Claim::Asking { .. });
        if is_asking {
            self.claim = Claim::Asking { called_off: true };
        }
        is_asking
    }

    pub(crate) fn is_called_off(&self) -> bool {
        self.claim == Claim::Asking { called_off: true }
    }

    /// The prompt became a turn, which may be over already. Says whether it was called off meanwhile.
    pub(crate) fn became(&mut self, turn: Option<TurnId>) -> bool {
        let called_off = self.is_called_off();
        self.claim = match turn {
            Some(turn) if self.ended != Some(turn) => Claim::Turn(turn),
            _ => Claim::Free,
        };
        called_off
    }

    /// A turn is told from here on.
    pub(crate) fn began(&mut self, turn: TurnId) {
        self.told = Some(turn);
        self.ended = None;
    }

    /// Its end is about to be told.
    pub(crate) fn ended(&mut self, turn: TurnId) {
        self.told = None;
        self.ended = Some(turn);
        if self.claim == Claim::Turn(turn) {
            self.claim = Claim::Free;
        }
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.claim != Claim::Free || self.told.is_some()
    }

    /// What to tell whoever asks.
    pub(crate) fn status(&self, asked: bool) -> AgentStatus {
        match (self.is_taken(), asked) {
            (false, _) => AgentStatus::Idle,
            (true, true) => AgentStatus::WaitingPermission,
            (true, false) => AgentStatus::Processing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_counts_from_the_moment_it_is_taken() {
        let mut place = Place::default();
        assert_eq!(place.status(false), AgentStatus::Idle);
        assert!(place.claim());
        assert_eq!(place.status(false), AgentStatus::Processing);
        assert!(!place.claim());
        place.release();
        assert!(place.claim());
    }

    #[test]
    fn a_prompt_on_its_way_can_be_called_off() {
        let (mut place, turn) = (Place::default(), TurnId::new());
        assert!(!place.call_off());
        assert!(place.claim() && place.call_off() && place.is_called_off());
        assert!(!place.claim(), "it is still there");
        assert!(place.became(Some(turn)), "whoever made it a turn has to end it");
        assert!(!place.call_off(), "a turn is cancelled instead");
        place.ended(turn);
        assert!(place.claim() && !place.is_called_off());
    }

    #[test]
    fn a_turn_may_be_over_before_its_prompt_is_answered() {
        let (mut place, turn) = (Place::default(), TurnId::new());
        assert!(place.claim());
        place.began(turn);
        assert_eq!(place.status(true), AgentStatus::WaitingPermission);
        place.ended(turn);
        // Whoever asked has not heard yet that it became this turn.
        assert_eq!(place.status(false), AgentStatus::Processing);
        place.became(Some(turn));
        assert_eq!(place.status(false), AgentStatus::Idle);
    }

    #[test]
    fn a_stale_turn_frees_nothing() {
        let (mut place, stale, turn) = (Place::default(), TurnId::new(), TurnId::new());
        place.began(stale);
        assert!(!place.claim());
        place.ended(stale);
        assert!(place.claim());
        place.became(Some(turn));
        place.ended(stale);
        assert_eq!(place.status(false), AgentStatus::Processing);
        place.began(turn);
        place.ended(turn);
        assert_eq!(place.status(false), AgentStatus::Idle);
    }
}
