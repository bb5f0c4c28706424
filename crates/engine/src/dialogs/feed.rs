//! Hearing of dialogs and windows.
//!
//! Has no queue that could grow: a listener knows what it has told and compares that with the board. One who falls
//! behind is not told of what came and went meanwhile, and of nothing twice.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use loggia_domain::{Dialog, DialogId, GuestWindow, WindowId};
use tokio::sync::watch;

use super::{DialogBoard, DialogEnd, Inner, WindowEnd};

/// Whether somebody who listens can answer, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// They only see what is open: nobody waits for them.
    Watches,
    /// They show dialogs and may answer them.
    Answers,
}

/// Something that happened on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogNews {
    /// A dialog is open.
    Asked(Arc<Dialog>),
    /// A dialog is not open any more.
    Ended {
        /// Which.
        dialog: DialogId,
        /// What became of it.
        end: DialogEnd,
    },
    /// A window is open.
    Opened(Arc<GuestWindow>),
    /// A window is not open any more.
    Closed {
        /// Which.
        window: WindowId,
        /// Who closed it.
        end: WindowEnd,
    },
}

/// What happens on the board, beginning with all that is open. Whoever can answer is there until this is dropped.
#[derive(Debug)]
pub struct DialogFeed {
    inner: Arc<Inner>,
    audience: Audience,
    changes: watch::Receiver<u64>,
    /// What was told to be open.
    dialogs: BTreeSet<DialogId>,
    windows: BTreeSet<WindowId>,
    waiting: VecDeque<DialogNews>,
}

impl DialogBoard {
    /// Listens, from all that is open now on.
    pub fn listen(&self, audience: Audience) -> DialogFeed {
        let changes = self.0.changes.subscribe();
        self.0.change(|board| board.answerers += usize::from(audience == Audience::Answers));
        DialogFeed {
            inner: Arc::clone(&self.0),
            audience,
            changes,
            dialogs: BTreeSet::new(),
            windows: BTreeSet::new(),
            waiting: VecDeque::new(),
        }
    }
}

impl DialogFeed {
    /// Whether whoever listens can answer.
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// The same for listeners who can answer now, or no longer. Nothing is told twice.
    #[must_use]
    pub fn turned(mut self, audience: Audience) -> Self {
        let (before, now) = (self.audience == Audience::Answers, audience == Audience::Answers);
        self.inner.change(|board| {
            board.answerers = (board.answerers + usize::from(now)).saturating_sub(usize::from(before));
        });
        self.audience = audience;
        self
    }

    /// The next thing that happened. Losing the future loses nothing.
    pub async fn next(&mut self) -> DialogNews {
        loop {
            if let Some(news) = self.try_next() {
                return news;
            }
            if self.changes.changed().await.is_err() {
                // We hold the other end ourselves, so this cannot be; and then nothing more happens.
                std::future::pending::<()>().await;
            }
        }
    }

    /// The next thing that has happened already.
    pub fn try_next(&mut self) -> Option<DialogNews> {
        if self.waiting.is_empty() {
            self.changes.borrow_and_update();
            self.catch_up();
        }
        self.waiting.pop_front()
    }

    /// Compares what was told with what is.
    fn catch_up(&mut self) {
        let board = self.inner.board();
        let (dialogs, windows, waiting) = (&mut self.dialogs, &mut self.windows, &mut self.waiting);
        dialogs.retain(|id| {
            let is_open = board.dialogs.contains_key(id);
            if !is_open {
                let end = board.end_of(*id).cloned().unwrap_or(DialogEnd::Withdrawn);
                waiting.push_back(DialogNews::Ended { dialog: *id, end });
            }
            is_open
        });
        windows.retain(|id| {
            let is_open = board.windows.contains_key(id);
            if !is_open {
                let end = board.end_of_window(*id).cloned().unwrap_or(WindowEnd::ByGuest);
                waiting.push_back(DialogNews::Closed { window: *id, end });
            }
            is_open
        });
        let asked = board.dialogs.iter().filter(|(id, _)| dialogs.insert(**id));
        waiting.extend(asked.map(|(_, open)| DialogNews::Asked(Arc::clone(&open.dialog))));
        let opened = board.windows.iter().filter(|(id, _)| windows.insert(**id));
        waiting.extend(opened.map(|(_, open)| DialogNews::Opened(Arc::clone(&open.window))));
    }
}

impl Drop for DialogFeed {
    fn drop(&mut self) {
        if self.audience == Audience::Answers {
            self.inner.change(|board| board.answerers = board.answerers.saturating_sub(1));
        }
    }
}
