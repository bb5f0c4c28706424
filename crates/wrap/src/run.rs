//! The whole: a socket, a program, and the program again as often as was asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_endermux_io::Server;
use loggia_endermux_io::server::{BindError, Socket};
use loggia_wire::child::{Child, Exit, RestartPolicy, Restarts, SpawnError, Verdict};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::copies::Copies;
use crate::desk::{Desk, INPUT_QUEUE, Input};
use crate::history::History;
use crate::keyboard;
use crate::level::Level;
use crate::life::{End, Room, start};
use crate::options::{Options, Restart};
use crate::signals::Signals;
use crate::vocabulary::Vocabulary;

/// The pause before the first restart; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause: nobody waits longer for a server that was only away for a while.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A program that lived this long was well, and what went before does not count.
const WELL_AFTER: Duration = Duration::from_secs(60);

/// How long readers of what we copy have after somebody asked twice for the end.
const HURRIED: Duration = Duration::from_secs(1);

/// What a shell says of a program that is not there.
const NOT_FOUND: u8 = 127;

/// What a shell says of a program that cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// The system's number for what is not there.
const ENOENT: i32 = 2;

/// What is told when the program runs and clients can attach.
#[derive(Debug)]
pub struct Ready<'a> {
    /// Where clients attach.
    pub socket: &'a Path,
    /// The program's process id.
    pub pid: i32,
}

