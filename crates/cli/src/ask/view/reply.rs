//! The reply as it grows: rendered in a terminal, as it came everywhere else.

use loggia_protocol_agent_server::MessageFinal;

use super::View;
use crate::CliError;
use crate::markdown::Markdown;

impl View<'_> {
    pub(super) fn token(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.wipe()?;
        if self.reply.is_empty() {
            self.begin_reply()?;
        }
        self.reply.push_str(text);
        let shown = match self.terminal.renders() {
            true => self.markdown.push(text, self.terminal.width()),
            false => {
                self.open_line = !text.ends_with('\n');
                text.to_owned()
            }
        };
        self.terminal.out(&shown).map_err(CliError::Output)
    }

    /// An empty line between what was said or done before and what is said now.
    fn begin_reply(&mut self) -> Result<(), CliError> {
        let apart = match self.terminal.stdout_is_terminal() {
            true => self.spoken || self.done_since,
            false => self.spoken,
        };
        (self.spoken, self.done_since) = (true, false);
        if apart { self.terminal.out("\n").map_err(CliError::Output) } else { Ok(()) }
    }

    /// The reply as it stands: what of it was not told while it grew is shown now.
    pub(super) fn last(&mut self, last: &MessageFinal) -> Result<(), CliError> {
        self.live.clear();
        // A turn that was cut off in a call ends with the words before the call, and so does one of an agent whose changes
        // were made after its last word.
        let is_old = self.reply.is_empty() && (!last.metadata.success || last.message == self.closed);
        let shown = if is_old { &self.closed } else { &self.reply };
        let new = match missing(&last.message, shown) {
            Some(new) => new.to_owned(),
            None => {
                self.close_text()?;
                last.message.clone()
            }
        };
        self.token(&new)?;
        self.close_text()
    }

    pub(super) fn in_line(&self) -> bool {
        self.terminal.stdout_is_terminal() && self.markdown.in_line()
    }

    /// Ends the reply's last line.
    pub(super) fn close_text(&mut self) -> Result<(), CliError> {
        if !self.reply.is_empty() {
            self.closed = std::mem::take(&mut self.reply);
        }
        let text = match self.terminal.renders() {
            true => {
                let text = self.markdown.finish(self.terminal.width());
                self.markdown = Markdown::new(self.terminal.paint_out());
                text
            }
            false if std::mem::take(&mut self.open_line) => "\n".to_owned(),
            false => String::new(),
        };
        if text.is_empty() {
            return Ok(());
        }
        self.wipe()?;
        self.terminal.out(&text).map_err(CliError::Output)
    }
}

/// What of a reply was not shown; nothing if what was shown is another one. A server that is killed has kept less than
/// it told.
fn missing<'m>(message: &'m str, shown: &str) -> Option<&'m str> {
    if shown.starts_with(message) { Some("") } else { message.strip_prefix(shown) }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Arc, Mutex};

    use loggia_protocol_agent_server::{ReplyMetadata, Stamp};

    use super::*;
    use crate::{Look, Terminal, Width};

    #[derive(Clone, Default)]
    struct Pipe(Arc<Mutex<Vec<u8>>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a pipe gets of pieces, among which `|` stands for a call, and of a turn's end.
    fn written(pieces: &[&str], last: &str, success: bool) -> String {
        let pipe = Pipe::default();
        let look = Look {
            stdout_is_terminal: false,
            stderr_is_terminal: false,
            width: Width::Given(Arc::new(AtomicUsize::new(60))),
            color_out: false,
            color_err: false,
        };
        let mut terminal = Terminal::new(pipe.clone(), Pipe::default(), look);
        let mut view = View::new(&mut terminal, false);
        for piece in pieces {
            match *piece {
                "|" => view.close_text().unwrap(),
                piece => view.token(piece).unwrap(),
            }
        }
        let metadata = ReplyMetadata {
            tokens_used: 0,
            files_modified: 0,
            tools_used: Vec::new(),
            success,
            cost_usd: None,
        };
        view.last(&MessageFinal { message: last.to_owned(), metadata, stamp: Stamp::default() }).unwrap();
        String::from_utf8(pipe.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn what_was_not_told_is_shown_at_the_end() {
        assert_eq!(written(&[], "abc", true), "abc\n");
        assert_eq!(written(&["a", "b"], "abc", true), "abc\n");
        assert_eq!(written(&["a", "b", "c"], "abc", true), "abc\n");
        assert_eq!(written(&["x"], "abc", true), "x\n\nabc\n");
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        // The server was killed and had kept less than it told.
        assert_eq!(written(&["a0 a1 ", "a2 a3 "], "a0 a1 ", false), "a0 a1 a2 a3 \n");
        assert_eq!(written(&["a0"], "", false), "a0\n");
        // The turn was cancelled in the call after it.
        assert_eq!(written(&["First. ", "|", "Second. ", "|"], "Second. ", false), "First. \n\nSecond. \n");
        // An agent's changes were made after its last word.
        assert_eq!(written(&["Good.", "|"], "Good.", true), "Good.\n");
        // The same words again are another reply.
        assert_eq!(written(&["Good.", "|", "Good."], "Good.", true), "Good.\n\nGood.\n");
    }
}
