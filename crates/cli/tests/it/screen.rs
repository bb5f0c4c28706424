//! A terminal that is a buffer.

use std::io::{self, Write};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use loggia_cli::{Key, Look, Terminal, Width};
use tokio::sync::{mpsc, watch};

use crate::house::PATIENCE;

/// What was written, by stream and together.
#[derive(Clone)]
pub(crate) struct Screen {
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
    all: watch::Sender<String>,
}

/// How a screen is.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) out: bool,
    pub(crate) err: bool,
    pub(crate) color_out: bool,
    pub(crate) color_err: bool,
}

/// A terminal without colours.
pub(crate) const TERMINAL: Setting = Setting { out: true, err: true, color_out: false, color_err: false };
/// Both streams go to files.
pub(crate) const FILES: Setting = Setting { out: false, err: false, color_out: false, color_err: false };
/// Standard output goes into a pipe, standard error is seen.
pub(crate) const PIPE: Setting = Setting { out: false, err: true, color_out: false, color_err: true };

struct Stream(Screen, bool);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).unwrap();
        let own = if self.1 { &self.0.out } else { &self.0.err };
        own.lock().unwrap().push_str(text);
        self.0.all.send_modify(|all| all.push_str(text));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    /// A screen and the terminal that writes on it.
    pub(crate) fn new(setting: Setting) -> (Self, Terminal) {
        let screen = Self { out: Arc::default(), err: Arc::default(), all: watch::Sender::default() };
        let look = Look {
            stdout_is_terminal: setting.out,
            stderr_is_terminal: setting.err,
            width: Width::Given(Arc::new(AtomicUsize::new(60))),
            color_out: setting.color_out,
            color_err: setting.color_err,
        };
        let terminal = Terminal::new(Stream(screen.clone(), true), Stream(screen.clone(), false), look);
        (screen, terminal)
    }

    /// The same with somebody at the keyboard who presses these keys.
    pub(crate) fn with_keys(setting: Setting, keys: &str) -> (Self, Terminal, mpsc::Sender<Key>) {
        let (screen, terminal) = Self::new(setting);
        let (sender, receiver) = mpsc::channel(16);
        for key in keys.chars() {
            sender.try_send(Key::Char(key)).unwrap();
        }
        (screen, terminal.with_keys(receiver), sender)
    }

    pub(crate) fn out(&self) -> String {
        self.out.lock().unwrap().clone()
    }

    pub(crate) fn err(&self) -> String {
        self.err.lock().unwrap().clone()
    }

    /// What is on the screen at the end: what was wiped is gone, and so are ids and times.
    pub(crate) fn shown(&self) -> String {
        let all = self.all.borrow().clone();
        let lines = all.split('\n').map(|line| line.rsplit("\r\u{1b}[K").next().unwrap_or_default());
        let lines: Vec<String> = lines.map(|line| settled(line.trim_end())).collect();
        lines.join("\n")
    }

    /// Waits until this was written.
    pub(crate) async fn until(&self, text: &str) {
        let mut all = self.all.subscribe();
        let seen = tokio::time::timeout(PATIENCE, all.wait_for(|all| all.contains(text))).await;
        assert!(seen.is_ok(), "{text:?} is not in:\n{}", self.shown());
    }
}

/// A line without what is different each time.
fn settled(line: &str) -> String {
    let words = line.split(' ').map(|word| match word {
        word if word.starts_with("ses_") => "SESSION",
        word if word.len() == 3 && word.as_bytes()[1] == b'.' && word.as_bytes()[0].is_ascii_digit() => "0.0",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}
