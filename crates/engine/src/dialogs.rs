//! The board of dialogs and windows: what guests want shown, and who is there to see it.
//!
//! Knows what is open, who listens and what became of what is not open any more. Refuses to know what a dialog looks
//! like, how it reaches people and which guest asked for what reason.
//!
//! What always holds:
//! - a dialog is with everybody who listens; the first answer that fits counts, and all others are told so;
//! - whoever asks gets an answer or an error, and what nobody asks for any more is shown to nobody;
//! - where nobody can answer, asking fails at once unless waiting was configured;
//! - what was chosen lies, by its real path, in a directory that is allowed.

mod answer;
mod feed;
mod places;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_domain::{
    Actor, BoxFuture, Dialog, DialogAnswer, DialogBody, DialogError, DialogId, Dialogs, GuestWindow, WindowId,
};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

pub use answer::AnswerError;
pub use feed::{Audience, DialogFeed, DialogNews};

/// Dialogs that are open at once. People answer one after the other; hundreds are a guest that has gone astray.
pub const MAX_DIALOGS: usize = 128;

/// Dialogs of one guest that are open at once, so that one that has gone astray leaves room for others.
pub const MAX_GUEST_DIALOGS: usize = 16;

/// Windows that are open at once.
pub const MAX_WINDOWS: usize = 128;

/// Windows of one guest that are open at once.
pub const MAX_GUEST_WINDOWS: usize = 16;

/// The longest text of a dialog, in bytes: more than anybody reads. What is longer is cut, and says so.
pub const MAX_DIALOG_TEXT: usize = 64 << 10;

/// The longest address of a window, in bytes: what browsers take.
pub const MAX_WINDOW_ADDRESS: usize = 8 << 10;

/// How many that are not open any more are remembered, for those who answer late.
const REMEMBERED: usize = 1024;

/// How long a dialog stays when the last one who could answer it has left: time to load a page again.
const GRACE: Duration = Duration::from_secs(15);

/// What whoever starts an engine decides about dialogs.
#[derive(Debug, Clone, Default)]
pub struct DialogSettings {
    /// What becomes of a dialog while nobody can answer it.
    pub when_nobody: WhenNobody,
    /// Directories besides the workspace in which people may choose files.
    pub directories: Vec<PathBuf>,
}

/// What becomes of a dialog while nobody can answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenNobody {
    /// It fails at once.
    #[default]
    Fail,
    /// It waits that long for somebody to come.
    WaitFor(Duration),
    /// It waits.
    Wait,
}

/// The open dialogs and windows of all guests. Cheap to clone; all clones are the same board.
#[derive(Debug, Clone, Default)]
pub struct DialogBoard(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    settings: DialogSettings,
    state: Mutex<Board>,
    /// Counts changes of the board, for those who wait for one.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Board {
    dialogs: BTreeMap<DialogId, OpenDialog>,
    windows: BTreeMap<WindowId, OpenWindow>,
    ended: VecDeque<(DialogId, DialogEnd)>,
    closed: VecDeque<(WindowId, WindowEnd)>,
    /// How many of those who listen can answer.
    answerers: usize,
    stopping: bool,
}

#[derive(Debug)]
struct OpenDialog {
    dialog: Arc<Dialog>,
    answer: oneshot::Sender<DialogAnswer>,
}

#[derive(Debug)]
struct OpenWindow {
    window: Arc<GuestWindow>,
    closed: oneshot::Sender<()>,
}

/// What became of a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogEnd {
    /// Somebody answered it.
    Answered {
        /// Who.
        by: Actor,
    },
    /// Nobody wants an answer any more.
    Withdrawn,
}

/// Why a window is not there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowEnd {
    /// Somebody closed it.
    ByPerson {
        /// Who.
        by: Actor,
    },
    /// Its guest closed it, or left.
    ByGuest,
}

impl DialogBoard {
    /// A board on which nothing is shown yet.
    pub fn new(settings: DialogSettings) -> Self {
        Self(Arc::new(Inner { settings, ..Inner::default() }))
    }

    /// How many listen who can answer.
    pub fn answerers(&self) -> usize {
        self.0.board().answerers
    }

