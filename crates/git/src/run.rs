//! One call of git, from its start to its end.
//!
//! What always holds: every call ends, within its time; what is kept of its output is bounded; a call that nobody
//! waits for any more is ended, with time to take its locks away.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use loggia_domain::RepositoryError;
use loggia_wire::child::{
    Child, ChildSpec, Environment, Exit, Keeper, SpawnError, StopActions, StopPlan, StopStep, Streams, spawn,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use crate::words;

/// What git says about what went wrong fits into this.
const MAX_COMPLAINT: usize = 16 * 1024;

/// As much as a pipe holds as a rule.
const PIECE: usize = 64 * 1024;

/// Git removes its locks at once when it is told to go.
const POLITELY: Duration = Duration::from_secs(2);

/// When git has ended, everybody who could still write is killed, and the last bytes are in the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The first wait for somebody else's lock; each one is twice as long as the last.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// A call of git.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) input: Vec<u8>,
    pub(crate) limit: Duration,
    /// How much of its output is kept. When there is more, it is ended.
    pub(crate) most: usize,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) exit: Exit,
    pub(crate) output: Vec<u8>,
    /// Whether there was more output.
    pub(crate) is_cut: bool,
    pub(crate) complaint: String,
}

/// Calls git, and again for a while if somebody else is at the index.
pub(crate) async fn call(keeper: &Keeper, call: Call, locked: Duration) -> Result<Said, RepositoryError> {
    let began = Instant::now();
    let mut wait = FIRST_WAIT;
    loop {
        let said = call_once(keeper.clone(), call.clone()).await?;
        if !words::is_locked(&said.complaint) || began.elapsed() + wait > locked {
            return Ok(said);
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}

async fn call_once(keeper: Keeper, call: Call) -> Result<Said, RepositoryError> {
    // A task of its own: it outlives a dropped future for as long as ending git takes.
    let (wanted, unwanted) = oneshot::channel::<()>();
    let task = tokio::spawn(run(keeper, call, unwanted));
    let end = task.await.unwrap_or_else(|error| Err(RepositoryError::Failed(error.to_string())));
    drop(wanted);
    end
}

async fn run(keeper: Keeper, call: Call, unwanted: oneshot::Receiver<()>) -> Result<Said, RepositoryError> {
    let name = call.arguments.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let name = format!("git {}", name.map(|word| word.to_string_lossy()).unwrap_or_default());
    let spec = ChildSpec::new(&name, &call.program)
        .args(&call.arguments)
        .cwd(&call.directory)
        .environment(Environment::Exactly(call.environment))
        .streams(Streams::Apart);
    let mut child = spawn(&keeper, spec).await.map_err(|error| not_started(&error))?;
    let end = tokio::select! {
        end = tokio::time::timeout(call.limit, follow(&mut child, call.input, call.most)) => {
            end.unwrap_or(Err(RepositoryError::TimedOut(name)))
        }
        // Nobody is there to read this.
        _ = unwanted => Err(RepositoryError::Failed("nobody wants it any more".to_owned())),
    };
    if child.try_exit().is_none() {
        child.stop(&StopPlan::new([(StopStep::Terminate, POLITELY)]), StopActions::none()).await;
    }
    child.gone().await;
    end
}

async fn follow(child: &mut Child, input: Vec<u8>, most: usize) -> Result<Said, RepositoryError> {
    let streams = child.take_all();
    let (mut stdin, stdout, stderr) =
        streams.ok_or_else(|| RepositoryError::NoGit("its streams are taken".to_owned()))?;
    let write = async move {
        // One that wants no more of it says why on its stderr.
        let _ = stdin.write_all(&input).await;
    };
    let mut complaint = Vec::new();
    let mut output = Vec::new();
    let mut is_cut = false;
    let read = async {
        let talk = read_up_to(stderr, MAX_COMPLAINT, &mut complaint, Beyond::Skip);
        let results = async { is_cut = read_up_to(stdout, most, &mut output, Beyond::Stop).await };
        tokio::join!(write, talk, results);
    };
    let exit = {
        let mut read = std::pin::pin!(read);
        tokio::select! {
            () = &mut read => child.exited().await,
            exit = child.exited() => {
                // Somebody beyond our reach may hold the pipe; what came so far counts then.
                let _ = tokio::time::timeout(LAST_WORDS, read).await;
                exit
            }
        }
    };
    // One that had more to say than anybody wants ended by that.
    let exit = if is_cut { Exit::Code(0) } else { exit };
    let complaint = String::from_utf8_lossy(&complaint).into_owned();
    Ok(Said { exit, output, is_cut, complaint })
}

/// What to do with more than is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Stop,
    Skip,
}

/// Reads to the end, or until more than `most` has come; says whether it has.
async fn read_up_to(
    mut stream: impl AsyncRead + Unpin,
    most: usize,
    kept: &mut Vec<u8>,
    beyond: Beyond,
) -> bool {
    let mut piece = vec![0; PIECE];
    let mut is_cut = false;
    loop {
        match stream.read(&mut piece).await {
            Ok(0) => return is_cut,
            Ok(length) => {
                let room = most - kept.len();
                kept.extend_from_slice(&piece[..length.min(room)]);
                is_cut |= length > room;
                if is_cut && beyond == Beyond::Stop {
                    return true;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "what git says cannot be read");
                return is_cut;
            }
        }
    }
}

fn not_started(error: &SpawnError) -> RepositoryError {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    RepositoryError::NoGit(format!("{error}{source}"))
}
