//! Leaving when nobody is there.
//!
//! Knows nothing of clients and turns: it is shown signs of them. Invariant: whoever comes or stays starts the time anew.

use std::time::Duration;

use tokio::time::Instant;

/// How often to look. Nobody notices a daemon that stays a little longer.
const LOOK: Duration = Duration::from_secs(15);

/// A shorter patience is looked after more often, so that it means something.
const LOOKS: u32 = 4;

/// Looking more often would be all it does.
const SHORTEST_LOOK: Duration = Duration::from_millis(5);

/// Signs that somebody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs {
    /// Whether a client is there, a turn runs or a question is open.
    pub(crate) busy: bool,
    /// Requests answered so far: somebody was there in between.
    pub(crate) answers: u64,
}

/// Waits until nobody has been there for so long.
pub(crate) async fn until_unused(patience: Duration, look: impl Fn() -> Signs) {
    let every = LOOK.min(patience / LOOKS).max(SHORTEST_LOOK);
    let mut answers = look().answers;
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(every).await;
        let signs = look();
        if signs.busy || signs.answers != answers {
            answers = signs.answers;
            since = Instant::now();
        } else if since.elapsed() >= patience {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const HALF_AN_HOUR: Duration = Duration::from_secs(30 * 60);
    const NOBODY: Signs = Signs { busy: false, answers: 0 };

    fn minutes(from: Instant) -> u64 {
        from.elapsed().as_secs() / 60
    }

    #[tokio::test(start_paused = true)]
    async fn it_leaves_when_nobody_comes() {
        let start = Instant::now();
        until_unused(HALF_AN_HOUR, || NOBODY).await;
        assert_eq!(minutes(start), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stays_or_a_request_in_between_starts_the_time_anew() {
        let start = Instant::now();
        // Somebody is there for an hour; twenty minutes later one more request comes.
        let look = || Signs { busy: minutes(start) < 60, answers: u64::from(minutes(start) >= 80) };
        until_unused(HALF_AN_HOUR, look).await;
        assert_eq!(minutes(start), 110);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_patience_is_looked_after_often() {
        let start = Instant::now();
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            NOBODY
        };
        until_unused(Duration::from_millis(100), look).await;
        assert_eq!(start.elapsed(), Duration::from_millis(100));
        assert_eq!(looks.get(), 5);
    }
}
