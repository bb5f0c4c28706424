//! The same child at the end of two pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};

/// A child at the end of two pipes. Killed with this.
pub(super) struct Raw {
    child: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Raw {
    pub(super) fn start() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("extension-child").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let input = child.stdin.take().context("a pipe")?;
        let output = BufReader::with_capacity(64 * 1024, child.stdout.take().context("a pipe")?);
        Ok(Self { child, input, output })
    }

    /// Writes a frame.
    pub(super) fn say(&mut self, body: &str) -> Result<()> {
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        Ok(self.input.write_all(frame.as_bytes())?)
    }

    /// Reads one.
    pub(super) fn hear(&mut self) -> Result<String> {
        let mut header = String::new();
        self.output.read_line(&mut header)?;
        let length: usize = header.trim().strip_prefix("Content-Length: ").context("a header")?.parse()?;
        let mut body = vec![0; length + 2];
        self.output.read_exact(&mut body)?;
        Ok(String::from_utf8(body)?)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
