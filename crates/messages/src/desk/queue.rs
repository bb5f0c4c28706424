//! Work on one state, one piece after the other, on threads that may wait.
//!
//! Knows nothing of what the work is. Invariants: work is done in the order in which it was handed in, which is before
//! its future is first polled; a piece that panics fails alone; while nobody works, nothing runs.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::BoxFuture;
use tokio::sync::oneshot;

use crate::limits::MAX_WAITING;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A state and the work that waits for it.
pub(crate) struct Queue<S> {
    inner: Mutex<Inner<S>>,
}

struct Inner<S> {
    jobs: VecDeque<Job<S>>,
    /// Away while somebody works on it.
    state: Option<S>,
}

/// Why work is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueError {
    /// Too much waits already.
    Full,
    /// It broke off.
    Broken,
}

impl<S: Send + 'static> Queue<S> {
    pub(crate) fn new(state: S) -> Arc<Self> {
        Arc::new(Self { inner: Mutex::new(Inner { jobs: VecDeque::new(), state: Some(state) }) })
    }

    /// Hands work in. The future is what came of it.
    pub(crate) fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> BoxFuture<'static, Result<T, QueueError>> {
        let (tell, told) = oneshot::channel();
        let job: Job<S> = Box::new(move |state| {
            // Whoever asked may be gone.
            let _ = tell.send(work(state));
        });
        let handed = self.hand_in(job);
        Box::pin(async move {
            handed?;
            told.await.map_err(|_| QueueError::Broken)
        })
    }

    fn hand_in(self: &Arc<Self>, job: Job<S>) -> Result<(), QueueError> {
        let mut inner = self.lock();
        if inner.jobs.len() >= MAX_WAITING {
            return Err(QueueError::Full);
        }
        inner.jobs.push_back(job);
        if let Some(state) = inner.state.take() {
            let queue = Arc::clone(self);
            tokio::task::spawn_blocking(move || queue.run(state));
        }
        Ok(())
    }

    /// Works until nothing waits.
    fn run(&self, mut state: S) {
        loop {
            let job = {
                let mut inner = self.lock();
                match inner.jobs.pop_front() {
                    Some(job) => job,
                    None => {
                        inner.state = Some(state);
                        return;
                    }
                }
            };
            if catch_unwind(AssertUnwindSafe(|| job(&mut state))).is_err() {
                tracing::error!("work on a message broke off");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<S>> {
        // Nothing in here panics while it is held.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> fmt::Debug for Queue<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_in_the_order_in_which_it_is_handed_in() {
        let queue = Queue::new(Vec::new());
        let first = queue.submit(|list: &mut Vec<u8>| list.push(1));
        let second = queue.submit(|list| list.push(2));
        // Polled the other way round.
        second.await.unwrap();
        first.await.unwrap();
        assert_eq!(queue.submit(|list| list.clone()).await, Ok(vec![1, 2]));
    }

    #[tokio::test]
    async fn work_that_panics_fails_alone() {
        let queue = Queue::new(0);
        let broken = queue.submit(|_: &mut i32| panic!("on purpose"));
        let next = queue.submit(|number| *number += 1);
        assert_eq!(broken.await, Err(QueueError::Broken));
        assert_eq!(next.await, Ok(()));
        assert_eq!(queue.submit(|number| *number).await, Ok(1));
    }

    #[tokio::test]
    async fn more_than_may_wait_is_refused() {
        let queue = Queue::new(());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let held = queue.submit(move |()| wait.recv().is_ok());
        let waiting: Vec<_> = (0..MAX_WAITING + 1).map(|_| queue.submit(|()| ())).collect();
        go.send(()).unwrap();
        assert_eq!(held.await, Ok(true));
        let mut refused = 0;
        for work in waiting {
            refused += usize::from(work.await == Err(QueueError::Full));
        }
        // The first may have begun, or not.
        assert!((1..=2).contains(&refused), "{refused}");
    }
}
