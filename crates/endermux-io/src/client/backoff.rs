//! How long to wait before the next attempt to connect.

use std::time::Duration;

/// The longest wait: somebody who starts the server again should not wait longer for the console.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits that grow: none, one second, and twice as long each time, up to a minute. After a session that worked the first
/// attempt is immediate again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backoff {
    attempts: u32,
}

impl Backoff {
    /// How long to wait before the next attempt.
    pub fn wait(&mut self) -> Duration {
        let doubled = self.attempts.checked_sub(1).map(|times| 1_u64.checked_shl(times).unwrap_or(u64::MAX));
        self.attempts = self.attempts.saturating_add(1);
        doubled.map_or(Duration::ZERO, |seconds| Duration::from_secs(seconds).min(LONGEST))
    }

    /// A handshake succeeded.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_minute_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let seconds: Vec<u64> = (0..10).map(|_| backoff.wait().as_secs()).collect();
        assert_eq!(seconds, [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        let mut tired = Backoff { attempts: u32::MAX };
        assert_eq!((tired.wait(), tired.wait()), (LONGEST, LONGEST));
        backoff.reset();
        assert_eq!(backoff.wait(), Duration::ZERO);
    }
}
