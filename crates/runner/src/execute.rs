//! One command from its preparation to the removal of its traces.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loggia_domain::{
    CapturedOutput, CommandEnd, CommandExit, CommandSpec, OutputSink, OutputStream, RunError,
};
use loggia_wire::child::{Child, ChildSpec, Environment, Exit, Road, SpawnError, spawn};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;

use crate::Parts;
use crate::capture::Capture;
use crate::decode::Decoder;
use crate::place::Place;
use crate::scratch::{self, Scratch};
use crate::standin::StandIn;
use crate::{environment, sandbox};

/// Every system has it there; which shell it is, is the system's choice, as for any script that begins with it.
const SHELL: &str = "/bin/sh";

/// As much as a pipe holds as a rule.
const PIECE: usize = 64 * 1024;

/// A killed process ends as soon as the system gets to it; the keeper tries for as long.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// When a command has ended, everybody who could still write is killed, and the last bytes are in the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Everything a command needs, made before it starts.
struct Prepared {
    place: Place,
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    sealed: Vec<PathBuf>,
    /// Removed last, when nobody uses them any more.
    traces: Traces,
}

/// What a command leaves, to be removed after it.
struct Traces {
    scratch: Scratch,
    stand_ins: Vec<StandIn>,
}

/// Runs a command. If `unwanted` says so or is dropped, the command is killed.
pub(crate) async fn run(
    parts: Arc<Parts>,
    command: CommandSpec,
    output: OutputSink,
    unwanted: oneshot::Receiver<()>,
) -> Result<CommandEnd, RunError> {
    sweep_once(&parts).await?;
    // Some dozen looks at a few directories: less than handing it to another thread and back.
    let Prepared { place, environment, sealed, traces } = prepare(&parts, &command)?;

    let began = Instant::now();
    let confinement = sandbox::confinement(
        &command.confinement,
        &place.root,
        traces.scratch.path(),
        sealed,
        &parts.settings.roads,
    );
    let spec = ChildSpec::new("command", SHELL)
        .args(["-c", &command.line])
        .cwd(&place.directory)
        .environment(Environment::Exactly(environment))
        .output_only()
        .limits(parts.settings.limits)
        .confinement(confinement);
    let end = match spawn(&parts.keeper, spec).await {
        Ok(mut child) => {
            let end = tokio::select! {
                end = follow(&mut child, &command, &output, began) => end,
                // Nobody is there to read this.
                _ = unwanted => Err(RunError::Lost("nobody wants it any more".to_owned())),
            };
            if child.try_exit().is_none() {
                child.kill().await;
            }
            if tokio::time::timeout(AFTER_KILL, child.gone()).await.is_err() {
                tracing::warn!(pid = child.pid(), "a command is still there after being killed");
            }
            end
        }
        Err(error) => Err(not_started(error)),
    };
    let Traces { scratch, stand_ins } = traces;
    // Others would see these; the temporary directory was the command's alone, and nobody needs to wait for its end.
    drop(stand_ins);
    tokio::task::spawn_blocking(move || drop(scratch));
    end
}

/// Removes what a former life of ours left, before the first command. That may be a lot.
async fn sweep_once(parts: &Arc<Parts>) -> Result<(), RunError> {
    if parts.swept.is_completed() {
        return Ok(());
    }
    let parts = parts.clone();
    let sweep = move || parts.swept.call_once(|| scratch::sweep(&parts.settings.temporary));
    tokio::task::spawn_blocking(sweep).await.map_err(|error| RunError::NotStarted(error.to_string()))
}

fn prepare(parts: &Parts, command: &CommandSpec) -> Result<Prepared, RunError> {
    let place = Place::find(&command.root, &command.directory)?;
    let scratch = Scratch::make(&parts.settings.temporary)
        .map_err(|error| RunError::NotStarted(format!("no temporary directory: {error}")))?;
    let environment = environment::of_command(
        &parts.settings.environment,
        &command.confinement.inherited,
        &command.environment,
        &scratch.home(),
        scratch.path(),
    )?;
    let mut traces = Traces { scratch, stand_ins: Vec::new() };
    let mut sealed = Vec::new();
    // Without a root of its own nothing can be sealed, and a stand-in would only be one more thing to write.
    let can_seal = parts.settings.roads.iter().any(|road| *road != Road::Landlock);
    for path in &command.confinement.read_only {
        // Either the root as the caller names it or its real path may be in front.
        let inside = path.strip_prefix(&command.root).or_else(|_| path.strip_prefix(&place.root));
        let path = place.root.join(inside.unwrap_or(path));
        // Where no stand-in can be made, the keeper finds the path missing and tells.
        match can_seal.then(|| parts.stand_ins.guard(&path)) {
            Some(Ok((guarded, stand_in))) => {
                sealed.push(guarded);
                traces.stand_ins.extend(stand_in);
            }
            Some(Err(_)) | None => sealed.push(path),
        }
    }
    Ok(Prepared { place, environment, sealed, traces })
}

