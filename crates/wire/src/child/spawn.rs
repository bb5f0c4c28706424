//! Starting a program through its keeper.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IoSlice, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Command;

use super::confine::{Confinement, Held, Level, Road, bubblewrap_arguments};
use super::control::{Expectation, ISOLATE, ISOLATE_ONLINE, Order, PIPES, Report};
use super::process::{Child, Exit};
use super::spare::{self, Ready};
use super::spec::{ChildSpec, Environment, Keeper, Streams};
use super::stderr::{self, StderrTail};
use super::terminal;

/// A keeper answers within milliseconds; one that is silent for this long is not going to.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Fits into a socket's buffer, so that nobody waits for a keeper to read it. A longer one is not told.
const LONGEST_EXPECTATION: usize = 64 * 1024;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program itself: not there, not executable, no such directory.
    #[error("cannot start `{program}`: {reason}")]
    Program {
        /// What was to be started.
        program: String,
        /// What the system said.
        reason: String,
        /// The system's number for it, if it has one.
        number: Option<i32>,
    },
    /// The keeper could not be started or spoken to.
    #[error("cannot start a keeper for `{program}`")]
    Keeper {
        /// What was to be started.
        program: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It had to be held in and cannot be.
    #[error("`{program}` cannot be confined: {reason}")]
    Unconfined {
        /// What was to be started.
        program: String,
        /// What stood in the way, on each road.
        reason: String,
    },
    /// The keeper said nothing.
    #[error("the keeper of `{program}` did not answer")]
    Silent {
        /// What was to be started.
        program: String,
    },
}

/// Starts a program and returns when it runs.
///
/// One that is to be confined is tried on each of its roads in turn. If none is passable it is refused or, where
/// confinement is not required, started without.
///
/// # Errors
/// [`SpawnError`]; nothing is left running then.
pub async fn spawn(keeper: &Keeper, spec: ChildSpec) -> Result<Child, SpawnError> {
    let Some(confinement) = &spec.confinement else { return attempt(keeper, &spec, None).await };
    let mut obstacles = Vec::new();
    for road in &confinement.roads {
        let confinement = Confinement { roads: vec![road.clone()], ..confinement.clone() };
        match attempt(keeper, &spec, Some(confinement)).await {
            Err(SpawnError::Unconfined { reason, .. }) => {
                tracing::debug!(child = %spec.name, reason, "cannot be confined on one of the roads");
                obstacles.push(reason);
            }
            Err(error @ (SpawnError::Silent { .. } | SpawnError::Keeper { .. }))
                if matches!(road, Road::Bubblewrap(_)) =>
            {
                tracing::debug!(child = %spec.name, %error, "bubblewrap does not work here");
                obstacles.push("bubblewrap does not work".to_owned());
            }
            end => return end,
        }
    }
    if obstacles.is_empty() {
        obstacles.push("there is no road to it".to_owned());
    }
    if confinement.required {
        let program = spec.program.to_string_lossy().into_owned();
        return Err(SpawnError::Unconfined { program, reason: obstacles.join("; ") });
    }
    let mut child = attempt(keeper, &spec, None).await?;
    child.held = Held { level: Level::None, missing: obstacles };
    Ok(child)
}

/// Starts a program on one road.
async fn attempt(
    keeper: &Keeper,
    spec: &ChildSpec,
    confinement: Option<Confinement>,
) -> Result<Child, SpawnError> {
    let program = spec.program.to_string_lossy().into_owned();
    let keeper_failed = |source| SpawnError::Keeper { program: program.clone(), source };
    let (ends, given) = Ends::new(spec.streams).map_err(keeper_failed)?;
    let word = confinement.as_ref().and_then(word_for);
    let (process, ours) = match word {
        Some(word) => isolating_keeper(keeper, word, &given).map_err(keeper_failed)?,
        None => {
            let (process, ours) = start_keeper(keeper, confinement.as_ref(), &program)?;
            hand_over(&ours, &given).map_err(keeper_failed)?;
            (process, ours)
        }
    };
    // While we hold them, their other ends never see the end.
    drop(given);
    let has_own_root = confinement.as_ref().is_some_and(|held| held.roads.iter().any(Road::has_own_root));
    let mut line = Line::new(ours).map_err(keeper_failed)?;
    let likely = word.zip(confinement.clone().map(Arc::new));
    let (pid, held) = line.begin(&program, &order_of(spec, confinement)).await?;
    // Inside, process numbers are others; the keeper we started is the one we can see.
    let keeper_pid = process.id().and_then(|pid| i32::try_from(pid).ok());
    let pid = keeper_pid.filter(|_| has_own_root).unwrap_or(pid);

    let tail = StderrTail::default();
    let (stderr, drained) = match (spec.streams, ends.stderr) {
        (Streams::Conversation, Some(stderr)) => {
            let drain = stderr::drain(spec.name.clone(), stderr, tail.clone(), spec.on_stderr.clone());
            (None, Some(tokio::spawn(drain)))
        }
        (_, stderr) => (stderr, None),
    };
    let keeper = keeper.clone();
    let next = move || likely.iter().for_each(|(word, expected)| spare::prepare(&keeper, *word, expected));
    let exit = super::process::watch(spec.name.clone(), pid, process, line.reports, next);
    tracing::debug!(child = %spec.name, pid, %program, held = held.level.name(), "started");
    Ok(Child {
        name: spec.name.clone(),
        pid,
        held,
        stdin: ends.stdin,
        stdout: ends.stdout,
        stderr,
        tail,
        orders: line.orders,
        exit,
        drained,
    })
}

