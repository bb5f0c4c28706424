//! When to start a program again that has ended by itself.
//!
//! Pure arithmetic over how long it lived; whoever keeps the program does the waiting.

use std::time::Duration;

/// How eagerly a program is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartPolicy {
    /// The pause before the first restart; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// After so many ends in a row the program is given up.
    pub give_up_after: u32,
    /// One that lived this long was well, and what went before does not count.
    pub well_after: Duration,
}

/// What to do about a program that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Start it again after this pause.
    RestartAfter(Duration),
    /// Leave it.
    GiveUp {
        /// How many times in a row it ended.
        ends: u32,
    },
}

impl RestartPolicy {
    /// Never started again.
    pub const NEVER: Self = Self {
        first_pause: Duration::ZERO,
        longest_pause: Duration::ZERO,
        give_up_after: 1,
        well_after: Duration::MAX,
    };
}

impl Default for RestartPolicy {
    /// Three tries within a few seconds: enough for a port that is still taken, not for a broken program.
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(30),
            give_up_after: 3,
            well_after: Duration::from_secs(60),
        }
    }
}

/// The ends of one program so far.
#[derive(Debug, Clone)]
pub struct Restarts {
    policy: RestartPolicy,
    ends: u32,
}

impl Restarts {
    /// None yet.
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, ends: 0 }
    }

    /// Judges an end after the program lived for `lived`.
    pub fn ended(&mut self, lived: Duration) -> Verdict {
        if lived >= self.policy.well_after {
            self.ends = 0;
        }
        self.ends += 1;
        if self.ends >= self.policy.give_up_after {
            return Verdict::GiveUp { ends: self.ends };
        }
        let doubled = self.policy.first_pause.saturating_mul(1 << (self.ends - 1).min(20));
        Verdict::RestartAfter(doubled.min(self.policy.longest_pause))
    }

    /// Forgets the past: somebody asked for the program by hand.
    pub fn reset(&mut self) {
        self.ends = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(10);

    #[test]
    fn pauses_double_up_to_the_longest_and_then_it_is_given_up() {
        let policy = RestartPolicy {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(3),
            give_up_after: 5,
            well_after: Duration::from_secs(60),
        };
        let mut restarts = Restarts::new(policy);
        let verdicts: Vec<_> = (0..5).map(|_| restarts.ended(QUICK)).collect();
        let pause = |seconds| Verdict::RestartAfter(Duration::from_secs(seconds));
        assert_eq!(verdicts, [pause(1), pause(2), pause(3), pause(3), Verdict::GiveUp { ends: 5 }]);
    }

    #[test]
    fn a_long_life_clears_the_record() {
        let mut restarts = Restarts::new(RestartPolicy::default());
        restarts.ended(QUICK);
        restarts.ended(QUICK);
        assert_eq!(
            restarts.ended(Duration::from_secs(61)),
            Verdict::RestartAfter(Duration::from_millis(250))
        );
    }

    #[test]
    fn never_means_never() {
        assert_eq!(Restarts::new(RestartPolicy::NEVER).ended(QUICK), Verdict::GiveUp { ends: 1 });
    }

    #[test]
    fn a_reset_starts_counting_again() {
        let mut restarts = Restarts::new(RestartPolicy::default());
        restarts.ended(QUICK);
        restarts.ended(QUICK);
        restarts.reset();
        assert_eq!(restarts.ended(QUICK), Verdict::RestartAfter(Duration::from_millis(250)));
    }
}
