//! A program on a pseudo-terminal, and the screen that a person would see.
//!
//! What always holds: a test waits for what the screen shows, with one generous limit, and never for time to pass; a
//! program that is still there when its test ends is killed.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pty_process::blocking as pseudo;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use vt100::{Callbacks, Color, Parser, Screen};

/// Longer than anything takes on a machine that does many other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How many lines are kept that left the screen: more than any test writes.
const KEPT_LINES: usize = 2_000;

/// A title that we write ourselves once the program has ended: what was read before it is all there is.
const END_TITLE: &str = "the end of the test";

/// What a program gets for its three streams: the terminal, or what the test gives it.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) stdin: Option<Stdio>,
    pub(crate) stdout: Option<Stdio>,
}

/// A program on a terminal.
pub(crate) struct OnTerminal {
    child: Child,
    /// The side of the keyboard and the screen.
    keyboard: File,
    /// The side of the program, kept open so that what it left can be looked at.
    program: OwnedFd,
    seen: Arc<Seen>,
    /// The modes before it began.
    before: Termios,
}

/// A program that has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Everything that it wrote to the terminal.
    pub(crate) bytes: Vec<u8>,
    pub(crate) shown: Shown,
    /// Whether the terminal is as it was.
    pub(crate) restored: bool,
}

/// A screen with all that scrolled off it.
#[derive(Clone)]
pub(crate) struct Shown {
    /// Lines without the spaces at their ends, from the first one that was ever written.
    pub(crate) lines: Vec<String>,
    /// The same with `<style>` before what has one, and `<>` where it ends.
    pub(crate) styled: String,
    /// Where the cursor is: its line among `lines`, and its column.
    pub(crate) cursor: (usize, usize),
    pub(crate) cursor_visible: bool,
    pub(crate) bracketed_paste: bool,
}

struct Seen {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: Parser<Replies>,
    bytes: Vec<u8>,
}

/// What a terminal answers by itself.
#[derive(Default)]
struct Replies {
    pending: Vec<u8>,
    ended: bool,
}

impl Callbacks for Replies {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        // Where is the cursor? Line editors ask before they draw.
        if (first, parameters, last) == (None, &[&[6][..]][..], 'n') {
            let (row, column) = screen.cursor_position();
            self.pending.extend_from_slice(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
        }
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.ended |= title == END_TITLE.as_bytes();
    }
}

impl OnTerminal {
    /// Starts a command on a terminal of this many rows and columns, which becomes its controlling one.
    pub(crate) fn start(command: &Command, rows: u16, columns: u16) -> Self {
        Self::start_with(command, rows, columns, Streams::default())
    }

    /// The same with other streams than the terminal.
    pub(crate) fn start_with(command: &Command, rows: u16, columns: u16, streams: Streams) -> Self {
        let (keyboard, program) = pseudo::open().unwrap();
        keyboard.resize(pty_process::Size::new(rows, columns)).unwrap();
        // The environment of a stage is all there is: nothing of ours leaks in.
        let mut on = pseudo::Command::new(command.get_program())
            .args(command.get_args())
            .env_clear()
            .env("TERM", "xterm-256color")
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(command.get_current_dir().unwrap());
        if let Some(stdin) = streams.stdin {
            on = on.stdin(stdin);
        }
        if let Some(stdout) = streams.stdout {
            on = on.stdout(stdout);
        }
        let before = tcgetattr(&program).unwrap();
        let child = on.spawn_borrowed(&program).unwrap();
        let program = rustix::io::fcntl_dupfd_cloexec(&program, 0).unwrap();
        let keyboard = File::from(OwnedFd::from(keyboard));
        let size = |size: u16| NonZeroU16::new(size).unwrap();
        let parser = Parser::new_with_callbacks(size(rows), size(columns), KEPT_LINES, Replies::default());
        let state = Mutex::new(State { parser, bytes: Vec::new() });
        let seen = Arc::new(Seen { state, changed: Condvar::new() });
        let (reader, sight) = (keyboard.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || look(reader, &sight));
        Self { child, keyboard, program, seen, before }
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &str) {
        (&self.keyboard).write_all(keys.as_bytes()).unwrap();
    }

    /// Makes the window another size, as a person does with the mouse. The system tells the program.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let mut state = self.seen.lock();
        let size = |size: u16| NonZeroU16::new(size).unwrap();
        state.parser.set_size(size(rows), size(columns));
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Whether the terminal has the modes that it had at the beginning.
    pub(crate) fn is_restored(&self) -> bool {
        same_modes(&tcgetattr(&self.program).unwrap(), &self.before)
    }

    pub(crate) fn shown(&self) -> Shown {
        self.seen.lock().shown()
    }

    /// The screen as a picture.
    pub(crate) fn picture(&self) -> String {
        crate::pty::picture::draw(self.seen.lock().parser.screen())
    }

    /// Waits until one of the lines has this text.
    pub(crate) fn until(&self, text: &str) -> Shown {
        self.until_so(text, |shown| shown.has(text))
    }

