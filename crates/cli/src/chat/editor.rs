//! The line that is typed: editing, history, completion.
//!
//! The editor blocks while somebody types, so it has a thread of its own. It holds the terminal only then.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use reedline::{
    ColumnarMenu, Completer, CompletionResult, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder,
    Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span,
    Suggestion, default_emacs_keybindings,
};
use tokio::sync::{mpsc, oneshot};

use super::{Chat, complete};

/// How many lines are remembered.
const HISTORY_LINES: usize = 2_000;

/// The menu's name, by which the key finds it.
const MENU: &str = "completion";

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
    /// Somebody types; each request is for one line.
    Typing(std::sync::mpsc::Sender<oneshot::Sender<Typed>>),
    Given(mpsc::Receiver<String>),
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
        let shown = Box::new(ColumnarMenu::default().with_name(MENU));
        let mut line = Reedline::create()
            .use_bracketed_paste(true)
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
                let typed = match line.read_line(&Mark) {
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
        Ok(Self::Typing(requests))
    }

    pub(super) async fn next(&mut self) -> Typed {
        match self {
            Self::Given(lines) => lines.recv().await.map_or(Typed::Ended, Typed::Line),
            Self::Typing(requests) => {
                let (answer, typed) = oneshot::channel();
                match requests.send(answer) {
                    Ok(()) => typed.await.unwrap_or(Typed::Ended),
                    Err(_) => Typed::Ended,
                }
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
        Cow::Borrowed("› ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search {}: ", search.term))
    }
}
