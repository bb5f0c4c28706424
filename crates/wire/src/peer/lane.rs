//! Handlers under way: how many, which can be cancelled, and the queue of those that run one after another.
//!
//! A handler is polled once where it was read. Most are done then, and cost no task. One that is not is spawned;
//! only then does it enter the table here.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use loggia_jsonrpc::{ErrorObject, Order, RequestId};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::settings::{Limits, PER_CALL};

/// A handler on its way to its answer.
pub(super) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Debug, Default)]
pub(super) struct Serving {
    state: Mutex<State>,
    last_serial: AtomicU64,
    /// Handlers that were spawned and have not ended.
    free: AtomicUsize,
    urgent: AtomicUsize,
    /// What the calls under way and in the queue cost.
    held: AtomicUsize,
    /// A handler ended or the queue got shorter.
    progress: Notify,
}

#[derive(Default)]
struct State {
    /// Spawned handlers by a number of our own: peers may use one id for two requests.
    tasks: HashMap<u64, Task>,
    /// Those that ended before they were in the table.
    ended_early: HashSet<u64>,
    /// What to answer for those that are being cancelled.
    cancelled: HashMap<u64, ErrorObject>,
    lane: Lane,
}

struct Task {
    id: Option<RequestId>,
    abort: AbortHandle,
}

/// Ordered calls: one runs, the others wait.
#[derive(Default)]
struct Lane {
    busy: bool,
    waiting: VecDeque<Work>,
    driver: Option<AbortHandle>,
}

/// What one call costs, until it is over.
pub(super) struct Charge {
    serving: Arc<Serving>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.serving.held.fetch_sub(self.bytes, Relaxed);
        self.serving.progress.notify_waiters();
    }
}

/// Which count a handler is in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    Free,
    Urgent,
}

impl Serving {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for the next handler.
    pub(super) fn serial(&self) -> u64 {
        self.last_serial.fetch_add(1, Relaxed) + 1
    }

    fn counter(&self, count: Count) -> &AtomicUsize {
        match count {
            Count::Free => &self.free,
            Count::Urgent => &self.urgent,
        }
    }

    pub(super) fn under_way(&self, count: Count) -> usize {
        self.counter(count).load(Relaxed)
    }

    /// Polls a handler once here; if it is not done, spawns it.
    pub(super) fn start(
        self: &Arc<Self>,
        cx: &mut TaskContext<'_>,
        serial: u64,
        id: Option<RequestId>,
        count: Count,
        mut work: Work,
    ) {
        if poll_caught(&mut work, cx).is_ready() {
            return;
        }
        self.counter(count).fetch_add(1, Relaxed);
        let task = tokio::spawn(Spawned { work, _leave: Leave { serving: self.clone(), serial, count } });
        // Not under one lock with the spawn: a runtime that is shutting down drops the task right there, and
        // the task takes the lock when it is dropped.
        let mut state = self.lock();
        if !state.ended_early.remove(&serial) {
            state.tasks.insert(serial, Task { id, abort: task.abort_handle() });
        }
    }

    /// Runs an ordered handler now if none is running, else queues it.
    pub(super) fn start_ordered(self: &Arc<Self>, cx: &mut TaskContext<'_>, mut work: Work) {
        {
            let mut state = self.lock();
            if state.lane.busy {
                state.lane.waiting.push_back(work);
                return;
            }
            // Taken before the first poll: an ordered call made from inside it must not overtake it.
            state.lane.busy = true;
        }
        if poll_caught(&mut work, cx).is_ready() {
            let mut state = self.lock();
            if state.lane.waiting.is_empty() {
                state.lane.busy = false;
                return;
            }
            drop(state);
            work = Box::pin(std::future::ready(()));
        }
        let serving = self.clone();
        let driver = tokio::spawn(async move { serving.drive_lane(work).await });
        self.lock().lane.driver = Some(driver.abort_handle());
    }

    /// Waits until everything that is in the ordered queue now has run.
    pub(super) async fn caught_up(&self) {
        let (mark, reached) = tokio::sync::oneshot::channel::<()>();
        {
            let mut state = self.lock();
            if !state.lane.busy {
                return;
            }
            state.lane.waiting.push_back(Box::pin(async move {
                // Whoever waited may have gone.
                let _ = mark.send(());
            }));
        }
        // Dropped unsent when the connection ends: then nothing more will be heard.
        let _ = reached.await;
    }

