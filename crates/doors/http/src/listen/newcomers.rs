//! Connections that have asked nothing yet.
//!
//! Knows their order. Invariant: there are never more than a few; the oldest is cut when another comes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Connections that have asked nothing yet, oldest first.
#[derive(Debug)]
pub(super) struct Newcomers {
    most: usize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: VecDeque<(u64, CancellationToken)>,
}

/// A place among the newcomers, given up when dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    newcomers: Arc<Newcomers>,
}

impl Newcomers {
    pub(super) fn new(most: usize) -> Self {
        Self { most, queue: Mutex::default() }
    }

    /// One more, who can be cut.
    pub(super) fn enter(self: &Arc<Self>, cut: CancellationToken) -> Ticket {
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back((number, cut));
        let oldest = if queue.waiting.len() > self.most { queue.waiting.pop_front() } else { None };
        drop(queue);
        if let Some((_, oldest)) = oldest {
            tracing::debug!("too many connections ask nothing; the oldest is closed");
            oldest.cancel();
        }
        Ticket { number, newcomers: Arc::clone(self) }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Numbers rise, so the place of one is found quickly.
        let mut queue = self.newcomers.queue();
        if let Ok(place) = queue.waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            queue.waiting.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_cut_when_there_are_too_many() {
        let newcomers = Arc::new(Newcomers::new(2));
        let cuts: Vec<_> = (0..4).map(|_| CancellationToken::new()).collect();
        let cut = || cuts.iter().map(CancellationToken::is_cancelled).collect::<Vec<_>>();
        let first = newcomers.enter(cuts[0].clone());
        let _second = newcomers.enter(cuts[1].clone());
        assert_eq!(cut(), [false; 4]);
        drop(first);
        let _third = newcomers.enter(cuts[2].clone());
        assert_eq!(cut(), [false; 4], "who has left makes room");
        let _fourth = newcomers.enter(cuts[3].clone());
        assert_eq!(cut(), [false, true, false, false]);
    }
}
