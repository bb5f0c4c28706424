//! One after another, in the order in which turns were taken.
//!
//! A turn is taken without waiting, where a request is read; waiting for it comes later and on any thread. A lock would
//! give turns in the order in which it is first waited for.

use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// Hands out turns.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Option<oneshot::Receiver<()>>>);

/// A turn. The next one begins when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _over: oneshot::Sender<()>,
}

impl Turns {
    /// The next turn.
    pub(crate) fn take(&self) -> Turn {
        let (over, next) = oneshot::channel();
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(next);
        Turn { before, _over: over }
    }
}

impl Turn {
    /// Waits until those before are over.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = &mut self.before {
            // Nothing is ever sent: the end is that the other side is dropped.
            let _ = before.await;
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn turns_come_in_the_order_in_which_they_were_taken() {
        let turns = Turns::default();
        let [mut first, mut second, mut third] = [turns.take(), turns.take(), turns.take()];
        assert!(third.come().now_or_never().is_none());
        assert!(second.come().now_or_never().is_none());
        first.come().await;
        drop(first);
        assert!(third.come().now_or_never().is_none());
        second.come().await;
        drop(second);
        third.come().await;
    }
}
