//! The line that is typed: editing, history, completion. Refuses to know what is typed about.
//!
//! The editor blocks while somebody types, so it has a thread of its own. It holds the terminal only then, and whoever
//! leaves meanwhile puts the terminal back.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use reedline::{
    ColumnarMenu, Completer, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt, Reedline,
    ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use tokio::sync::{mpsc, oneshot};

use crate::terminal::Modes;

/// How many lines are remembered.
const HISTORY_LINES: usize = 2_000;

/// What was typed is its owner's business.
const PRIVATE: u32 = 0o600;

/// The menu's name, by which the key finds it.
const MENU: &str = "completion";

/// How long the thread may take to begin with a line that was asked for.
const BEGINNING: Duration = Duration::from_millis(100);

/// What came of waiting for a line.
#[derive(Debug)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or nothing more comes.
    Ended,
    Broken(io::Error),
}

/// Where lines come from.
#[derive(Debug)]
pub(crate) enum Editor {
    Typing(Typist),
    Given(mpsc::Receiver<String>),
}

/// Somebody who types.
#[derive(Debug)]
pub(crate) struct Typist {
    /// Each is for one line.
    requests: std::sync::mpsc::Sender<oneshot::Sender<Typed>>,
    before: Modes,
    is_typing: bool,
}

impl Drop for Typist {
    fn drop(&mut self) {
        if self.is_typing {
            // The thread may only be about to change the terminal, and that would stay.
            self.before.until_changed(BEGINNING);
            // It waits for a key and puts nothing back any more. A terminal that is gone needs none of it.
            self.before.put_back();
            let _ = io::stderr().write_all(b"\x1b[?2004l\n");
        }
    }
}

impl Editor {
    pub(crate) fn given(lines: mpsc::Receiver<String>) -> Self {
        Self::Given(lines)
    }

    /// Begins, on a thread that ends when nobody asks for lines any more.
    pub(crate) fn begin(mut line: Reedline, prompt: impl Prompt + 'static) -> io::Result<Self> {
        let before = Modes::of_process()?;
        // A request waits for its answer before the next is made.
        let (requests, waiting) = std::sync::mpsc::channel::<oneshot::Sender<Typed>>();
        let read = move || {
            for answer in waiting {
                let typed = line.read_line(&prompt);
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

    pub(crate) async fn next(&mut self) -> Typed {
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

/// A line with our keys. The mark stands before it while there is a menu; the history's file is for its owner alone.
pub(crate) fn line(
    completer: Box<dyn Completer + Send>,
    mark: &str,
    history: Option<&Path>,
) -> io::Result<Reedline> {
    let mut keys = default_emacs_keybindings();
    let menu = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(menu));
    let shown = Box::new(ColumnarMenu::default().with_name(MENU).with_marker(mark));
    let line = Reedline::create()
        .use_bracketed_paste(true)
        // Of one thing that a word may become there is nothing to choose.
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_completer(completer)
        .with_menu(ReedlineMenu::EngineCompleter(shown))
        .with_edit_mode(Box::new(Emacs::new(keys)));
    let Some(path) = history else { return Ok(line) };
    make_private(path)?;
    let history = FileBackedHistory::with_file(HISTORY_LINES, path.to_owned()).map_err(io::Error::other)?;
    Ok(line.with_history(Box::new(history)))
}

/// Makes a file, or closes one that is there to others.
fn make_private(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).mode(PRIVATE).open(path)?;
    // What is no file, as `/dev/null`, is everybody's.
    if file.metadata()?.is_file() { file.set_permissions(Permissions::from_mode(PRIVATE)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_its_owners_alone_also_if_it_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        make_private(&path).unwrap();
        assert_eq!(mode(), PRIVATE);
        std::fs::write(&path, "sessions\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let begun = line(Box::new(reedline::DefaultCompleter::default()), ">", Some(&path)).unwrap();
        assert_eq!(mode(), PRIVATE);
        drop(begun);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "sessions\n");
    }
}