    /// Waits until what is shown is as it should be.
    pub(crate) fn until_so(&self, what: &str, fits: impl Fn(&Shown) -> bool) -> Shown {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.seen.lock();
        loop {
            let shown = state.shown();
            if fits(&shown) {
                return shown;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never seen: {what}\n{}", shown.styled);
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until this was written. Cheaper than to look at the screen, where a lot is written.
    pub(crate) fn until_written(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.seen.lock();
        let mut from = 0;
        while !state.bytes[from..].windows(text.len()).any(|window| window == text.as_bytes()) {
            from = state.bytes.len().saturating_sub(text.len());
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never written: {text}");
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for the program's end, and for all that it wrote.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end\n{}", self.shown().styled);
            // There is no way to wait for a child with a limit; whoever waits longer than this has failed anyway.
            std::thread::sleep(Duration::from_millis(2));
        };
        let restored = self.is_restored();
        let end = format!("\x1b]2;{END_TITLE}\x07");
        File::from(self.program.try_clone().unwrap()).write_all(end.as_bytes()).unwrap();
        let mut state = self.seen.lock();
        while !state.parser.callbacks().ended {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the terminal does not answer");
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
        let bytes = state.bytes.clone();
        let bytes = bytes.strip_suffix(end.as_bytes()).unwrap_or(&bytes).to_vec();
        Ended { status, bytes, shown: state.shown(), restored }
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Everything that it wrote, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }
}

impl Shown {
    pub(crate) fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// How many lines have this text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.lines.iter().filter(|line| line.contains(text)).count()
    }

    /// The line that the cursor is in.
    pub(crate) fn current(&self) -> &str {
        self.lines.get(self.cursor.0).map_or("", String::as_str)
    }

    /// For a snapshot: styles are named, what is different each time is replaced.
    pub(crate) fn settled(&self) -> String {
        let mut text = String::new();
        let mut rest = self.styled.as_str();
        while let Some(at) = rest.find("ses_") {
            text.push_str(&rest[..at]);
            text.push_str("SESSION");
            rest =
                rest[at + "ses_".len()..].trim_start_matches(|character: char| character.is_ascii_hexdigit());
        }
        text.push_str(rest);
        text.lines().map(without_time).collect::<Vec<_>>().join("\n")
    }
}

/// A line in which something took no time.
fn without_time(line: &str) -> String {
    let Some((before, after)) = line.split_once(" s ·") else { return line.to_owned() };
    let before = before.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    format!("{before}0.0 s ·{after}")
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn shown(&mut self) -> Shown {
        let screen = self.parser.screen_mut();
        let kept = screen.scrollback_len();
        let (rows, columns) = screen.size();
        let (row, column) = screen.cursor_position();
        let (mut lines, mut styled) = (Vec::new(), Vec::new());
        for above in (1..=kept).rev() {
            screen.set_scrollback(above);
            lines.push(plain(screen, 0, columns.get()));
            styled.push(with_styles(screen, 0, columns.get()));
        }
        screen.set_scrollback(0);
        for row in 0..rows.get() {
            lines.push(plain(screen, row, columns.get()));
            styled.push(with_styles(screen, row, columns.get()));
        }
        let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines.truncate(used);
        styled.truncate(used);
        Shown {
            lines,
            styled: styled.join("\n"),
            cursor: (kept + usize::from(row), usize::from(column)),
            cursor_visible: !screen.hide_cursor(),
            bracketed_paste: screen.bracketed_paste(),
        }
    }
}

/// Reads what the program writes until the terminal is gone, and answers what it asks.
fn look(mut terminal: File, seen: &Seen) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        let mut state = seen.lock();
        state.bytes.extend_from_slice(&buffer[..count]);
        state.parser.process(&buffer[..count]);
        let answer = std::mem::take(&mut state.parser.callbacks_mut().pending);
        drop(state);
        seen.changed.notify_all();
        if terminal.write_all(&answer).is_err() {
            return;
        }
    }
}

fn plain(screen: &Screen, row: u16, columns: u16) -> String {
    let cells = (0..columns).filter_map(|column| screen.cell(row, column));
    let cells = cells.filter(|cell| !cell.is_wide_continuation());
    let text: String = cells.map(|cell| if cell.has_contents() { cell.contents() } else { " " }).collect();
    text.trim_end().to_owned()
}

fn with_styles(screen: &Screen, row: u16, columns: u16) -> String {
    let (mut text, mut style) = (String::new(), String::new());
    let mut end = 0;
    for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
        if cell.is_wide_continuation() {
            continue;
        }
        let has = style_of(cell);
        if has != style {
            // What has a style ends where its text does.
            if !style.is_empty() {
                text.push_str("<>");
                end = text.len();
            }
            if !has.is_empty() {
                write!(text, "<{has}>").unwrap();
            }
            style = has;
        }
        text.push_str(if cell.has_contents() { cell.contents() } else { " " });
        if cell.has_contents() && cell.contents() != " " {
            end = text.len();
        }
    }
    text.truncate(end);
    // A style that goes on to the end of the row ends with it here.
    let last = text.rfind('<').map(|at| &text[at..]);
    if last.is_some_and(|last| !last.starts_with("<>")) {
        text.push_str("<>");
    }
    text
}

fn style_of(cell: &vt100::Cell) -> String {
    let color = match cell.fgcolor() {
        Color::Default => "",
        Color::Idx(1) => "red",
        Color::Idx(2) => "green",
        Color::Idx(3) => "yellow",
        Color::Idx(5) => "magenta",
        Color::Idx(6) => "cyan",
        Color::Idx(_) | Color::Rgb(..) => "other",
    };
    let marks = [
        ("bold", cell.bold()),
        ("dim", cell.dim()),
        ("italic", cell.italic()),
        ("underline", cell.underline()),
        ("inverse", cell.inverse()),
    ];
    let marks = marks.into_iter().filter(|(_, on)| *on).map(|(name, _)| name);
    std::iter::once(color).chain(marks).filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
}

fn same_modes(one: &Termios, other: &Termios) -> bool {
    one.input_modes == other.input_modes
        && one.output_modes == other.output_modes
        && one.local_modes == other.local_modes
        && one.control_modes == other.control_modes
}
