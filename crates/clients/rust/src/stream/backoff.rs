//! How long to wait before the next try.
//!
//! What always holds: a delay is between half of its step and the whole, steps double up to a limit, and a server that
//! takes connections only to drop them is not tried faster for it.

use std::time::Duration;

/// The first step: a restarted daemon is there again within it.
const FIRST: Duration = Duration::from_millis(100);

/// The longest: how long somebody waits at most after the network is back.
const LONGEST: Duration = Duration::from_secs(10);

/// Doublings until the longest.
const STEPS: u32 = 7;

/// Delays that grow, each different for everybody, so that clients of a restarted server do not all come at once.
#[derive(Debug)]
pub(super) struct Backoff {
    tries: u32,
    random: fastrand::Rng,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { tries: 0, random: fastrand::Rng::new() }
    }

    /// The next delay, and not before the server wants to be tried.
    pub(super) fn next(&mut self, at_least: Duration) -> Duration {
        let step = FIRST.saturating_mul(1 << self.tries.min(STEPS)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        let half = step / 2;
        // Also above what the server asked for: everybody was told the same.
        at_least + half + half.mul_f64(self.random.f64())
    }

    /// Something new came, so the connection was a good one.
    pub(super) fn reset(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_to_a_limit_and_differ() {
        let mut backoff = Backoff { tries: 0, random: fastrand::Rng::with_seed(7) };
        let delays: Vec<Duration> = (0..40).map(|_| backoff.next(Duration::ZERO)).collect();
        for (tried, delay) in delays.iter().enumerate() {
            let step = FIRST.as_secs_f64() * 2_f64.powi(i32::try_from(tried).unwrap_or(i32::MAX));
            let step = step.min(LONGEST.as_secs_f64());
            assert!((step / 2.0..=step).contains(&delay.as_secs_f64()), "try {tried}: {delay:?}");
        }
        assert_ne!(delays[38], delays[39]);
        backoff.reset();
        assert!(backoff.next(Duration::ZERO) <= FIRST);
    }

    #[test]
    fn the_server_decides_when_at_the_earliest() {
        let mut backoff = Backoff::new();
        assert!(backoff.next(Duration::from_secs(30)) >= Duration::from_secs(30));
    }
}
