//! Whether a connection is used.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::newcomers::Ticket;

/// What a connection has asked so far.
#[derive(Debug)]
pub(super) struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
    /// Held until the first request.
    ticket: Mutex<Option<Ticket>>,
}

/// How a connection is used, as seen by somebody who looks now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It has asked nothing yet.
    None,
    /// It asks nothing at present, and has not since the last look.
    Idle,
    /// It asks.
    Busy,
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Request<'a>(&'a Activity);

impl Activity {
    pub(super) fn new(ticket: Ticket) -> Self {
        Self { begun: AtomicU64::new(0), ended: AtomicU64::new(0), ticket: Mutex::new(Some(ticket)) }
    }

    /// A request began.
    pub(super) fn begin(&self) -> Request<'_> {
        if self.begun.fetch_add(1, Ordering::Relaxed) == 0 {
            drop(self.ticket.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        Request(self)
    }

    /// How it is used; `seen` is how many requests had begun at the last look.
    pub(super) fn look(&self, seen: &mut u64) -> Use {
        let ended = self.ended.load(Ordering::Relaxed);
        let begun = self.begun.load(Ordering::Relaxed);
        let before = std::mem::replace(seen, begun);
        match begun {
            0 => Use::None,
            _ if begun == ended && begun == before => Use::Idle,
            _ => Use::Busy,
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::super::newcomers::Newcomers;
    use super::*;

    #[test]
    fn idle_is_what_asked_once_and_no_more() {
        let ticket = Arc::new(Newcomers::new(1)).enter(CancellationToken::new());
        let activity = Activity::new(ticket);
        let mut seen = 0;
        assert_eq!(activity.look(&mut seen), Use::None);
        let request = activity.begin();
        assert_eq!(activity.look(&mut seen), Use::Busy);
        assert_eq!(activity.look(&mut seen), Use::Busy, "a long request is no idleness");
        drop(request);
        assert_eq!(activity.look(&mut seen), Use::Idle);
        drop(activity.begin());
        assert_eq!(activity.look(&mut seen), Use::Busy, "something was asked since the last look");
        assert_eq!(activity.look(&mut seen), Use::Idle);
    }
}
