//! The same child at the end of two pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Child;

/// A child at the end of two pipes. Killed with this.
pub(super) struct Raw {
    child: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Raw {
    pub(super) fn start(child: Child) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["plugin-child", child.name()]);
        Self::of(command)
    }

    pub(super) fn python(directory: &Path) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the floor has no keeper")]
        let mut command = Command::new("python3");
        command.arg("plugin.py").current_dir(directory);
        Self::of(command)
    }

    fn of(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let input = child.stdin.take().context("a pipe")?;
        let output = BufReader::with_capacity(64 * 1024, child.stdout.take().context("a pipe")?);
        Ok(Self { child, input, output })
    }

    /// Says a line and hears one.
    pub(super) fn call(&mut self, line: &str) -> Result<String> {
        self.input.write_all(format!("{line}\n").as_bytes())?;
        self.hear()
    }

    /// Says a line, and gives how many events come before its answer and the end that is told before that.
    pub(super) fn until_answer(&mut self, line: &str) -> Result<usize> {
        let mut heard = 0;
        let mut said = self.call(line)?;
        while said.contains(r#""method":"stream""#) {
            heard += 1;
            said = self.hear()?;
        }
        Ok(heard - 1)
    }

    fn hear(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "it has ended");
        Ok(line)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
