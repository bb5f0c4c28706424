//! What people use instead, as processes that are timed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What a process took, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// A program that is there.
pub(crate) fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Runs a program to its end, without its output.
pub(crate) fn run(command: &mut Command) -> Result<Took> {
    let before = cpu(UsageWho::RUSAGE_CHILDREN)?;
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    let wall = began.elapsed().as_secs_f64();
    // A search that finds nothing says so by its status.
    ensure!(status.code().is_some_and(|code| code <= 1), "{command:?} ended with {status}");
    Ok(Took { wall, cpu: cpu(UsageWho::RUSAGE_CHILDREN)? - before })
}

/// Runs a program and gives what it says.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "it is waited for, and the benchmark ends with it")]
pub(crate) fn command(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

/// `git` in a directory.
pub(crate) fn git(directory: &Path) -> Command {
    let mut git = command("git");
    git.arg("-C").arg(directory);
    git
}

/// Processor time that was used so far, in seconds.
pub(crate) fn cpu(who: UsageWho) -> Result<f64> {
    let usage = getrusage(who)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
