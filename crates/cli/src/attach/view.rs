//! A console that stays: what the server says is shown, what is typed is sent, and a connection that was lost is made again.
//!
//! What always holds: a line that was not sent is told so; what is shown of others cannot drive the terminal; the terminal is
//! as it was when this ends.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;

use loggia_endermux_io::client::Options;
use loggia_endermux_io::{Client, ConnectError, Event};
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::commands::{Commands, Told, as_sent};
use super::complete::{Desk, Remote};
use super::error::ConsoleError;
use super::face::{self, Above, Face};
use super::filter::{Level, Sieve};
use super::highlight::{Colors, Palette};
use super::input::stdin_lines;
use super::keeper::{Happening, Keeper};
use super::lines::{Lines, one_line, plain};
use super::prompt::{MARK, Mark, Prompting, Signal, State};
use super::{Attach, Attached};
use crate::editor::{self, Editor, Typed};
use crate::interrupts::Interrupt;
use crate::paint::{ASIDE, ERROR, Paint};
use crate::terminal::columns;
use crate::{CliError, Interrupts, Terminal};

/// Follows, and sends what is typed unless it may only read.
pub(super) async fn view(
    options: &Attach,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Attached, CliError> {
    let keeper = Keeper::start(options.socket.clone(), offer(options));
    let paint = terminal.paint_err();
    let shared = Shared::default();
    let edits = !options.read_only
        && !options.json
        && terminal.can_edit()
        && terminal.can_wipe()
        && terminal.stdout_is_terminal();
    let given = terminal.lines.take();
    let (editor, above) = match given {
        _ if options.read_only => (None, None),
        Some(lines) => (Some(Editor::given(lines)), None),
        None if edits => {
            let (editor, above) = edit(options, &shared).map_err(CliError::Keyboard)?;
            (Some(editor), Some(above))
        }
        None => (Some(Editor::given(stdin_lines().map_err(CliError::Keyboard)?)), None),
    };
    let is_edited = above.is_some();
    let face = above.map_or_else(|| Face::Plain(&mut *terminal), Face::Above);
    let mut view = View::new(options, face, paint, &shared);
    let done = view.go(editor, keeper, interrupts).await;
    let shown = view.face.finish().map_err(CliError::Output);
    let hidden = view.sieve.hidden;
    drop(view);
    if is_edited && hidden > 0 && !options.quiet {
        let words = format!("{hidden} lines did not match, and were not shown.");
        terminal.err(&format!("{}\n", paint.text(ASIDE, words))).map_err(CliError::Output)?;
    }
    shown.and(done)
}

/// What is said first.
pub(super) fn offer(options: &Attach) -> Options {
    Options { commands: !options.read_only, ..Options::new(options.color_level) }
}

/// What the editor's thread and this one share.
#[derive(Debug, Default)]
struct Shared {
    prompting: Arc<Prompting>,
    palette: Arc<Palette>,
    desk: Arc<Desk>,
}

/// A line that is edited, and the place above it.
fn edit(options: &Attach, shared: &Shared) -> std::io::Result<(Editor, Above)> {
    let (above, printer) = Above::new(&shared.palette, &shared.prompting, columns);
    let colors = Colors { palette: Arc::clone(&shared.palette), color: options.has_colors() };
    let mut line = editor::line(Box::new(Remote::new(&shared.desk)), MARK, options.history.as_deref())?
        .with_highlighter(Box::new(colors))
        .with_external_printer(printer)
        .with_poll_interval(face::TICK)
        .with_ansi_colors(options.has_colors())
        // As existing clients do: what is typed after a space is not remembered.
        .with_history_exclusion_prefix(Some(" ".to_owned()));
    let signal = line.repaint_signal();
    shared.prompting.drawn_by(Signal(Box::new(move || signal.request_repaint())));
    let editor = Editor::begin(line, Mark(Arc::clone(&shared.prompting)))?;
    Ok((editor, above))
}

/// A console on its way.
struct View<'v> {
    options: &'v Attach,
    face: Face<'v>,
    paint: Paint,
    shared: &'v Shared,
    client: watch::Sender<Option<Client>>,
    commands: Commands,
    lines: Lines,
    sieve: Sieve,
    /// Whether the server was there before.
    knows_server: bool,
    _helpers: JoinSet<()>,
}

/// A line for programs.
#[derive(Serialize)]
struct Record<'l> {
    line: &'l str,
    level: Option<&'static str>,
}

