//! What stands before the line: whether commands can be given, and whether anybody is there.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use reedline::{Prompt, PromptEditMode, PromptHistorySearch};

use crate::paint::width_of;

/// What stands before a line that is sent.
pub(super) const MARK: &str = "> ";

/// How the console is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nobody is there.
    Waiting = 0,
    /// Commands cannot be given now.
    Closed = 1,
    /// Commands can be given.
    Open = 2,
}

/// The state, for the thread that draws.
#[derive(Debug, Default)]
pub(super) struct Prompting {
    state: AtomicU8,
    draw: OnceLock<Signal>,
}

/// What tells the editor to draw.
pub(super) struct Signal(pub(super) Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signal")
    }
}

impl Prompting {
    pub(super) fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Waiting,
            1 => State::Closed,
            _ => State::Open,
        }
    }

    pub(super) fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
        self.draw();
    }

    /// Whoever draws wants to be told.
    pub(super) fn drawn_by(&self, signal: Signal) {
        // There is one editor.
        let _ = self.draw.set(signal);
    }

    /// Draws again.
    pub(super) fn draw(&self) {
        if let Some(signal) = self.draw.get() {
            (signal.0)();
        }
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        width_of(self.text())
    }

    fn text(&self) -> &'static str {
        match self.state() {
            State::Waiting => "(waiting) ",
            State::Closed => "(no commands now) ",
            State::Open => MARK,
        }
    }
}

/// What stands before the line.
pub(super) struct Mark(pub(super) Arc<Prompting>);

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(self.0.text())
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search {}: ", search.term))
    }
}
