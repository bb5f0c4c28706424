//! A process that is watched: when it said something first, when it ended, how much memory it has.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

/// Milliseconds from before a process was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    /// To the first byte of its output.
    pub(crate) first: f64,
    /// To its end.
    pub(crate) end: f64,
}

/// A process whose output is read. Killed with this.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    output: ChildStdout,
    started: Instant,
}

impl Process {
    /// Starts it; its output must be a pipe.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let output = child.stdout.take().context("a pipe")?;
        Ok(Self { child, output, started })
    }

    /// Reads all it says.
    pub(crate) fn run_to_end(mut self) -> Result<Timed> {
        self.hear(1)?;
        let first = self.milliseconds();
        let mut piece = vec![0; 64 * 1024];
        while self.output.read(&mut piece)? > 0 {}
        let status = self.child.wait()?;
        let end = self.milliseconds();
        ensure!(status.success(), "ended with {status}: {}", self.complaint());
        Ok(Timed { first, end })
    }

    /// Waits until it has said at least so much.
    pub(crate) fn hear(&mut self, bytes: usize) -> Result<()> {
        let mut piece = vec![0; 64 * 1024];
        let mut heard = 0;
        while heard < bytes {
            match self.output.read(&mut piece) {
                Ok(0) => bail!("it said only {heard} bytes: {}", self.complaint()),
                Ok(read) => heard += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Resident memory in MiB.
    pub(crate) fn resident(&self) -> Result<f64> {
        resident(&place(&self.child))
    }

    fn milliseconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // What cannot be read cannot be told.
            let _ = stderr.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the system tells of a process.
pub(crate) fn place(child: &Child) -> PathBuf {
    Path::new("/proc").join(child.id().to_string())
}

/// CPU time of a process in seconds, all threads together.
pub(crate) fn cpu(process: &Path) -> Result<f64> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(process.join("task"))? {
        // A thread may end while we look.
        let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds += text.split_ascii_whitespace().next().context("a number")?.parse::<u64>()?;
    }
    Ok(nanoseconds as f64 / 1e9)
}

/// Resident memory of a process in MiB, page by page.
pub(crate) fn resident(process: &Path) -> Result<f64> {
    let rollup = std::fs::read_to_string(process.join("smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:")).context("its memory")?;
    let kib: f64 = line.split_ascii_whitespace().next().context("a number")?.parse()?;
    Ok(kib / 1024.0)
}