/// Why nothing was wrapped.
#[derive(Debug, thiserror::Error)]
pub enum WrapError {
    /// There is no socket to listen on.
    #[error(transparent)]
    Socket(#[from] BindError),
    /// The program did not start.
    #[error(transparent)]
    Program(#[from] SpawnError),
    /// The file for the history cannot be used.
    #[error("cannot keep a history in `{}`", path.display())]
    History {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system has no threads, or tells no signals.
    #[error("cannot watch over a program")]
    System(#[source] io::Error),
}

/// The status to leave with after a program ended so, as a shell has it.
pub fn status_of(exit: Exit) -> u8 {
    match exit {
        // Statuses have eight bits; more is not told by the system either.
        Exit::Code(code) => (code & 0xff) as u8,
        Exit::Signal(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(u8::MAX)),
        Exit::Lost => 1,
    }
}

impl WrapError {
    /// The status a shell leaves with that could not start a program.
    pub fn status(&self) -> Option<u8> {
        match self {
            Self::Program(SpawnError::Program { number, .. }) if *number == Some(ENOENT) => Some(NOT_FOUND),
            Self::Program(SpawnError::Program { .. }) => Some(NOT_EXECUTABLE),
            _ => None,
        }
    }
}

/// Wraps a program until it has ended for good, or a signal ends us. `ready` is called once.
///
/// # Errors
/// [`WrapError`]; nothing runs then, and no socket is left.
pub async fn run(options: Options, ready: impl FnOnce(&Ready<'_>)) -> Result<Exit, WrapError> {
    let history = match &options.history {
        None => History::default(),
        Some(path) => {
            History::open(path).map_err(|source| WrapError::History { path: path.clone(), source })?
        }
    };
    let mut signals = Signals::listen().map_err(WrapError::System)?;
    let socket = Socket::bind(&options.socket).await?;
    let vocabulary = Vocabulary::new(options.words.iter().cloned(), history);
    let (input, mut lines) = mpsc::channel(INPUT_QUEUE);
    let server = Server::new(Desk::new(input.clone(), vocabulary));
    let (console, desk) = (server.console().clone(), server.host().clone());
    let copies = Copies::start().map_err(WrapError::System)?;
    let room = Room { options, console, desk, copies };
    let listening = tokio::spawn({
        let server = server.clone();
        async move { server.listen(socket).await }
    });

    let end = match start(&room.options).await {
        Ok(child) => {
            ready(&Ready { socket: &room.options.socket, pid: child.pid() });
            match keyboard::listen(input, room.options.stdin_eof) {
                Ok(()) => Ok(room.supervise(child, &mut lines, &mut signals).await),
                Err(error) => Err(WrapError::System(error)),
            }
        }
        Err(error) => Err(error.into()),
    };
    // Before the connections go: whoever gave the last command waits for its answer.
    room.desk.finish().await;
    server.stop().await;
    if listening.await.is_err() {
        tracing::error!("the console's listener panicked");
    }
    let hurried = end.as_ref().is_ok_and(|end| end.hurried);
    let enough = async {
        if hurried {
            tokio::time::sleep(HURRIED).await;
        } else {
            signals.next().await;
        }
    };
    room.copies.finish(enough).await;
    end.map(|end| end.exit)
}

impl Room {
    /// Keeps the program going as the options say; how it ended at last.
    async fn supervise(&self, first: Child, lines: &mut mpsc::Receiver<Input>, signals: &mut Signals) -> End {
        let mut restarts = Restarts::new(self.options.policy());
        let mut program = Some(first);
        let mut exit = Exit::Code(NOT_FOUND.into());
        loop {
            let began = Instant::now();
            if let Some(mut child) = program.take() {
                let end = self.live(&mut child, lines, signals).await;
                exit = end.exit;
                // Its descendants have to be gone before another one starts, or we leave.
                child.gone().await;
                if end.asked || !self.options.restart.wants(end) {
                    self.tell(Level::Info, &format!("the program ended with {exit}"));
                    return end;
                }
            }
            let pause = match restarts.ended(began.elapsed()) {
                Verdict::RestartAfter(pause) => pause,
                Verdict::GiveUp { ends } => {
                    let text =
                        format!("the program ended with {exit}, {ends} times in a row; it is given up");
                    self.tell(Level::Error, &text);
                    return End { exit, asked: false, hurried: false };
                }
            };
            let text =
                format!("the program ended with {exit}; it is started again in {} ms", pause.as_millis());
            self.tell(Level::Warn, &text);
            if !self.pause(pause, lines, signals).await {
                return End { exit, asked: true, hurried: false };
            }
            match start(&self.options).await {
                Ok(child) => {
                    self.tell(Level::Info, &format!("the program runs again, as process {}", child.pid()));
                    program = Some(child);
                }
                Err(error) => {
                    let error = WrapError::from(error);
                    self.tell(Level::Error, &error.to_string());
                    exit = Exit::Code(error.status().unwrap_or(1).into());
                }
            }
        }
    }

    /// Waits while the program is down; whether to go on.
    async fn pause(&self, pause: Duration, lines: &mut mpsc::Receiver<Input>, signals: &mut Signals) -> bool {
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            _ = signals.next() => false,
            never = self.refuse(lines, "the program is down") => match never {},
        }
    }
}

impl Options {
    fn policy(&self) -> RestartPolicy {
        RestartPolicy {
            first_pause: FIRST_PAUSE,
            longest_pause: LONGEST_PAUSE,
            give_up_after: self.max_restarts.saturating_add(1),
            well_after: WELL_AFTER,
        }
    }
}

impl Restart {
    fn wants(self, end: End) -> bool {
        match self {
            Self::Never => false,
            Self::OnFailure => !end.exit.success(),
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_a_shell_and_signals_have_names() {
        let all = [Exit::Code(0), Exit::Code(7), Exit::Code(-1), Exit::Signal(15), Exit::Lost];
        assert_eq!(all.map(status_of), [0, 7, 255, 143, 1]);
        assert_eq!(Exit::Signal(15).to_string(), "signal 15 (SIGTERM)");
        assert_eq!(Exit::Signal(63).to_string(), "signal 63");
    }

    #[test]
    fn a_policy_wants_what_its_name_says() {
        let end = |exit| End { exit, asked: false, hurried: false };
        let wants = |policy: Restart| {
            [Exit::Code(0), Exit::Code(1), Exit::Signal(9)].map(|exit| policy.wants(end(exit)))
        };
        assert_eq!(wants(Restart::Never), [false, false, false]);
        assert_eq!(wants(Restart::OnFailure), [false, true, true]);
        assert_eq!(wants(Restart::Always), [true, true, true]);
    }
}
