//! The line that is typed: editing, history, completion.
//!
//! The editor blocks while somebody types, so it has a thread of its own. It holds the terminal only then, and whoever
//! leaves meanwhile puts the terminal back.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::PathBuf;

use reedline::{
    ColumnarMenu, Completer, CompletionResult, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder,
    Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span,
    Suggestion, default_emacs_keybindings,
};
use tokio::sync::{mpsc, oneshot};

use super::{Chat, complete};
use crate::terminal::Modes;

/// How many lines are remembered.
const HISTORY_LINES: usize = 2_000;

/// The menu's name, by which the key finds it.
const MENU: &str = "completion";

/// What stands before the line.
const MARK: &str = "› ";

/// What came of waiting for a line.
#[derive(Debug)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or nothing more comes.
    Ended,
    Broken(io::Error),
}

/// Where lines come from.
#[derive(Debug)]
pub(super) enum Editor {
    Typing(Typist),
    Given(mpsc::Receiver<String>),
}

/// Somebody who types.
#[derive(Debug)]
pub(super) struct Typist {
    /// Each is for one line.
    requests: std::sync::mpsc::Sender<oneshot::Sender<Typed>>,
    before: Modes,
    is_typing: bool,
}

impl Drop for Typist {
    fn drop(&mut self) {
        if self.is_typing {
            // The thread waits for a key and puts nothing back any more. A terminal that is gone needs none of it.
            self.before.put_back();
            let _ = io::stderr().write_all(b"\x1b[?2004l\n");
        }
    }
}

impl Editor {
    pub(super) fn given(lines: mpsc::Receiver<String>) -> Self {
        Self::Given(lines)
    }

    /// Begins, on a thread that ends when nobody asks for lines any more.
    pub(super) fn begin(options: &Chat) -> io::Result<Self> {
        let mut keys = default_emacs_keybindings();
        let menu = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(menu));
        let names = Names(options.workspace.clone());
        let shown = Box::new(ColumnarMenu::default().with_name(MENU).with_marker(MARK));
        let before = Modes::of_process()?;
        let mut line = Reedline::create()
            .use_bracketed_paste(true)
            // Of one thing that a word may become there is nothing to choose.
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_completer(Box::new(names))
            .with_menu(ReedlineMenu::EngineCompleter(shown))
            .with_edit_mode(Box::new(Emacs::new(keys)));
        if let Some(path) = &options.history {
            let history =
                FileBackedHistory::with_file(HISTORY_LINES, path.clone()).map_err(io::Error::other)?;
            line = line.with_history(Box::new(history));
        }
        // A request waits for its answer before the next is made.
        let (requests, waiting) = std::sync::mpsc::channel::<oneshot::Sender<Typed>>();
        let read = move || {
            for answer in waiting {
                let typed = line.read_line(&Mark);
                // Kept at once: nobody waits for this thread when the process ends. What cannot be kept is not worth
                // a word in the middle of a conversation.
                let _ = line.sync_history();
                let typed = match typed {
                    Ok(Signal::Success(text)) => Typed::Line(text),
                    Ok(Signal::CtrlC) => Typed::Interrupted,
                    Ok(_) => Typed::Ended,
                    Err(error) => Typed::Broken(io::Error::other(error)),
                };
                // Whoever asked has gone; the next request tells.
                let _ = answer.send(typed);
            }
        };
        std::thread::Builder::new().name("line".to_owned()).spawn(read)?;
        Ok(Self::Typing(Typist { requests, before, is_typing: false }))
    }

    pub(super) async fn next(&mut self) -> Typed {
        match self {
            Self::Given(lines) => lines.recv().await.map_or(Typed::Ended, Typed::Line),
            Self::Typing(typist) => {
                let (answer, typed) = oneshot::channel();
                if typist.requests.send(answer).is_err() {
                    return Typed::Ended;
                }
                typist.is_typing = true;
                let typed = typed.await.unwrap_or(Typed::Ended);
                typist.is_typing = false;
                typed
            }
        }
    }
}

/// Completes commands and files of a workspace.
struct Names(PathBuf);

impl Completer for Names {
    fn complete(&mut self, line: &str, cursor: usize) -> CompletionResult {
        let (start, names) = complete::complete(line, cursor, &self.0);
        let suggestion = |(value, remark): (String, Option<&str>)| Suggestion {
            append_whitespace: !value.ends_with('/'),
            value,
            description: remark.map(str::to_owned),
            span: Span::new(start, cursor.max(start)),
            ..Suggestion::default()
        };
        CompletionResult::fresh(names.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// What stands before the line.
struct Mark;

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(MARK)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search {}: ", search.term))
    }
}