    /// What is open now: dialogs and windows, oldest first.
    pub fn open(&self) -> (Vec<Arc<Dialog>>, Vec<Arc<GuestWindow>>) {
        let board = self.0.board();
        let dialogs = board.dialogs.values().map(|open| Arc::clone(&open.dialog)).collect();
        (dialogs, board.windows.values().map(|open| Arc::clone(&open.window)).collect())
    }

    /// Ends everything: whoever asks is told, and nothing more is shown.
    pub fn stop(&self) {
        self.0.change(|board| {
            board.stopping = true;
            for (id, _) in std::mem::take(&mut board.dialogs) {
                board.remember(id, DialogEnd::Withdrawn);
            }
            for (id, _) in std::mem::take(&mut board.windows) {
                board.remember_window(id, WindowEnd::ByGuest);
            }
        });
    }
}

impl Dialogs for DialogBoard {
    fn ask(&self, dialog: Dialog) -> BoxFuture<'_, Result<DialogAnswer, DialogError>> {
        Box::pin(async move {
            let (placed, answer) = Placed::new(&self.0, dialog)?;
            placed.answered(answer).await
        })
    }

    fn show(&self, window: GuestWindow) -> BoxFuture<'_, Result<BoxFuture<'static, ()>, DialogError>> {
        let shown = Shown::new(&self.0, window).map(|(shown, closed)| {
            let done: BoxFuture<'static, ()> = Box::pin(async move {
                let _shown = shown;
                if closed.await.is_err() {
                    // Nobody closed it: we are leaving, and so is whoever waits.
                    std::future::pending::<()>().await;
                }
            });
            done
        });
        Box::pin(std::future::ready(shown))
    }
}

/// A dialog on the board. Dropping it takes it off.
struct Placed {
    inner: Arc<Inner>,
    id: DialogId,
}

impl Placed {
    fn new(
        inner: &Arc<Inner>,
        dialog: Dialog,
    ) -> Result<(Self, oneshot::Receiver<DialogAnswer>), DialogError> {
        let (id, dialog) = (dialog.id, Arc::new(shortened(dialog)));
        let when_nobody = inner.settings.when_nobody;
        let answered = inner.change(|board| {
            board.may_show(when_nobody)?;
            let its = board.dialogs.values().filter(|open| open.dialog.guest == dialog.guest).count();
            room("dialogs", board.dialogs.len(), MAX_DIALOGS, its, MAX_GUEST_DIALOGS)?;
            if board.dialogs.contains_key(&id) {
                return Err(DialogError::TooMany(format!("the dialog `{id}` is open already")));
            }
            let (answer, answered) = oneshot::channel();
            board.dialogs.insert(id, OpenDialog { dialog, answer });
            Ok(answered)
        })?;
        Ok((Self { inner: Arc::clone(inner), id }, answered))
    }

