//! Where the events of a run wait between whoever reads a plugin's output and whoever drives the run.
//!
//! Many come at once, so they are handed over by the heap: reading on costs no change of tasks. Knows nothing of what
//! events mean.
//!
//! Invariant: what waits here is at most [`FULL`] and one event; the reader waits with the rest.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loggia_protocol_mehrhof::StreamEvent;
use tokio::sync::Notify;

/// As much as waits, in bytes. More of it would only be read sooner than it can be used.
const FULL: usize = 1024 * 1024;

/// What an event costs besides its text, roughly.
const PER_EVENT: usize = 128;

/// Who listens to the events of a run, and what they have not heard yet.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    heap: Mutex<Heap>,
    arrived: Notify,
    taken: Notify,
}

#[derive(Debug, Default)]
struct Heap {
    is_open: bool,
    events: Vec<StreamEvent>,
    bytes: usize,
}

impl Ear {
    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to listen, or ends it. What nobody heard is forgotten.
    pub(crate) fn open(&self, is_open: bool) {
        *self.heap() = Heap { is_open, ..Heap::default() };
        self.taken.notify_waiters();
    }

    /// Lays an event down, and waits while there are too many.
    pub(crate) async fn put(&self, event: StreamEvent) {
        if !self.lay_down(event) {
            return;
        }
        loop {
            let taken = self.taken.notified();
            if self.heap().bytes <= FULL {
                return;
            }
            taken.await;
        }
    }

    /// Whether there are too many now.
    fn lay_down(&self, event: StreamEvent) -> bool {
        let mut heap = self.heap();
        if !heap.is_open {
            tracing::debug!(kind = event.kind(), "an event of a plugin outside a run");
            return false;
        }
        heap.bytes += PER_EVENT + weight(&event);
        heap.events.push(event);
        let (is_first, is_full) = (heap.events.len() == 1, heap.bytes > FULL);
        drop(heap);
        if is_first {
            self.arrived.notify_one();
        }
        is_full
    }

    /// Takes what is there, and waits until there is something. Dropped before it is done, it has taken nothing.
    pub(crate) async fn take(&self) -> Vec<StreamEvent> {
        loop {
            // Waits for the next one from here on; one that came before is remembered.
            let arrived = self.arrived.notified();
            let events = self.take_now();
            if !events.is_empty() {
                return events;
            }
            arrived.await;
        }
    }

    /// Takes what is there.
    pub(crate) fn take_now(&self) -> Vec<StreamEvent> {
        let mut heap = self.heap();
        let was_full = std::mem::take(&mut heap.bytes) > FULL;
        let events = std::mem::take(&mut heap.events);
        drop(heap);
        if was_full {
            self.taken.notify_waiters();
        }
        events
    }
}

/// How much memory an event holds, roughly.
fn weight(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Text(text) | StreamEvent::Thinking(text) => text.len(),
        StreamEvent::File(file) => file.path.len() + file.content.as_ref().map_or(0, String::len),
        StreamEvent::Complete | StreamEvent::Usage(_) => 0,
        StreamEvent::Error(error) => error.message.len(),
        StreamEvent::ToolUse(call) => call.input.0.to_string().len(),
        StreamEvent::ToolResult(result) => result.result.0.to_string().len(),
        StreamEvent::Unknown { data, .. } | StreamEvent::Misshapen { data, .. } => data.0.to_string().len(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn text(length: usize) -> StreamEvent {
        StreamEvent::Text("x".repeat(length))
    }

    #[tokio::test]
    async fn what_comes_is_taken_together_and_in_order() {
        let ear = Ear::default();
        ear.open(true);
        for length in 1..=3 {
            ear.put(text(length)).await;
        }
        assert_eq!(ear.take().await, [text(1), text(2), text(3)]);
        assert!(ear.take().now_or_never().is_none());
        ear.put(text(4)).await;
        assert_eq!(ear.take().await, [text(4)]);
    }

    #[tokio::test]
    async fn whoever_brings_too_much_waits_until_it_is_taken() {
        let ear = Ear::default();
        ear.open(true);
        let mut second = Box::pin(async {
            ear.put(text(FULL / 2)).await;
            ear.put(text(FULL)).await;
        });
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(ear.take().await.len(), 2);
        assert!(second.now_or_never().is_some());
    }

    #[tokio::test]
    async fn nothing_is_kept_for_nobody_and_nobody_waits_for_it() {
        let ear = Ear::default();
        ear.put(text(1)).await;
        ear.open(true);
        assert!(ear.take().now_or_never().is_none());
        let mut stuck = Box::pin(ear.put(text(FULL + 1)));
        assert!((&mut stuck).now_or_never().is_none());
        ear.open(false);
        assert!(stuck.now_or_never().is_some());
    }
}
