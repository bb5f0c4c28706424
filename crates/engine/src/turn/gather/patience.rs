//! How long work that blocks goes on: until its time is over or nobody waits for it any more.
//!
//! A thread cannot be ended from outside, so whoever works on one asks between two files and every few lines. Refuses to
//! know what the work is. What always holds: dropping the future ends the work, and whoever waits gets on, even if a disk
//! never answers.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::workspace::blocking;

/// How long work may take to notice that its time is over: one large file on a slow disk.
const GRACE: Duration = Duration::from_secs(3);

/// Asking costs more than looking at a line, so it is done once for so many.
pub(super) const LINES: usize = 256;

/// What work asks to know whether to go on.
#[derive(Debug)]
pub(super) struct Patience {
    until: Instant,
    given_up: CancellationToken,
}

impl Patience {
    /// Whether to stop: people have waited long enough, or wait no more.
    pub(super) fn is_over(&self) -> bool {
        self.given_up.is_cancelled() || Instant::now() >= self.until
    }

    /// Whether to go on at a line; only some of them ask.
    pub(super) fn lasts_at(&self, line: usize) -> bool {
        !line.is_multiple_of(LINES) || !self.is_over()
    }
}

/// Does something where that may block, for so long. Nothing if it does not stop when its time is over.
pub(super) async fn patiently<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce(Patience) -> T + Send + 'static,
) -> Option<T> {
    let given_up = CancellationToken::new();
    let _guard = given_up.clone().drop_guard();
    let patience = Patience { until: Instant::now() + time, given_up };
    let done = tokio::time::timeout(time + GRACE, blocking(move || work(patience))).await.ok();
    if done.is_none() {
        tracing::warn!("what belongs to an instruction was looked up for too long");
    }
    done
}

#[cfg(test)]
impl Patience {
    /// One that lasts as long as any test.
    pub(super) fn endless() -> Self {
        let hour = Duration::from_secs(3600);
        Self { until: Instant::now() + hour, given_up: CancellationToken::new() }
    }

    /// One that is over.
    pub(super) fn over() -> Self {
        let over = Self::endless();
        over.given_up.cancel();
        over
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Far longer than any of this takes.
    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn work_stops_when_nobody_waits_for_it_any_more() {
        let (began, begins) = tokio::sync::oneshot::channel();
        let (stopped, stops) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(patiently(HOUR, move |patience| {
            began.send(()).expect("somebody listens");
            while !patience.is_over() {
                std::thread::yield_now();
            }
            stopped.send(()).expect("somebody listens");
        }));
        begins.await.expect("it begins");
        waiting.abort();
        stops.await.expect("it stops");
    }

    #[tokio::test]
    async fn work_stops_when_its_time_is_over_and_tells_what_it_has() {
        let found = patiently(Duration::from_millis(1), |patience| {
            while !patience.is_over() {
                std::thread::yield_now();
            }
            7
        });
        assert_eq!(found.await, Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_on_though_the_work_never_asks() {
        let (release, held) = mpsc::channel::<()>();
        let waiting = tokio::spawn(patiently(Duration::ZERO, move |_| held.recv()));
        // Time stands still while something blocks, so it is moved by hand.
        tokio::task::yield_now().await;
        tokio::time::advance(GRACE + Duration::from_secs(1)).await;
        assert_eq!(waiting.await.expect("it ends"), None);
        drop(release);
    }
}
