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
        let new = match last.message.strip_prefix(self.reply.as_str()) {
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
        self.reply.clear();
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
