//! The controlling terminal, asked key by key or for one line, or only kept from showing what is typed.
//!
//! For keys, lines and echo are switched off while somebody listens; for a line that is not to be seen, or while nobody
//! asks for anything, echo alone. Ctrl-C still makes a signal. Reading blocks, so a thread of its own does it, and a pipe wakes it when nobody listens any more.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, getpgrp, getpid, getppid, getsid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};
use tokio::sync::{mpsc, oneshot};

use super::keys::{self, Key};

/// How many keys wait to be looked at. Whoever leans on the keyboard loses some.
const WAITING_KEYS: usize = 16;

/// What is read at once: the longest sequence of a key, several times.
const READ_BYTES: usize = 64;

/// The longest line that is taken; terminals themselves end at a quarter of it.
const MAX_LINE_BYTES: usize = 16 * 1024;

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

    /// Waits until somebody else has changed them, so long at most.
    pub(crate) fn until_changed(&self, limit: Duration) {
        let latest = Instant::now() + limit;
        while tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes == self.0.local_modes)
            && Instant::now() < latest
        {
            // Nobody tells when it happens.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn put_back(&self) {
        // A terminal that is gone needs no putting back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Stops this process until somebody lets it go on. Where nobody would, as there is no shell that started it, nothing
/// happens.
pub(crate) fn stop() {
    let of_parent = getppid().and_then(|parent| getsid(Some(parent)).ok());
    if of_parent.is_some() && of_parent == getsid(None).ok() {
        // A process may always stop itself.
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// The terminal while nobody is asked: what is typed is not seen, and stays for whoever reads next.
#[derive(Debug)]
pub(super) struct Hushed {
    tty: File,
    before: Termios,
}

impl Hushed {
    /// Begins on the controlling terminal; nothing if that is not ours to change.
    pub(super) fn begin() -> Option<Self> {
        Self::on(controlling().ok()?)
    }

    fn on(tty: File) -> Option<Self> {
        if !is_ours(&tty) {
            return None;
        }
        let before = tcgetattr(&tty).ok()?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        keep_output(&mut now);
        tcsetattr(&tty, OptionalActions::Now, &now).ok()?;
        Some(Self { tty, before })
    }

    /// Throws away what was typed and nobody has read, as Ctrl-C does on other terminals.
    pub(super) fn forget(&self) {
        // A terminal that is gone has nothing to forget.
        let _ = tcflush(&self.tty, QueueSelector::IFlush);
    }
}

impl Drop for Hushed {
    fn drop(&mut self) {
        // In the background, whoever is in front has set it as they like.
        if is_ours(&self.tty) {
            // A terminal that is gone needs no putting back.
            let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.before);
        }
    }
}

/// Lets Ctrl-C throw away nothing. By default it also loses what was written and not shown yet, some time after the
/// signal: the very words that answer it.
fn keep_output(modes: &mut Termios) {
    modes.local_modes.insert(LocalModes::NOFLSH);
}

/// Whether we are in front: whoever changes a terminal from the background is stopped.
fn is_ours(tty: &File) -> bool {
    tcgetpgrp(tty).is_ok_and(|front| front == getpgrp())
}

/// The terminal while keys are read from it.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) keys: mpsc::Receiver<Key>,
    _held: Held,
}

impl Listening {
    /// Begins on the controlling terminal.
    pub(super) fn begin() -> io::Result<Self> {
        Self::on(controlling()?)
    }

    /// Begins on a terminal. What was typed before is forgotten.
    fn on(tty: File) -> io::Result<Self> {
        let change = |modes: &mut Termios| {
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            keep_output(modes);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        };
        let (sender, keys) = mpsc::channel(WAITING_KEYS);
        let read = move |tty: &File, woken: &OwnedFd| pass_on(tty, woken, &sender);
        Ok(Self { keys, _held: Held::begin(tty, OptionalActions::Flush, change, read)? })
    }
}

/// The terminal while a line is typed on it.
#[derive(Debug)]
pub(super) struct Typing {
    /// The line; nothing if there will be none.
    pub(super) line: oneshot::Receiver<Option<String>>,
    _held: Held,
}

impl Typing {
    /// Begins on the controlling terminal.
    pub(super) fn begin(hidden: bool) -> io::Result<Self> {
        Self::on(controlling()?, hidden)
    }

    /// Begins on a terminal. What is typed is seen, or is not.
    fn on(tty: File, hidden: bool) -> io::Result<Self> {
        let change = |modes: &mut Termios| {
            modes.local_modes.insert(LocalModes::ICANON);
            modes.local_modes.set(LocalModes::ECHO, !hidden);
            // The end of the line is seen in any case.
            modes.local_modes.set(LocalModes::ECHONL, hidden);
        };
        let (sender, line) = oneshot::channel();
        let read = move |tty: &File, woken: &OwnedFd| {
            // Whoever waited for it may have gone.
            let _ = sender.send(read_line(tty, woken));
        };
        // What was typed before was seen: it is not what is asked for now.
        let when = if hidden { OptionalActions::Flush } else { OptionalActions::Now };
        Ok(Self { line, _held: Held::begin(tty, when, change, read)? })
    }
}

/// A terminal whose modes were changed, and a thread that reads from it. They end together.
#[derive(Debug)]
struct Held {
    tty: File,
    before: Termios,
    /// Closed to wake the thread.
    wake: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Held {
    fn begin(
        tty: File,
        when: OptionalActions,
        change: impl FnOnce(&mut Termios),
        read: impl FnOnce(&File, &OwnedFd) + Send + 'static,
    ) -> io::Result<Self> {
        let before = tcgetattr(&tty)?;
        let mut now = before.clone();
        change(&mut now);
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC)?;
        let reader = tty.try_clone()?;
        tcsetattr(&tty, when, &now)?;
        let thread = std::thread::Builder::new().name("keys".to_owned());
        let mut held = Self { tty, before, wake: Some(wake), thread: None };
        held.thread = Some(thread.spawn(move || read(&reader, &woken))?);
        Ok(held)
    }
}

impl Drop for Held {
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

fn controlling() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// Reads keys until it is woken or there are no more.
fn pass_on(tty: &File, woken: &OwnedFd, keys: &mpsc::Sender<Key>) {
    let mut buffer = [0; READ_BYTES];
    while let Some(bytes) = read_some(tty, woken, &mut buffer) {
        for key in keys::read(bytes) {
            // Full: see `WAITING_KEYS`.
            let _ = keys.try_send(key);
        }
    }
}

/// Reads a line. Without one, nobody typed it, or it is longer than any that makes sense.
fn read_line(tty: &File, woken: &OwnedFd) -> Option<String> {
    let mut buffer = [0; READ_BYTES];
    let mut line = Vec::new();
    while line.len() <= MAX_LINE_BYTES {
        line.extend_from_slice(read_some(tty, woken, &mut buffer)?);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            return Some(String::from_utf8_lossy(&line[..end]).into_owned());
        }
    }
    None
}

/// Waits for bytes; nothing once it is woken or there are no more.
fn read_some<'b>(tty: &File, woken: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    loop {
        let mut both = [PollFd::new(tty, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        }
        if !both[1].revents().is_empty() {
            return None;
        }
        match rustix::io::read(tty, &mut *buffer) {
            Ok(0) => return None,
            Ok(count) => return Some(&buffer[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
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
        assert!(modes(&tty).contains(LocalModes::NOFLSH), "and throws away nothing that was written");
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

    #[tokio::test]
    async fn a_line_is_typed_unseen_and_the_terminal_is_put_back() {
        let (mut keyboard, tty) = terminal();
        let before = modes(&tty);
        let mut typing = Typing::on(tty.try_clone().unwrap(), true).unwrap();
        assert!(!modes(&tty).contains(LocalModes::ECHO));
        // Longer than what is read at once, with a slip in it.
        keyboard.write_all(format!("{}x\u{7f}\n", "k".repeat(200)).as_bytes()).unwrap();
        assert_eq!((&mut typing.line).await.unwrap(), Some("k".repeat(200)));
        drop(typing);
        assert_eq!(modes(&tty), before);
        let mut shown = [0; 8];
        let count = rustix::io::read(&keyboard, &mut shown).unwrap();
        assert_eq!(&shown[..count], b"\r\n", "only the line's end was seen");
    }

    #[tokio::test]
    async fn a_line_that_nobody_types_is_not_waited_for() {
        let (mut keyboard, tty) = terminal();
        let mut typing = Typing::on(tty.try_clone().unwrap(), false).unwrap();
        assert!(modes(&tty).contains(LocalModes::ECHO));
        keyboard.write_all(b"\x04").unwrap();
        assert_eq!((&mut typing.line).await.unwrap(), None);
        drop(Typing::on(tty, false).unwrap());
    }
}