/// Hands on what the command writes until it ends or its time is over.
async fn follow(
    child: &mut Child,
    command: &CommandSpec,
    output: &OutputSink,
    began: Instant,
) -> Result<CommandEnd, RunError> {
    let held = child.held();
    if !held.missing.is_empty() {
        tracing::info!(missing = held.missing.join(", "), "a command is not fully confined");
    }
    let sandbox = sandbox::level(held.level);
    let (stdout, stderr) =
        child.take_output().ok_or_else(|| RunError::Lost("its output was taken".to_owned()))?;
    let mut captures = [Capture::new(command.output_bytes), Capture::new(command.output_bytes)];
    let [kept_stdout, kept_stderr] = &mut captures;
    let exit = {
        let mut reading = pin!(async {
            tokio::join!(
                read(stdout, kept_stdout, |text| output(OutputStream::Stdout, text)),
                read(stderr, kept_stderr, |text| output(OutputStream::Stderr, text)),
            )
        });
        let mut read = false;
        let left = command.time_limit.saturating_sub(began.elapsed());
        let exit = match tokio::time::timeout(left, exit_of(child, reading.as_mut(), &mut read)).await {
            Ok(exit) => command_exit(exit)?,
            Err(_) => {
                child.kill().await;
                // However that goes, the command's time was over.
                let _ = tokio::time::timeout(AFTER_KILL, exit_of(child, reading.as_mut(), &mut read)).await;
                CommandExit::TimedOut
            }
        };
        if !read {
            // Somebody beyond our reach may hold the pipe; what came so far is told then.
            let _ = tokio::time::timeout(LAST_WORDS, reading).await;
        }
        exit
    };
    let [stdout, stderr]: [CapturedOutput; 2] = captures.map(Capture::finish);
    Ok(CommandEnd { exit, stdout, stderr, sandbox, took: began.elapsed() })
}

/// Waits for the end, and reads meanwhile.
async fn exit_of(child: &mut Child, mut reading: impl Future + Unpin, read: &mut bool) -> Exit {
    let mut exited = pin!(child.exited());
    loop {
        tokio::select! {
            exit = &mut exited => return exit,
            _ = &mut reading, if !*read => *read = true,
        }
    }
}

fn command_exit(exit: Exit) -> Result<CommandExit, RunError> {
    match exit {
        Exit::Code(code) => Ok(CommandExit::Code(code)),
        Exit::Signal(signal) => Ok(CommandExit::Signal(signal)),
        Exit::Lost => Err(RunError::Lost("its keeper has gone".to_owned())),
    }
}

/// Reads a stream to its end.
async fn read(mut stream: impl AsyncRead + Unpin, kept: &mut Capture, tell: impl Fn(&str)) {
    let mut decoder = Decoder::default();
    let mut piece = vec![0; PIECE];
    let mut take = |text: &str| {
        tell(text);
        kept.push(text);
    };
    loop {
        match stream.read(&mut piece).await {
            Ok(0) => break,
            Ok(length) => decoder.feed(&piece[..length], &mut take),
            Err(error) => {
                tracing::warn!(%error, "a command's output cannot be read");
                break;
            }
        }
    }
    decoder.finish(&mut take);
}

fn not_started(error: SpawnError) -> RunError {
    match error {
        SpawnError::Unconfined { reason, .. } => RunError::NoSandbox(reason),
        SpawnError::Keeper { ref source, .. } => RunError::NotStarted(format!("{error}: {source}")),
        SpawnError::Program { .. } | SpawnError::Silent { .. } => RunError::NotStarted(error.to_string()),
    }
}