/// The socket to a keeper.
struct Line {
    reports: BufReader<OwnedReadHalf>,
    orders: OwnedWriteHalf,
}

impl Line {
    fn new(socket: StdUnixStream) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (reports, orders) = UnixStream::from_std(socket)?.into_split();
        Ok(Self { reports: BufReader::new(reports), orders })
    }

    /// Gives the order; the program's process id as its keeper sees it.
    async fn begin(&mut self, program: &str, order: &Order) -> Result<(i32, Held), SpawnError> {
        let program = program.to_owned();
        let begin = async {
            // A keeper that has gone may have said why.
            let written = self.orders.write_all(&order.encode()).await;
            match read_report(&mut self.reports).await {
                Ok(Some(report)) => Ok(Some(report)),
                other => written.and(other),
            }
        };
        match tokio::time::timeout(START_LIMIT, begin).await {
            Ok(Ok(Some(Report::Started(pid, held)))) => Ok((pid, held)),
            Ok(Ok(Some(Report::Failed(number, reason)))) => {
                Err(SpawnError::Program { program, reason, number })
            }
            Ok(Ok(Some(Report::Refused(reason)))) => Err(SpawnError::Unconfined { program, reason }),
            Ok(Err(source)) => Err(SpawnError::Keeper { program, source }),
            Ok(Ok(_)) | Err(_) => Err(SpawnError::Silent { program }),
        }
    }
}

/// Our ends of a program's pipes, or of its terminal.
struct Ends {
    stdin: Option<Sender>,
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
}

impl Ends {
    /// Our ends, and those to give away: stdin, stdout and stderr.
    fn new(streams: Streams) -> std::io::Result<(Self, [OwnedFd; 3])> {
        if let Streams::Terminal(size) = streams {
            let (ours, end) = terminal::open(size)?;
            // Neither is a pipe, and both are used like one.
            let stdin = Some(Sender::from_owned_fd_unchecked(ours.try_clone()?)?);
            let stdout = Some(Receiver::from_owned_fd_unchecked(ours)?);
            let given = [end.try_clone()?, end.try_clone()?, end];
            return Ok((Self { stdin, stdout, stderr: None }, given));
        }
        let (stdout, stdout_end) = std::io::pipe()?;
        let (stderr, stderr_end) = std::io::pipe()?;
        widen(&stdout_end);
        let (stdin, stdin_end) = match streams {
            Streams::Conversation | Streams::Apart => {
                let (stdin_end, stdin): (PipeReader, PipeWriter) = std::io::pipe()?;
                widen(&stdin);
                (Some(Sender::from_owned_fd(stdin.into())?), OwnedFd::from(stdin_end))
            }
            // An empty pipe is not the same: programs take a pipe for something to read.
            Streams::Output | Streams::Terminal(_) => (None, OwnedFd::from(File::open("/dev/null")?)),
        };
        let stdout = Some(Receiver::from_owned_fd(stdout.into())?);
        let stderr = Some(Receiver::from_owned_fd(stderr.into())?);
        Ok((Self { stdin, stdout, stderr }, [stdin_end, stdout_end.into(), stderr_end.into()]))
    }
}

/// Makes room for a few large messages, so that neither side waits in the middle of one for the other to read.
/// The system may refuse (there is a limit per user); a narrow pipe works too.
#[cfg(target_os = "linux")]
fn widen(pipe: &PipeWriter) {
    const WIDE: usize = 256 * 1024;
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, WIDE) {
        tracing::debug!(%error, "pipe stays narrow");
    }
}

#[cfg(not(target_os = "linux"))]
fn widen(_pipe: &PipeWriter) {}

/// What a keeper is told that shall make namespaces.
fn word_for(confinement: &Confinement) -> Option<u8> {
    let word = if confinement.network { ISOLATE_ONLINE } else { ISOLATE };
    (confinement.roads.first() == Some(&Road::Namespaces)).then_some(word)
}

/// A keeper in namespaces of its own, which has the pipes and waits for its order: the one that is ready, or a new one.
fn isolating_keeper(
    keeper: &Keeper,
    word: u8,
    given: &[OwnedFd; 3],
) -> std::io::Result<(tokio::process::Child, StdUnixStream)> {
    if let Some(ready) = keeper.spare.as_ref().and_then(|spare| spare.take(word)) {
        match hand_over(&ready.socket, given) {
            Ok(()) => return Ok((ready.process, ready.socket)),
            // Died just now. It was told nothing yet, so another can be told all.
            Err(error) => tracing::debug!(%error, "the keeper that was ready is gone"),
        }
        tokio::spawn(ready.dismiss());
    }
    let fresh = start_isolating_keeper(keeper, word, None)?;
    hand_over(&fresh.socket, given)?;
    Ok((fresh.process, fresh.socket))
}

