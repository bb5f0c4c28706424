//! Which requests of an extension are open, and when it last gave a sign of life.
//!
//! Invariant: a request is open from the moment it was read until its answer is queued.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

/// What is open between us and an extension.
#[derive(Debug)]
pub(crate) struct Traffic {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// Open requests about the message.
    editor: usize,
    /// Open requests to people.
    people: usize,
    /// When a request came or was answered last.
    asked: Instant,
    /// When it said anything at all.
    heard: Instant,
}

/// Whom a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The message: answered soon, and applied in order.
    Editor,
    /// People: answered when they like.
    People,
}

/// An open request.
#[derive(Debug)]
pub(crate) struct Open {
    traffic: Arc<Traffic>,
    aim: Aim,
}

impl Traffic {
    pub(crate) fn new() -> Arc<Self> {
        let now = Instant::now();
        let state = State { editor: 0, people: 0, asked: now, heard: now };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was read.
    pub(crate) fn open(self: &Arc<Self>, aim: Aim) -> Open {
        self.change(|state| {
            *state.count(aim) += 1;
            state.asked = Instant::now();
            state.heard = state.asked;
        });
        Open { traffic: self.clone(), aim }
    }

    /// A command was given: what follows counts from now.
    pub(crate) fn begin(&self) {
        self.change(|state| {
            state.asked = Instant::now();
            state.heard = state.asked;
        });
    }

    /// It said something.
    pub(crate) fn touch(&self) {
        self.change(|state| state.heard = Instant::now());
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_waiters();
    }

    /// Whether no request about the message is open: then the extension reads what it is told.
    pub(crate) fn is_attentive(&self) -> bool {
        self.lock().editor == 0
    }

    /// Whether no request is open at all.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.editor == 0 && state.people == 0
    }

    /// When a request came or was answered last.
    pub(crate) fn asked(&self) -> Instant {
        self.lock().asked
    }

    /// When it said anything at all.
    pub(crate) fn heard(&self) -> Instant {
        self.lock().heard
    }

    /// The next change; taken before looking, it misses none.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Waits until no request is open.
    pub(crate) async fn idle(&self) {
        loop {
            let changed = self.changed();
            if self.is_idle() {
                return;
            }
            changed.await;
        }
    }
}

impl State {
    fn count(&mut self, aim: Aim) -> &mut usize {
        match aim {
            Aim::Editor => &mut self.editor,
            Aim::People => &mut self.people,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let aim = self.aim;
        self.traffic.change(|state| {
            *state.count(aim) -= 1;
            state.asked = Instant::now();
            state.heard = state.asked;
        });
    }
}
