//! A process that is talked to in lines, as an editor does.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;
use crate::process;

/// The first thing every client library asks.
const GET_STATE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"autohand.getState","params":{}}"#;

/// A process that is talked to. Killed with this.
#[derive(Debug)]
pub(super) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    started: Instant,
}

impl Talk {
    /// Ours, in somebody's home.
    pub(super) fn rpc(home: &Home) -> Result<Self> {
        Self::start(home.command(&["rpc", "--path", "."])?)
    }

    /// The floor.
    pub(super) fn echo() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "itself, as another process")]
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo").stdout(Stdio::piped()).stderr(Stdio::null());
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        // What is said there is for people; nobody reads it here, and a full pipe would stop the process.
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let input = child.stdin.take();
        let output = BufReader::with_capacity(64 * 1024, child.stdout.take().context("a pipe")?);
        Ok(Self { child, input, output, started })
    }

    /// Asks how it is. Gives the milliseconds from before the process was made to the answer.
    pub(super) fn first_answer(&mut self) -> Result<f64> {
        self.say(GET_STATE)?;
        self.until(|line| line.contains("\"id\":1"))?;
        Ok(self.started.elapsed().as_secs_f64() * 1000.0)
    }

    /// Says a line.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("its input is open")?;
        input.write_all(format!("{line}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    /// Hears up to a line, and gives all.
    pub(super) fn until(&mut self, is_it: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("it ended after {lines:?}");
            }
            line.truncate(line.trim_end().len());
            let last = is_it(&line);
            lines.push(line);
            if last {
                return Ok(lines);
            }
        }
    }

    /// Says lines to one who says them again, and hears them all. Gives the seconds that took.
    pub(super) fn replay(&mut self, lines: &[String]) -> Result<f64> {
        let began = Instant::now();
        let mut input = self.input.take().context("its input is open")?;
        let output = &mut self.output;
        // Both at once: a pipe holds less than there may be to say.
        let input = std::thread::scope(|scope| -> Result<ChildStdin> {
            let saying = scope.spawn(move || -> Result<ChildStdin> {
                for line in lines {
                    input.write_all(format!("{line}\n").as_bytes())?;
                }
                Ok(input)
            });
            let mut line = String::new();
            for _ in lines {
                line.clear();
                ensure!(output.read_line(&mut line)? > 0, "the echo has ended");
            }
            saying.join().map_err(|_| anyhow::anyhow!("the thread that spoke is gone"))?
        })?;
        self.input = Some(input);
        Ok(began.elapsed().as_secs_f64())
    }

    /// CPU time in seconds.
    pub(super) fn cpu(&self) -> Result<f64> {
        process::cpu(&process::place(&self.child))
    }

    /// Resident memory in MiB.
    pub(super) fn resident(&self) -> Result<f64> {
        process::resident(&process::place(&self.child))
    }

    /// Asks it to end by a signal; gives the milliseconds until it has.
    pub(super) fn terminate(self) -> Result<f64> {
        let pid = Pid::from_raw(self.child.id().cast_signed()).context("a process id")?;
        self.ended(|_| Ok(kill_process(pid, Signal::TERM)?))
    }

    /// Says nothing more; gives the milliseconds until it has ended.
    pub(super) fn end_input(self) -> Result<f64> {
        self.ended(|talk| {
            talk.input = None;
            Ok(())
        })
    }

    fn ended(mut self, ask: impl FnOnce(&mut Self) -> Result<()>) -> Result<f64> {
        let began = Instant::now();
        ask(&mut self)?;
        // Its last words, which nobody else reads.
        std::io::copy(&mut self.output, &mut std::io::sink())?;
        self.child.wait()?;
        Ok(began.elapsed().as_secs_f64() * 1000.0)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