    /// Waits for an answer, as long as somebody is there to give one or may still come.
    async fn answered(
        self,
        mut answer: oneshot::Receiver<DialogAnswer>,
    ) -> Result<DialogAnswer, DialogError> {
        let mut changes = self.inner.changes.subscribe();
        let mut alone = None;
        let mut was_seen = false;
        loop {
            changes.borrow_and_update();
            match self.inner.board().answerers {
                0 => alone = alone.or_else(|| Some(Instant::now())),
                _ => (alone, was_seen) = (None, true),
            }
            let until = alone.and_then(|since| Some(since + self.inner.patience(was_seen)?));
            tokio::select! {
                biased;
                answer = &mut answer => return answer.map_err(|_| DialogError::Stopping),
                _ = changes.changed() => {}
                () = at(until) => return Err(nobody()),
            }
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.inner.change(|board| {
            if board.dialogs.remove(&self.id).is_some() {
                board.remember(self.id, DialogEnd::Withdrawn);
            }
        });
    }
}

/// A window on the board. Dropping it takes it off.
struct Shown {
    inner: Arc<Inner>,
    id: WindowId,
}

impl Shown {
    fn new(inner: &Arc<Inner>, window: GuestWindow) -> Result<(Self, oneshot::Receiver<()>), DialogError> {
        if window.url.len() > MAX_WINDOW_ADDRESS {
            let why = format!("a window's address has at most {MAX_WINDOW_ADDRESS} bytes");
            return Err(DialogError::TooMany(why));
        }
        let id = window.id;
        let window = Arc::new(GuestWindow { title: cut(window.title), ..window });
        let when_nobody = inner.settings.when_nobody;
        let done = inner.change(|board| {
            board.may_show(when_nobody)?;
            let its = board.windows.values().filter(|open| open.window.guest == window.guest).count();
            room("windows", board.windows.len(), MAX_WINDOWS, its, MAX_GUEST_WINDOWS)?;
            if board.windows.contains_key(&id) {
                return Err(DialogError::TooMany(format!("the window `{id}` is open already")));
            }
            let (closed, done) = oneshot::channel();
            board.windows.insert(id, OpenWindow { window, closed });
            Ok(done)
        })?;
        Ok((Self { inner: Arc::clone(inner), id }, done))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.inner.change(|board| {
            if board.windows.remove(&self.id).is_some() {
                board.remember_window(self.id, WindowEnd::ByGuest);
            }
        });
    }
}

impl Inner {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the board, and wakes whoever waits for a change.
    fn change<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let changed = change(&mut self.board());
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
        changed
    }

    /// How long a dialog stays that nobody can answer; for ever if that is nothing.
    fn patience(&self, was_seen: bool) -> Option<Duration> {
        match (self.settings.when_nobody, was_seen) {
            (WhenNobody::Fail, false) => Some(Duration::ZERO),
            (WhenNobody::Fail, true) => Some(GRACE),
            (WhenNobody::WaitFor(time), false) => Some(time),
            (WhenNobody::WaitFor(time), true) => Some(time.max(GRACE)),
            (WhenNobody::Wait, _) => None,
        }
    }
}

impl Board {
    fn may_show(&self, when_nobody: WhenNobody) -> Result<(), DialogError> {
        if self.stopping {
            return Err(DialogError::Stopping);
        }
        match (self.answerers, when_nobody) {
            (0, WhenNobody::Fail) => Err(nobody()),
            _ => Ok(()),
        }
    }

    fn remember(&mut self, id: DialogId, end: DialogEnd) {
        self.ended.push_back((id, end));
        while self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }

    fn remember_window(&mut self, id: WindowId, end: WindowEnd) {
        self.closed.push_back((id, end));
        while self.closed.len() > REMEMBERED {
            self.closed.pop_front();
        }
    }

    /// What became of a dialog that is not open; nothing if it never was, or long ago.
    fn end_of(&self, id: DialogId) -> Option<&DialogEnd> {
        self.ended.iter().rev().find(|(ended, _)| *ended == id).map(|(_, end)| end)
    }

    fn end_of_window(&self, id: WindowId) -> Option<&WindowEnd> {
        self.closed.iter().rev().find(|(closed, _)| *closed == id).map(|(_, end)| end)
    }
}

fn nobody() -> DialogError {
    DialogError::NobodyThere("no client that shows dialogs is connected".to_owned())
}

/// Whether one more fits, of all guests' and of this one's.
fn room(what: &str, all: usize, most: usize, its: usize, most_of_guest: usize) -> Result<(), DialogError> {
    if its >= most_of_guest {
        return Err(DialogError::TooMany(format!("{its} {what} of this extension are open already")));
    }
    if all >= most {
        return Err(DialogError::TooMany(format!("{all} {what} are open already")));
    }
    Ok(())
}

/// The dialog with texts that people can be shown.
fn shortened(dialog: Dialog) -> Dialog {
    let body = match dialog.body {
        DialogBody::Message { text, weight } => DialogBody::Message { text: cut(text), weight },
        DialogBody::Confirm { text, words } => DialogBody::Confirm { text: cut(text), words },
        body => body,
    };
    Dialog { title: dialog.title.map(cut), body, ..dialog }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_DIALOG_TEXT {
        text.truncate(text.floor_char_boundary(MAX_DIALOG_TEXT));
        text.push('…');
    }
    text
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
