//! A server as a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::engine::world::scratch;
use crate::process;

/// Who serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Our library.
    Ours,
    /// The floor.
    Bare,
}

/// A server. Killed with this.
#[derive(Debug)]
pub(super) struct Contender {
    child: Child,
    orders: ChildStdin,
    socket: PathBuf,
    _directory: TempDir,
}

impl Contender {
    /// Starts one and waits until it listens.
    pub(super) fn start(kind: Kind) -> Result<Self> {
        let directory = scratch()?;
        let socket = directory.path().join("console.sock");
        #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("console-serve").arg(&socket);
        if kind == Kind::Bare {
            command.arg("--bare");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take().context("a pipe")?;
        let mut ready = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut ready)?;
        ensure!(ready == "ready\n", "the server does not start");
        Ok(Self { child, orders, socket, _directory: directory })
    }

    /// Where it listens.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Has it log so many lines.
    pub(super) fn log(&mut self, lines: usize) -> Result<()> {
        Ok(writeln!(self.orders, "{lines}")?)
    }

    /// CPU time in seconds.
    pub(super) fn cpu(&self) -> Result<f64> {
        process::cpu(&process::place(&self.child))
    }

    /// Resident memory in MiB.
    pub(super) fn resident(&self) -> Result<f64> {
        process::resident(&process::place(&self.child))
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does what is told on standard input until it ends.
#[expect(clippy::print_stdout, reason = "whoever started us waits for it")]
pub(super) fn obey(mut log: impl FnMut(usize)) -> Result<()> {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        log(line?.parse()?);
    }
    Ok(())
}
