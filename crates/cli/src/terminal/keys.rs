//! Keys, one by one.

use std::io;

use rustix::io::Errno;
use tokio::sync::mpsc;

use super::tty::{Hushed, Listening};

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// One that writes something.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// One that means nothing here: an arrow, a function key.
    Other,
}

/// Where keys come from.
#[derive(Debug)]
pub(crate) struct Keys(Source);

#[derive(Debug)]
enum Source {
    /// There are none.
    None,
    /// The controlling terminal.
    Process(Process),
    /// A channel.
    Given(mpsc::Receiver<Key>),
}

/// The controlling terminal, as far as it was changed.
#[derive(Debug)]
struct Process {
    /// Whether nobody else reads it, so that what is typed may be kept from being seen.
    is_alone: bool,
    /// While somebody listens. It goes first, and leaves the terminal hushed if it was.
    listening: Option<Listening>,
    hushed: Option<Hushed>,
}

impl Keys {
    pub(super) fn none() -> Self {
        Self(Source::None)
    }

    pub(super) fn of_process(is_alone: bool) -> Self {
        Self(Source::Process(Process { is_alone, listening: None, hushed: None }))
    }

    pub(super) fn given(keys: mpsc::Receiver<Key>) -> Self {
        Self(Source::Given(keys))
    }

    /// Takes them out of their place, where nothing is left.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::none())
    }

    /// Whether somebody could press one.
    pub(crate) fn are_there(&self) -> bool {
        !matches!(self.0, Source::None)
    }

    /// Listens from now on: what was typed before was not meant for what is asked now. False if there is no keyboard.
    pub(crate) fn listen(&mut self) -> io::Result<bool> {
        match &mut self.0 {
            Source::None => Ok(false),
            Source::Given(_) | Source::Process(Process { listening: Some(_), .. }) => Ok(true),
            Source::Process(Process { listening, .. }) => match Listening::begin() {
                Ok(begun) => {
                    *listening = Some(begun);
                    Ok(true)
                }
                // No controlling terminal: started by a service, or after `setsid`.
                Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NXIO | Errno::NOENT)) => {
                    self.0 = Source::None;
                    Ok(false)
                }
                Err(error) => Err(error),
            },
        }
    }

    /// From now on what is typed is not seen, until [`release`](Self::release). It stays for whoever reads next, but
    /// for a question: that forgets it.
    pub(crate) fn hush(&mut self) {
        if let Source::Process(Process { is_alone: true, hushed: hushed @ None, .. }) = &mut self.0 {
            *hushed = Hushed::begin();
        }
    }

    /// Stops listening.
    pub(crate) fn rest(&mut self) {
        if let Source::Process(process) = &mut self.0 {
            process.listening = None;
        }
    }

    /// Throws away what was typed while it was not seen.
    pub(crate) fn forget(&mut self) {
        if let Source::Process(Process { hushed: Some(hushed), .. }) = &self.0 {
            hushed.forget();
        }
    }

    /// The terminal is as it was.
    pub(crate) fn release(&mut self) {
        self.rest();
        if let Source::Process(process) = &mut self.0 {
            process.hushed = None;
        }
    }

    /// The next key; never one when nobody listens or there will be none.
    pub(crate) async fn next(&mut self) -> Key {
        let key = match &mut self.0 {
            Source::Process(Process { listening: Some(listening), .. }) => listening.keys.recv().await,
            Source::Given(keys) => keys.recv().await,
            Source::None | Source::Process(_) => None,
        };
        match key {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

/// The keys in what a terminal sent at once. A sequence that begins with escape is one key.
pub(super) fn read(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut keys = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        keys.push(match character {
            '\r' | '\n' => Key::Enter,
            '\u{1b}' if rest.peek().is_some() => {
                skip_sequence(&mut rest);
                Key::Other
            }
            '\u{1b}' => Key::Escape,
            character if character.is_control() => Key::Other,
            character => Key::Char(character),
        });
    }
    keys
}

/// Skips what follows an escape: `[` or `O` and all up to a letter or `~`, or one character with Alt.
fn skip_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if !matches!(rest.next(), Some('[' | 'O')) {
        return;
    }
    for character in rest.by_ref() {
        if character.is_ascii_alphabetic() || character == '~' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let keys = |bytes: &[u8]| read(bytes);
        assert_eq!(keys(b"y"), [Key::Char('y')]);
        assert_eq!(keys("é\r".as_bytes()), [Key::Char('é'), Key::Enter]);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b[A"), [Key::Other]);
        assert_eq!(keys(b"\x1b[1;5Cn"), [Key::Other, Key::Char('n')]);
        assert_eq!(keys(b"\x1bOPa"), [Key::Other, Key::Char('a')]);
        assert_eq!(keys(b"\x7f"), [Key::Other]);
    }

    #[tokio::test]
    async fn keys_from_a_channel_come_in_order() {
        let (sender, receiver) = mpsc::channel(4);
        let mut keys = Keys::given(receiver);
        assert!(keys.listen().unwrap());
        sender.send(Key::Char('o')).await.unwrap();
        sender.send(Key::Enter).await.unwrap();
        assert_eq!((keys.next().await, keys.next().await), (Key::Char('o'), Key::Enter));
        assert!(!Keys::none().listen().unwrap());
    }
}
