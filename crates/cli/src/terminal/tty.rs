//! The controlling terminal, asked key by key.
//!
//! Lines and echo are switched off while somebody listens; Ctrl-C still makes a signal. Reading blocks, so a thread of its
//! own does it, and a pipe wakes it when nobody listens any more.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use tokio::sync::mpsc;

use super::keys::{self, Key};

/// How many keys wait to be looked at. Whoever leans on the keyboard loses some.
const WAITING_KEYS: usize = 16;

/// What is read at once: the longest sequence of a key, several times.
const READ_BYTES: usize = 64;

/// How wide the terminal of this process is, if it has one.
pub(super) fn width() -> Option<usize> {
    let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stderr())).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// The modes of the terminal of this process, to be put back.
#[derive(Debug)]
pub(crate) struct Modes(Termios);

impl Modes {
    pub(crate) fn of_process() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdin())?))
    }

    pub(crate) fn put_back(&self) {
        // A terminal that is gone needs no putting back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// The terminal while keys are read from it.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) keys: mpsc::Receiver<Key>,
    tty: File,
    before: Termios,
    /// Closed to wake the thread.
    wake: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Begins on the controlling terminal.
    pub(super) fn begin() -> io::Result<Self> {
        Self::on(File::options().read(true).write(true).open("/dev/tty")?)
    }

    /// Begins on a terminal. What was typed before is forgotten.
    fn on(tty: File) -> io::Result<Self> {
        let before = tcgetattr(&tty)?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        now.special_codes[SpecialCodeIndex::VMIN] = 1;
        now.special_codes[SpecialCodeIndex::VTIME] = 0;
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC)?;
        let (sender, keys) = mpsc::channel(WAITING_KEYS);
        let reader = tty.try_clone()?;
        tcsetattr(&tty, OptionalActions::Flush, &now)?;
        let thread = std::thread::Builder::new().name("keys".to_owned());
        let mut listening = Self { keys, tty, before, wake: Some(wake), thread: None };
        listening.thread = Some(thread.spawn(move || pass_on(&reader, &woken, &sender))?);
        Ok(listening)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // It only reads and sends; there is nothing to learn from its end.
            let _ = thread.join();
        }
        // A terminal that is gone needs no putting back.
        let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.before);
    }
}

/// Reads keys until it is woken or there are no more.
fn pass_on(tty: &File, woken: &OwnedFd, keys: &mpsc::Sender<Key>) {
    let mut buffer = [0; READ_BYTES];
    loop {
        let mut both = [PollFd::new(tty, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        if !both[1].revents().is_empty() {
            return;
        }
        match rustix::io::read(tty, &mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                for key in keys::read(&buffer[..count]) {
                    // Full: see `WAITING_KEYS`.
                    let _ = keys.try_send(key);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

    use super::*;

    /// A pseudoterminal: the keyboard's side, and the program's.
    fn terminal() -> (File, File) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keyboard = openpt(flags).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let program = ioctl_tiocgptpeer(&keyboard, flags).unwrap();
        (keyboard.into(), program.into())
    }

    fn modes(tty: &File) -> LocalModes {
        tcgetattr(tty).unwrap().local_modes
    }

    #[tokio::test]
    async fn keys_are_heard_one_by_one_and_the_terminal_is_put_back() {
        let (mut keyboard, tty) = terminal();
        let before = modes(&tty);
        assert!(before.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
        keyboard.write_all(b"typed too early\n").unwrap();
        // It has arrived when it can be read.
        poll(&mut [PollFd::new(&tty, PollFlags::IN)], None).unwrap();
        let mut listening = Listening::on(tty.try_clone().unwrap()).unwrap();
        assert!(!modes(&tty).intersects(LocalModes::ICANON | LocalModes::ECHO));
        assert!(modes(&tty).contains(LocalModes::ISIG), "Ctrl-C still makes a signal");
        keyboard.write_all(b"o").unwrap();
        assert_eq!(listening.keys.recv().await, Some(Key::Char('o')));
        keyboard.write_all(b"\x1b[A").unwrap();
        assert_eq!(listening.keys.recv().await, Some(Key::Other));
        drop(listening);
        assert_eq!(modes(&tty), before);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_terminal_that_is_gone() {
        let (keyboard, tty) = terminal();
        let mut listening = Listening::on(tty).unwrap();
        drop(keyboard);
        assert_eq!(listening.keys.recv().await, None);
    }
}