impl<'v> View<'v> {
    fn new(options: &'v Attach, face: Face<'v>, paint: Paint, shared: &'v Shared) -> Self {
        let client = watch::Sender::new(None);
        let mut helpers = JoinSet::new();
        if matches!(face, Face::Above(_)) {
            let (desk, of_desk) = (Arc::clone(&shared.desk), client.subscribe());
            helpers.spawn(async move { desk.serve(of_desk).await });
            let (palette, of_palette) = (Arc::clone(&shared.palette), client.subscribe());
            let prompting = Arc::clone(&shared.prompting);
            helpers.spawn(async move { palette.serve(of_palette, || prompting.draw()).await });
        }
        Self {
            options,
            face,
            paint,
            shared,
            client,
            commands: Commands::new(options.has_colors()),
            lines: Lines::new(options.has_colors()),
            sieve: Sieve::new(options.filter.clone()),
            knows_server: false,
            _helpers: helpers,
        }
    }

    async fn go(
        &mut self,
        mut editor: Option<Editor>,
        mut keeper: Keeper,
        interrupts: &mut Interrupts,
    ) -> Result<Attached, CliError> {
        if let Some(left) = self.first(&mut keeper, interrupts).await? {
            return Ok(left);
        }
        let mut ticks = interval(face::TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut typing = pin!(async {
                match &mut editor {
                    Some(editor) => editor.next().await,
                    None => pending().await,
                }
            });
            let typed = loop {
                let room = self.face.has_room();
                tokio::select! {
                    typed = &mut typing => break typed,
                    Some(happened) = keeper.happenings.recv(), if room => self.happened(happened)?,
                    Some(told) = self.commands.next(), if room => self.told(told)?,
                    _ = ticks.tick(), if self.face.has_more() => self.face.flush(),
                    interrupt = interrupts.any() => match (interrupt, &self.face) {
                        // As a key it is the editor's; from elsewhere, it would leave the terminal as it is now.
                        (Interrupt::Suspend, Face::Above(_)) => {}
                        (Interrupt::Suspend, Face::Plain(_)) => crate::terminal::stop(),
                        // Where no line is edited, this is how to leave.
                        (Interrupt::Cancel, Face::Plain(_)) => return Ok(Attached::Done),
                        (Interrupt::Cancel | Interrupt::End, _) => return Ok(Attached::Cancelled),
                    },
                }
            };
            match typed {
                Typed::Line(text) => self.typed(&text)?,
                Typed::Interrupted if self.state() == State::Waiting => return Ok(Attached::Done),
                Typed::Interrupted => self.aside("Ctrl-D leaves.")?,
                Typed::Ended if matches!(self.face, Face::Above(_)) => return Ok(Attached::Done),
                Typed::Ended => {
                    self.wind_up(&mut keeper, interrupts).await?;
                    return Ok(Attached::Done);
                }
                Typed::Broken(error) => return Err(CliError::Keyboard(error)),
            }
        }
    }

    /// Waits for what becomes of the first attempt: whoever is refused leaves a terminal that nobody has changed. Tells how it
    /// ended if somebody leaves meanwhile.
    async fn first(
        &mut self,
        keeper: &mut Keeper,
        interrupts: &mut Interrupts,
    ) -> Result<Option<Attached>, CliError> {
        loop {
            tokio::select! {
                Some(happened) = keeper.happenings.recv() => {
                    self.happened(happened)?;
                    return Ok(None);
                }
                interrupt = interrupts.any() => match interrupt {
                    Interrupt::Suspend => crate::terminal::stop(),
                    // As it is while nobody is there.
                    Interrupt::Cancel => return Ok(Some(Attached::Done)),
                    Interrupt::End => return Ok(Some(Attached::Cancelled)),
                },
            }
        }
    }

    /// Nothing more is typed: what was given is brought to its end.
    async fn wind_up(&mut self, keeper: &mut Keeper, interrupts: &mut Interrupts) -> Result<(), CliError> {
        while self.commands.are_open() {
            tokio::select! {
                Some(told) = self.commands.next() => self.told(told)?,
                Some(happened) = keeper.happenings.recv() => self.happened(happened)?,
                () = interrupts.next() => return Ok(()),
                else => return Ok(()),
            }
        }
        Ok(())
    }

    fn state(&self) -> State {
        self.shared.prompting.state()
    }

