//! Data on its way to stdout.
//!
//! Knows nothing of what it prints. Invariant: a failed write is an [`Error`], never a panic, so that
//! `loggia … | head -1` ends quietly; and text that came from outside is made harmless before a terminal sees it.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{BufWriter, StdoutLock, Write};

use crate::errors::Error;

/// Standard output, buffered, with colours taken out where they are not wanted.
#[derive(Debug)]
pub(crate) struct Printer {
    out: BufWriter<anstream::AutoStream<StdoutLock<'static>>>,
}

impl Printer {
    /// Takes standard output.
    pub(crate) fn new() -> Self {
        Self { out: BufWriter::new(anstream::stdout().lock()) }
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<(), Error> {
        writeln!(self.out, "{text}").map_err(|source| Error::Output { source })
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(|source| Error::Output { source })
    }

    /// Writes what is still held back. Without it, a failure at the very end would go unseen.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.flush()
    }

    /// Lets a reader see what was written so far.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(|source| Error::Output { source })
    }
}

/// Text from outside with its control characters spelt out, so that it cannot steer the terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_steering(character) {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

/// The same with the lines it has.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Control characters, and the marks that turn the direction of writing around.
fn is_steering(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        assert_eq!(printable("plain ü"), "plain ü");
        assert_eq!(printable("a\u{1b}[2Jb\nc\td"), "a\\u{1b}[2Jb\\nc\\td");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
    }
}
