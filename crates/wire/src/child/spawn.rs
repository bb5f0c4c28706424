//! Starting a program through its keeper.

use std::ffi::{OsStr, OsString};
use std::io::{IoSlice, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Stdio;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::process::Command;

use super::control::{Order, PIPES, Report};
use super::process::{Child, Exit};
use super::spec::{ChildSpec, Environment, Keeper};
use super::stderr::{self, StderrTail};

/// A keeper answers within milliseconds; one that is silent for this long is not going to.
const START_LIMIT: Duration = Duration::from_secs(10);

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
    /// The keeper said nothing.
    #[error("the keeper of `{program}` did not answer")]
    Silent {
        /// What was to be started.
        program: String,
    },
}

/// The three pipes of a program, both ends of each.
struct Pipes {
    stdin: (PipeReader, PipeWriter),
    stdout: (PipeReader, PipeWriter),
    stderr: (PipeReader, PipeWriter),
}

/// Starts a program and returns when it runs.
///
/// # Errors
/// [`SpawnError`]; nothing is left running then.
pub async fn spawn(keeper: &Keeper, spec: ChildSpec) -> Result<Child, SpawnError> {
    let program = spec.program.to_string_lossy().into_owned();
    let keeper_failed = |source| SpawnError::Keeper { program: program.clone(), source };
    let pipes = Pipes::new().map_err(keeper_failed)?;
    let (ours, theirs) = StdUnixStream::pair().map_err(keeper_failed)?;
    let keeper_process = start_keeper(keeper, theirs).map_err(keeper_failed)?;
    let ends = hand_over(&ours, pipes).map_err(keeper_failed)?;
    ours.set_nonblocking(true).map_err(keeper_failed)?;
    let socket = UnixStream::from_std(ours).map_err(keeper_failed)?;
    let (reports, mut orders) = socket.into_split();
    let mut reports = BufReader::new(reports);

    let begin = async {
        orders.write_all(&order_of(&spec).encode()).await?;
        read_report(&mut reports).await
    };
    let report = match tokio::time::timeout(START_LIMIT, begin).await {
        Ok(report) => report.map_err(keeper_failed)?,
        Err(_) => return Err(SpawnError::Silent { program }),
    };
    let pid = match report {
        Some(Report::Started(pid)) => pid,
        Some(Report::Failed(reason)) => return Err(SpawnError::Program { program, reason }),
        _ => return Err(SpawnError::Silent { program }),
    };

    let tail = StderrTail::default();
    let (stdin, stdout, stderr) = ends;
    let drained =
        tokio::spawn(stderr::drain(spec.name.clone(), stderr, tail.clone(), spec.on_stderr.clone()));
    let exit = super::process::watch(spec.name.clone(), pid, keeper_process, reports);
    tracing::debug!(child = %spec.name, pid, %program, "started");
    Ok(Child::new(spec.name, pid, stdin, stdout, tail, orders, exit, drained))
}

impl Pipes {
    fn new() -> std::io::Result<Self> {
        let pipes = Self { stdin: std::io::pipe()?, stdout: std::io::pipe()?, stderr: std::io::pipe()? };
        widen(&pipes.stdin.1);
        widen(&pipes.stdout.1);
        Ok(pipes)
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

#[expect(clippy::disallowed_methods, reason = "the keeper is what everything else goes through")]
fn start_keeper(keeper: &Keeper, socket: StdUnixStream) -> std::io::Result<tokio::process::Child> {
    Command::new(&keeper.program)
        .arg0("guest-keeper")
        .args(&keeper.args)
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Sends the program's ends of the pipes to the keeper and keeps ours.
fn hand_over(socket: &StdUnixStream, pipes: Pipes) -> std::io::Result<(Sender, Receiver, Receiver)> {
    let Pipes { stdin: (stdin_end, stdin), stdout: (stdout, stdout_end), stderr: (stderr, stderr_end) } =
        pipes;
    let ends = [stdin_end.as_fd(), stdout_end.as_fd(), stderr_end.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&ends)) {
        return Err(std::io::Error::other("no room for three file descriptors"));
    }
    sendmsg(socket, &[IoSlice::new(&[PIPES])], &mut ancillary, SendFlags::empty())?;
    Ok((
        Sender::from_owned_fd(stdin.into())?,
        Receiver::from_owned_fd(stdout.into())?,
        Receiver::from_owned_fd(stderr.into())?,
    ))
}

fn order_of(spec: &ChildSpec) -> Order {
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
    Order { program: spec.program.clone(), args: spec.args.clone(), cwd: spec.cwd.clone(), environment }
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
            Report::Started(_) | Report::Failed(_) => Self::Lost,
        }
    }
}