/// Starts a keeper and has it make namespaces. If its order is still to come, it is told what that may ask for.
pub(super) fn start_isolating_keeper(
    keeper: &Keeper,
    word: u8,
    expected: Option<&Confinement>,
) -> std::io::Result<Ready> {
    let (ours, theirs) = StdUnixStream::pair()?;
    let mut command = bare_command(keeper);
    command.env_clear();
    let process = over(theirs, command)?;
    let mut words = vec![word];
    let expected = expected.map(|expected| Expectation(expected.clone()).encode());
    words.extend(expected.filter(|bytes| bytes.len() <= LONGEST_EXPECTATION).into_iter().flatten());
    std::io::Write::write_all(&mut &ours, &words)?;
    Ok(Ready::new(process, ours, word))
}

/// Starts a keeper that makes no namespaces: a free one, one under Landlock's rules, or one in `bwrap`.
fn start_keeper(
    keeper: &Keeper,
    confinement: Option<&Confinement>,
    program: &str,
) -> Result<(tokio::process::Child, StdUnixStream), SpawnError> {
    let mut command = match confinement.map(|confinement| (confinement, confinement.roads.first())) {
        Some((confinement, Some(Road::Bubblewrap(bubblewrap)))) => {
            let arguments = bubblewrap_arguments(confinement, keeper).map_err(|error| {
                SpawnError::Unconfined { program: program.to_owned(), reason: error.to_string() }
            })?;
            bubblewrap_command(bubblewrap, arguments)
        }
        _ => bare_command(keeper),
    };
    if confinement.is_some() {
        // What is in our environment is not for the program, and a keeper needs nothing of it.
        command.env_clear();
    }
    let started = StdUnixStream::pair().and_then(|(ours, theirs)| Ok((over(theirs, command)?, ours)));
    started.map_err(|source| SpawnError::Keeper { program: program.to_owned(), source })
}

#[expect(clippy::disallowed_methods, reason = "the keeper is what everything else goes through")]
fn bare_command(keeper: &Keeper) -> Command {
    let mut command = Command::new(&keeper.program);
    command.arg0("guest-keeper").args(&keeper.args);
    command
}

#[expect(clippy::disallowed_methods, reason = "the keeper inside is what everything else goes through")]
fn bubblewrap_command(bubblewrap: &Path, arguments: Vec<OsString>) -> Command {
    let mut command = Command::new(bubblewrap);
    command.args(arguments).process_group(0);
    command
}

/// Starts it with the socket for its stdin.
fn over(socket: StdUnixStream, mut command: Command) -> std::io::Result<tokio::process::Child> {
    command.stdin(Stdio::from(OwnedFd::from(socket))).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Sends the program's ends of the pipes to the keeper.
///
/// Before the first answer is read: it is little, and fits into the socket's buffer.
fn hand_over(socket: &StdUnixStream, given: &[OwnedFd; 3]) -> std::io::Result<()> {
    let ends = given.each_ref().map(AsFd::as_fd);
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&ends)) {
        return Err(std::io::Error::other("no room for three file descriptors"));
    }
    sendmsg(socket, &[IoSlice::new(&[PIPES])], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

fn order_of(spec: &ChildSpec, confinement: Option<Confinement>) -> Order {
    let environment = match &spec.environment {
        Environment::Exactly(variables) => variables.clone(),
        Environment::Inherit(changes) => {
            let unchanged = |name: &OsStr| changes.iter().all(|(changed, _)| changed != name);
            let mut all: Vec<(OsString, OsString)> =
                std::env::vars_os().filter(|(name, _)| unchanged(name)).collect();
            all.extend(changes.iter().cloned());
            all
        }
    };
    Order {
        program: spec.program.clone(),
        args: spec.args.clone(),
        cwd: spec.cwd.clone(),
        environment,
        limits: spec.limits,
        terminal: matches!(spec.streams, Streams::Terminal(_)),
        confinement,
    }
}

/// The keeper's next report; nothing when it has gone.
pub(super) async fn read_report(reports: &mut BufReader<OwnedReadHalf>) -> std::io::Result<Option<Report>> {
    let mut line = String::new();
    reports.read_line(&mut line).await?;
    Ok(Report::parse(&line))
}

impl From<Report> for Exit {
    fn from(report: Report) -> Self {
        match report {
            Report::Exited(code) => Self::Code(code),
            Report::Killed(signal) => Self::Signal(signal),
            Report::Started(..) | Report::Failed(..) | Report::Refused(_) | Report::Cleared => Self::Lost,
        }
    }
}
