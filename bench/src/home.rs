//! The home of somebody who asks: directories, a project, a script for the model, and the daemon that asking starts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::engine::world::scratch;
use crate::process::{self, Process, Timed};

/// A home. Its daemon ends with it.
#[derive(Debug)]
pub(crate) struct Home(TempDir);

impl Home {
    /// One whose model plays this.
    pub(crate) fn new(script: &str) -> Result<Self> {
        let home = scratch()?;
        std::fs::create_dir_all(home.path().join("work/.git"))?;
        std::fs::write(home.path().join("work/.git/HEAD"), "ref: refs/heads/main\n")?;
        let path = home.path().join("script.toml");
        std::fs::write(&path, script)?;
        std::fs::create_dir(home.path().join("config"))?;
        let model = format!("[model]\ndefault = \"scripted:{}\"\n", path.display());
        std::fs::write(home.path().join("config/config.toml"), model)?;
        Ok(Self(home))
    }

    /// Asks something.
    pub(crate) fn ask(&self) -> Result<Timed> {
        self.run(&["ask", "say something"])
    }

    /// Runs our program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Timed> {
        Process::start(self.command(arguments)?)?.run_to_end()
    }

    /// The memory in MiB of one who asked, has heard so much and hears nothing more.
    pub(crate) fn resident_while_waiting(&self, bytes: usize) -> Result<f64> {
        let mut process = Process::start(self.command(&["ask", "say something"])?)?;
        process.hear(bytes)?;
        process.resident()
    }

    /// The daemon that runs.
    pub(crate) fn daemon(&self) -> Result<Daemon> {
        let output = self.command(&["status", "--json"])?.output()?;
        let status: Value = serde_json::from_slice(&output.stdout)?;
        Ok(Daemon(status["pid"].as_u64().context("a daemon that runs")?))
    }

    /// Stops the daemon, and waits until it is gone.
    pub(crate) fn stop(&self) -> Result<()> {
        let output = self.command(&["stop"])?.output()?;
        ensure!(output.status.success(), "`loggia stop`: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Our program, not started yet. It reads nothing, and its output is a pipe.
    #[expect(clippy::disallowed_methods, reason = "the program, as people start it")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Command> {
        let program = std::env::current_exe()?.with_file_name("loggia");
        ensure!(program.exists(), "there is no {}; build it with the same profile", program.display());
        let at = |name: &str| self.0.path().join(name);
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(at("work"))
            .env("LOGGIA_DATA_DIR", at("data"))
            .env("LOGGIA_CONFIG_DIR", at("config"))
            .env("LOGGIA_RUNTIME_DIR", at("runtime"))
            .env_remove("LOGGIA_MODEL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A home that never had a daemon, or has none any more, is told so; there is nothing else to do.
        let _ = self.stop();
    }
}

/// A daemon, by its process.
#[derive(Debug)]
pub(crate) struct Daemon(u64);

impl Daemon {
    /// CPU time in seconds, all threads together.
    pub(crate) fn cpu(&self) -> Result<f64> {
        process::cpu(&self.place())
    }

    fn place(&self) -> PathBuf {
        Path::new("/proc").join(self.0.to_string())
    }

    /// Resident memory in MiB.
    pub(crate) fn resident(&self) -> Result<f64> {
        process::resident(&self.place())
    }
}
