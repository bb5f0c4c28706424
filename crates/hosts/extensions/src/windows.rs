//! The windows of one extension.
//!
//! Invariant: the end of a window is told exactly once, by whoever took it out of the table; and never before the answer
//! that named the window.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::BoxFuture;
use loggia_protocol_hermes::{WindowCloseReason, WindowClosedParams, WindowId};
use tokio::sync::oneshot;

use crate::guest::Guest;
use crate::mailbox::Mail;

/// More windows than anybody looks at.
const MOST_OPEN: usize = 32;

/// Windows that are closed and remembered as such: closing one again is no mistake.
const MOST_REMEMBERED: usize = 1024;

/// The windows of one extension.
#[derive(Debug, Default)]
pub(crate) struct Windows(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Dropping what is kept closes the window.
    open: HashMap<WindowId, oneshot::Sender<()>>,
    closed: VecDeque<WindowId>,
    /// The extension has ended: nothing opens any more.
    over: bool,
}

/// What became of closing a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It is closed now.
    Closed,
    /// It was closed before.
    Already,
    /// It is nobody's, or somebody else's.
    Unknown,
}

impl Windows {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for one more.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().open.len() < MOST_OPEN
    }

    /// Closes one.
    pub(crate) fn close(&self, id: &WindowId) -> Closing {
        let mut table = self.lock();
        match table.open.remove(id) {
            Some(closes) => {
                table.remember(id.clone());
                drop(table);
                drop(closes);
                Closing::Closed
            }
            None if table.closed.contains(id) => Closing::Already,
            None => Closing::Unknown,
        }
    }

    /// Closes all, and names them. Their extension may close them once more, which is no mistake.
    pub(crate) fn close_all(&self) -> Vec<WindowId> {
        let open = {
            let mut table = self.lock();
            let open = std::mem::take(&mut table.open);
            open.keys().for_each(|id| table.remember(id.clone()));
            open
        };
        open.into_keys().collect()
    }

    /// Closes all for good: one that is just being opened is closed at once.
    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.close_all();
    }

    /// Keeps what closes a window when it is dropped.
    fn keep(&self, id: WindowId, closes: oneshot::Sender<()>) {
        let mut table = self.lock();
        if table.over {
            table.remember(id);
        } else {
            table.open.insert(id, closes);
        }
    }
}

impl Table {
    fn remember(&mut self, id: WindowId) {
        if self.closed.len() == MOST_REMEMBERED {
            self.closed.pop_front();
        }
        self.closed.push_back(id);
    }
}

/// Watches a window until somebody closes it. It begins when what comes back is dropped: when the extension's answer is
/// on its way.
pub(crate) fn watch(
    guest: &Arc<Guest>,
    id: WindowId,
    closed_by_person: BoxFuture<'static, ()>,
) -> oneshot::Sender<()> {
    let (closes, closed) = oneshot::channel();
    let (told, is_told) = oneshot::channel();
    guest.windows.keep(id.clone(), closes);
    let guest = guest.clone();
    let tasks = guest.context.tasks.clone();
    tasks.spawn(async move {
        // Nothing is ever sent over either: the end is that the other side is dropped.
        let _ = is_told.await;
        tokio::select! {
            biased;
            _ = closed => {}
            () = closed_by_person => {
                if guest.windows.close(&id) == Closing::Closed {
                    guest.post(window_closed(id, WindowCloseReason::User));
                }
            }
        }
    });
    told
}

/// What is told of a window's end.
pub(crate) fn window_closed(id: WindowId, reason: WindowCloseReason) -> Mail {
    Mail::WindowClosed(WindowClosedParams { window_id: id, reason: Some(reason) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_window_that_opens_while_its_extension_ends_is_closed_at_once() {
        let windows = Windows::default();
        windows.end();
        let (closes, closed) = oneshot::channel();
        windows.keep(WindowId("late".to_owned()), closes);
        closed.await.unwrap_err();
        assert_eq!(windows.close(&WindowId("late".to_owned())), Closing::Already);
    }
}
