//! People for tests: each dialog gets the next answer that was prepared, and windows are closed when a test says so.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use loggia_domain::{BoxFuture, Dialog, DialogAnswer, DialogError, Dialogs, GuestWindow};
use tokio::sync::oneshot;

use crate::support::Script;

#[derive(Default)]
pub(crate) struct People {
    answers: Script<Result<DialogAnswer, DialogError>>,
    asked: Mutex<Vec<Dialog>>,
    withdrawn: Mutex<usize>,
    shown: Mutex<Vec<GuestWindow>>,
    /// By the text of their ids.
    open: Mutex<BTreeMap<String, oneshot::Sender<()>>>,
    nobody: Mutex<bool>,
    /// Closes windows before anybody knows of them.
    hasty: Mutex<bool>,
}

impl People {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What they answer next, and then; nothing for ever once there is no more.
    pub(crate) fn will_answer(&self, answers: impl IntoIterator<Item = Result<DialogAnswer, DialogError>>) {
        self.answers.lock().unwrap().extend(answers);
    }

    pub(crate) fn are_away(&self) {
        *self.nobody.lock().unwrap() = true;
    }

    pub(crate) fn are_hasty(&self) {
        *self.hasty.lock().unwrap() = true;
    }

    /// All dialogs so far.
    pub(crate) fn asked(&self) -> Vec<Dialog> {
        self.asked.lock().unwrap().clone()
    }

    /// How many dialogs were withdrawn.
    pub(crate) fn withdrawn(&self) -> usize {
        *self.withdrawn.lock().unwrap()
    }

    /// All windows so far.
    pub(crate) fn shown(&self) -> Vec<GuestWindow> {
        self.shown.lock().unwrap().clone()
    }

    /// How many windows are open.
    pub(crate) fn open_windows(&self) -> usize {
        self.open.lock().unwrap().values().filter(|window| !window.is_closed()).count()
    }

    /// Closes a window by hand.
    pub(crate) fn close(&self, window: &str) {
        self.open.lock().unwrap().remove(window).unwrap().send(()).unwrap();
    }
}

/// Counts a dialog that nobody answered.
struct Withdrawn<'a>(&'a People, bool);

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        if !self.1 {
            *self.0.withdrawn.lock().unwrap() += 1;
        }
    }
}

impl Dialogs for People {
    fn ask(&self, dialog: Dialog) -> BoxFuture<'_, Result<DialogAnswer, DialogError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(dialog);
            if *self.nobody.lock().unwrap() {
                return Err(DialogError::NobodyThere("no client shows dialogs".to_owned()));
            }
            let mut withdrawn = Withdrawn(self, false);
            let next = VecDeque::pop_front(&mut self.answers.lock().unwrap());
            match next {
                Some(answer) => {
                    withdrawn.1 = true;
                    answer
                }
                None => std::future::pending().await,
            }
        })
    }

    fn show(&self, window: GuestWindow) -> BoxFuture<'_, Result<BoxFuture<'static, ()>, DialogError>> {
        Box::pin(async move {
            if *self.nobody.lock().unwrap() {
                return Err(DialogError::NobodyThere("no client shows windows".to_owned()));
            }
            let (close, closed) = oneshot::channel();
            self.open.lock().unwrap().insert(window.id.to_string(), close);
            let id = window.id.to_string();
            self.shown.lock().unwrap().push(window);
            if *self.hasty.lock().unwrap() {
                self.close(&id);
            }
            let closed: BoxFuture<'static, ()> = Box::pin(async move { closed.await.unwrap_or(()) });
            Ok(closed)
        })
    }
}