    /// Sends a line, or tells why not.
    fn typed(&mut self, text: &str) -> Result<(), CliError> {
        self.shared.desk.forget();
        let client = self.client.borrow().clone();
        match (self.state(), client) {
            (State::Open, Some(client)) => {
                let Some(line) = as_sent(text, &client).map(str::to_owned) else { return Ok(()) };
                if !self.commands.give(client, line) {
                    self.aside("The server does not take what was sent before; the line was not sent.")?;
                }
                Ok(())
            }
            // Nothing was to be sent.
            _ if text.trim().is_empty() => Ok(()),
            (State::Closed, Some(_)) => {
                self.aside("The server takes no commands now; the line was not sent.")
            }
            _ => self.aside("Nobody is there; the line was not sent."),
        }
    }

    fn happened(&mut self, happening: Happening) -> Result<(), CliError> {
        match happening {
            Happening::Attached(client) => self.attached(client),
            Happening::Said(event) => self.said(event),
            Happening::Lost(why) => {
                self.client.send_replace(None);
                self.shared.prompting.set(State::Waiting);
                self.aside(&format!("The connection was lost: {why}. Waiting for the server."))
            }
            Happening::Absent(error) => self.absent(error),
            Happening::Refused(error) => {
                Err(CliError::Console(ConsoleError::of_connecting(error, &self.options.socket)))
            }
        }
    }

    fn attached(&mut self, client: Client) -> Result<(), CliError> {
        let epoch = client.selected().epoch.number();
        self.client.send_replace(Some(client));
        self.shared.desk.forget();
        self.shared.palette.forget();
        self.lines = Lines::new(self.options.has_colors());
        self.shared.prompting.set(State::Closed);
        let again = if std::mem::replace(&mut self.knows_server, true) { " again" } else { "" };
        let leave = match (&self.face, self.options.read_only) {
            (_, true) => " Nothing can be sent. Ctrl-C leaves.",
            (Face::Above(_), _) => " Tab completes, Ctrl-D leaves.",
            (Face::Plain(_), _) => " Ctrl-D leaves.",
        };
        let path = one_line(&self.options.socket.display().to_string());
        self.aside(&format!("Attached{again} to {path} (epoch {epoch}).{leave}"))
    }

    /// Nobody is there yet. Somebody may come, unless there is no place for them.
    fn absent(&mut self, error: ConnectError) -> Result<(), CliError> {
        let has_place = self
            .options
            .socket
            .parent()
            .is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir());
        let error = ConsoleError::of_connecting(error, &self.options.socket);
        if !has_place || error.is_hopeless() {
            return Err(CliError::Console(error));
        }
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        self.aside(&format!("{error}{cause}. Waiting for it; Ctrl-C leaves."))
    }

    fn said(&mut self, event: Event) -> Result<(), CliError> {
        match event {
            Event::Log(text) => {
                for line in self.lines.take(&text) {
                    if self.sieve.passes(&line) {
                        self.line(&line)?;
                    }
                }
                Ok(())
            }
            Event::Skipped { messages } => {
                let noun = if messages == 1 { "message" } else { "messages" };
                self.aside(&format!("… {messages} {noun} skipped: they came faster than they can be shown."))
            }
            Event::Interactivity(open) => {
                let before = self.state();
                self.shared.prompting.set(if open { State::Open } else { State::Closed });
                match (before, open, self.options.read_only) {
                    (State::Open, false, false) => self.aside("The server takes no commands now."),
                    _ => Ok(()),
                }
            }
            Event::Error(failure) => self.complain(&failure.text()),
            // The connection's keeper tells.
            Event::Closed(_) => Ok(()),
        }
    }

    fn told(&mut self, told: Told) -> Result<(), CliError> {
        match told {
            Told::Lines(lines) => lines.iter().try_for_each(|line| self.line(line)),
            Told::Given => Ok(()),
            Told::Ended(status) => self.aside(&format!("It ended with status {status}.")),
            Told::Failed(error) => self.complain(&error.to_string()),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), CliError> {
        if !self.options.json {
            return self.face.line(line).map_err(CliError::Output);
        }
        let line = plain(line);
        let record = Record { line: &line, level: Level::of(&line).map(Level::as_str) };
        let text = serde_json::to_string(&record).map_err(|error| CliError::Output(error.into()))?;
        self.face.line(&text).map_err(CliError::Output)
    }

    fn complain(&mut self, what: &str) -> Result<(), CliError> {
        let text = format!("{} {}", self.paint.text(ERROR, "error:"), one_line(what));
        self.face.aside(&text).map_err(CliError::Output)
    }

    fn aside(&mut self, text: &str) -> Result<(), CliError> {
        if self.options.quiet {
            return Ok(());
        }
        let text = self.paint.text(ASIDE, text).into_owned();
        self.face.aside(&text).map_err(CliError::Output)
    }
}