    /// Whether one more call can be held.
    pub(super) fn admits(&self, order: Order, bytes: usize, limits: &Limits) -> bool {
        let held = self.held.load(Relaxed);
        let fits = held == 0 || held + bytes + PER_CALL <= limits.held_bytes;
        match order {
            Order::Urgent => self.under_way(Count::Urgent) < limits.in_flight,
            Order::Free => fits && self.under_way(Count::Free) < limits.in_flight,
            Order::Ordered => fits,
        }
    }

    /// Counts a call's bytes until the charge is dropped.
    pub(super) fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        let bytes = bytes + PER_CALL;
        self.held.fetch_add(bytes, Relaxed);
        Charge { serving: self.clone(), bytes }
    }

    /// Waits until a call can be held; false when nothing ended for `patience`.
    pub(super) async fn wait_until_admitted(
        &self,
        order: Order,
        bytes: usize,
        limits: &Limits,
        patience: Duration,
    ) -> bool {
        loop {
            let progress = self.progress.notified();
            if self.admits(order, bytes, limits) {
                return true;
            }
            if tokio::time::timeout(patience, progress).await.is_err() {
                return false;
            }
        }
    }

    async fn drive_lane(&self, first: Work) {
        let mut next = Some(first);
        while let Some(work) = next {
            // A panic ends one handler, not those behind it; its responder has answered for it.
            let _ = AssertUnwindSafe(work).catch_unwind().await;
            let mut state = self.lock();
            next = state.lane.waiting.pop_front();
            if next.is_none() {
                state.lane.busy = false;
                state.lane.driver = None;
            }
            drop(state);
            self.progress.notify_waiters();
        }
    }

    /// Cancels the handlers of a request and says what they shall have answered; whether there was one.
    pub(super) fn cancel(&self, id: &RequestId, error: &ErrorObject) -> bool {
        let mut state = self.lock();
        let serials: Vec<u64> = state
            .tasks
            .iter()
            .filter(|(_, task)| task.id.as_ref() == Some(id))
            .map(|(serial, _)| *serial)
            .collect();
        for serial in &serials {
            state.cancelled.insert(*serial, error.clone());
            if let Some(task) = state.tasks.get(serial) {
                task.abort.abort();
            }
        }
        !serials.is_empty()
    }

    /// What a handler that is dropped shall have answered, if it was cancelled.
    pub(super) fn cancelled_with(&self, serial: u64) -> Option<ErrorObject> {
        self.lock().cancelled.remove(&serial)
    }

    /// Drops everything under way.
    pub(super) fn abort_all(&self) {
        let mut state = self.lock();
        let waiting = std::mem::take(&mut state.lane.waiting);
        if let Some(driver) = state.lane.driver.take() {
            driver.abort();
        }
        state.lane.busy = false;
        for task in state.tasks.values() {
            task.abort.abort();
        }
        drop(state);
        // Outside the lock: dropping work runs its responder, which comes back here.
        drop(waiting);
        self.progress.notify_waiters();
    }

    /// Waits until nothing is under way.
    pub(super) async fn idle(&self) {
        loop {
            let progress = self.progress.notified();
            {
                let state = self.lock();
                if state.tasks.is_empty() && !state.lane.busy {
                    return;
                }
            }
            progress.await;
        }
    }
}

/// Polls once; a panic counts as done, since the dropped responder answers for it.
fn poll_caught(work: &mut Work, cx: &mut TaskContext<'_>) -> Poll<()> {
    match std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(poll) => poll,
        Err(_) => Poll::Ready(()),
    }
}

/// A spawned handler. The order of the fields is the order in which they are dropped: first the work, whose
/// responder may look for the error it was cancelled with, then the entry that held it.
struct Spawned {
    work: Work,
    _leave: Leave,
}

impl Future for Spawned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.work.as_mut().poll(cx)
    }
}

/// Takes a spawned handler out of the table however it ends.
struct Leave {
    serving: Arc<Serving>,
    serial: u64,
    count: Count,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut state = self.serving.lock();
        if state.tasks.remove(&self.serial).is_none() {
            state.ended_early.insert(self.serial);
        }
        state.cancelled.remove(&self.serial);
        drop(state);
        self.serving.counter(self.count).fetch_sub(1, Relaxed);
        self.serving.progress.notify_waiters();
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("tasks", &self.tasks.len())
            .field("queued", &self.lane.waiting.len())
            .finish()
    }
}
