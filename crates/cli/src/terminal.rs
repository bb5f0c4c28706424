//! What is at the other end: two streams, how wide they are, whether they are terminals, and a keyboard perhaps.
//!
//! Standard output has the answer and nothing else; everything around it goes to standard error. Refuses to know
//! variables and flags: whoever makes a [`Terminal`] has decided about colours.
//!
//! What always holds: a terminal whose keys were read one by one is as it was before, when nobody reads them any more.

mod keys;
mod tty;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

pub use keys::Key;
pub(crate) use keys::Keys;
pub(crate) use tty::{Modes, stop};

/// How many columns the terminal of this process has.
pub(crate) fn columns() -> usize {
    tty::width().unwrap_or(USUAL_WIDTH)
}

use crate::fold::fold;
use crate::interrupts::Interrupt;
use crate::paint::Paint;
use crate::{CliError, Interrupts};

/// What is assumed of a terminal that does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// Narrower than this nothing can be laid out; the terminal folds it itself.
const MIN_WIDTH: usize = 20;

/// Where people look, and type.
pub struct Terminal {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    look: Look,
    pub(crate) keys: Keys,
    /// Lines for a conversation, instead of what is typed.
    pub(crate) lines: Option<mpsc::Receiver<String>>,
    can_edit: bool,
    can_wipe: bool,
}

/// How the two streams look.
#[derive(Debug, Clone)]
pub struct Look {
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// How wide they are.
    pub width: Width,
    /// Whether there are colours on standard output. An answer with colours is rendered as for a terminal.
    pub color_out: bool,
    /// Whether there are colours on standard error.
    pub color_err: bool,
}

/// How wide a terminal is.
#[derive(Debug, Clone)]
pub enum Width {
    /// As the system says, asked again each time: windows change their size.
    OfProcess,
    /// As somebody else says, who may change it.
    Given(Arc<AtomicUsize>),
}

impl Terminal {
    /// That of this process. Keys come from its controlling terminal, so they work when standard input is a pipe.
    pub fn of_process(color_out: bool, color_err: bool) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let look = Look {
            stdout_is_terminal: out.is_terminal(),
            stderr_is_terminal: err.is_terminal(),
            width: Width::OfProcess,
            color_out,
            color_err,
        };
        // Somebody who cannot see a question cannot answer it. What reads our output may read the keyboard as well.
        let is_alone = look.stdout_is_terminal;
        let keys = if look.stderr_is_terminal { Keys::of_process(is_alone) } else { Keys::none() };
        let can_edit = look.stderr_is_terminal && io::stdin().is_terminal();
        Self { out: Box::new(out), err: Box::new(err), look, keys, lines: None, can_edit, can_wipe: true }
    }

    /// One whose streams are these. It has no keys.
    pub fn new(out: impl Write + Send + 'static, err: impl Write + Send + 'static, look: Look) -> Self {
        Self {
            out: Box::new(out),
            err: Box::new(err),
            look,
            keys: Keys::none(),
            lines: None,
            can_edit: false,
            can_wipe: true,
        }
    }

    /// On a terminal that writes one line after the other and understands nothing else: nothing moves there.
    #[must_use]
    pub fn that_only_writes(mut self) -> Self {
        self.can_wipe = false;
        self
    }

    /// With keys from here.
    #[must_use]
    pub fn with_keys(mut self, keys: mpsc::Receiver<Key>) -> Self {
        self.keys = Keys::given(keys);
        self
    }

    /// With lines for a conversation from here.
    #[must_use]
    pub fn with_lines(mut self, lines: mpsc::Receiver<String>) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Whether somebody can type a line.
    pub(crate) fn can_edit(&self) -> bool {
        self.can_edit
    }

    /// Whether what was written can be wiped again.
    pub(crate) fn can_wipe(&self) -> bool {
        self.can_wipe
    }

    /// Whether somebody is there to be asked for a line.
    pub(crate) fn can_ask(&self) -> bool {
        self.can_edit || self.lines.is_some()
    }

    /// A line that somebody types to a question, seen or not. Nothing if nobody does, or an interrupt comes first.
    pub(crate) async fn line(
        &mut self,
        question: &str,
        hidden: bool,
        interrupts: &mut Interrupts,
    ) -> Result<Option<String>, CliError> {
        if self.lines.is_none() && !self.can_edit {
            return Err(CliError::NoTerminal);
        }
        if self.lines.is_some() {
            self.err(question).map_err(CliError::Output)?;
        }
        if let Some(lines) = &mut self.lines {
            return Ok(lines.recv().await);
        }
        // Whoever answers at once must not be seen either, so nothing is asked before that is so.
        loop {
            let mut typing = tty::Typing::begin(hidden).map_err(CliError::Keyboard)?;
            self.err(question).map_err(CliError::Output)?;
            let interrupt = tokio::select! {
                line = &mut typing.line => return Ok(line.ok().flatten()),
                interrupt = interrupts.any() => interrupt,
            };
            drop(typing);
            if interrupt != Interrupt::Suspend {
                return Ok(None);
            }
            self.err("\n").map_err(CliError::Output)?;
            tty::stop();
        }
    }

    pub(crate) fn stdout_is_terminal(&self) -> bool {
        self.look.stdout_is_terminal
    }

    /// Whether the answer is rendered. Everywhere else it is written as it came.
    pub(crate) fn renders(&self) -> bool {
        self.look.stdout_is_terminal || self.look.color_out
    }

    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.look.stderr_is_terminal
    }

    /// How standard output is painted.
    pub(crate) fn paint_out(&self) -> Paint {
        Paint { color: self.look.color_out }
    }

    /// How standard error is painted.
    pub(crate) fn paint_err(&self) -> Paint {
        Paint { color: self.look.color_err }
    }

    /// How wide it is now.
    pub(crate) fn width(&self) -> usize {
        let width = match &self.look.width {
            Width::OfProcess => tty::width().unwrap_or(USUAL_WIDTH),
            Width::Given(width) => width.load(Ordering::Relaxed),
        };
        width.max(MIN_WIDTH)
    }

    /// What is written around the answer, in lines that fit into the window; as it is where there is none.
    pub(crate) fn folded(&self, text: &str) -> String {
        if self.look.stderr_is_terminal { fold(text, self.width()) } else { text.to_owned() }
    }

    /// Writes a part of the answer.
    pub(crate) fn out(&mut self, text: &str) -> io::Result<()> {
        self.out_bytes(text.as_bytes())
    }

    /// Writes bytes where the answer goes.
    pub(crate) fn out_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    /// Writes something around the answer.
    pub(crate) fn err(&mut self, text: &str) -> io::Result<()> {
        self.err.write_all(text.as_bytes())?;
        self.err.flush()
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("look", &self.look).field("keys", &self.keys).finish_non_exhaustive()
    }
}
