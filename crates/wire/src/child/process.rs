//! A running program.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use signal_hook::low_level::signal_name;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::confine::Held;
use super::control::{INTERRUPT, KILL, Report, TERMINATE};
use super::spawn::read_report;
use super::stderr::StderrTail;
use super::sweep::ProcessMark;

/// Everybody who could write to a program's stderr is killed when it ends, so its last line comes at once.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A program that ends sooner is only slowed down by what is made ready beside it, and that is made at its end as well.
const AT_ONCE: Duration = Duration::from_millis(5);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Its keeper vanished before it could tell; the group was killed.
    Lost,
}

impl Exit {
    /// Whether the program ended by itself with status 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Self::Lost => f.write_str("unknown end"),
        }
    }
}

/// How a program ended and what it said last: what an error message should tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Who it was.
    pub name: String,
    /// How it ended.
    pub exit: Exit,
    /// The last lines of its stderr, oldest first.
    pub stderr: Vec<String>,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ended with {}", self.name, self.exit)?;
        // As much as fits under an error message.
        let shown = &self.stderr[self.stderr.len().saturating_sub(5)..];
        shown.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl std::error::Error for Ended {}

/// A running program. Dropping it kills the program and all its descendants.
#[derive(Debug)]
pub struct Child {
    pub(super) name: String,
    pub(super) pid: i32,
    pub(super) held: Held,
    pub(super) stdin: Option<Sender>,
    pub(super) stdout: Option<Receiver>,
    /// Only if nobody drains it.
    pub(super) stderr: Option<Receiver>,
    pub(super) tail: StderrTail,
    /// Closing this is the keeper's order to kill.
    pub(super) orders: OwnedWriteHalf,
    pub(super) exit: watch::Receiver<Option<Exit>>,
    pub(super) drained: Option<JoinHandle<()>>,
}

impl Child {
    /// Who this is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program's process id, which is its group's as well. A program with process numbers of its own has one
    /// that means nothing to us; this is then that of its keeper, which takes it along.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// What to write down to find the program again after a crash of ours.
    pub fn mark(&self) -> Option<ProcessMark> {
        ProcessMark::of(self.pid)
    }

    /// The program's stdin and stdout, once: what a connection is made of.
    pub fn take_streams(&mut self) -> Option<(Receiver, Sender)> {
        self.stdout.take().zip(self.stdin.take())
    }

    /// What holds it in.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// The program's stdout and stderr, once, if it was started for its [output](super::Streams::Output).
    pub fn take_output(&mut self) -> Option<(Receiver, Receiver)> {
        self.stderr.as_ref()?;
        self.stdout.take().zip(self.stderr.take())
    }

    /// The program's stdin, stdout and stderr, once, if it was started with them [apart](super::Streams::Apart).
    pub fn take_all(&mut self) -> Option<(Sender, Receiver, Receiver)> {
        if self.stdin.is_none() || self.stderr.is_none() {
            return None;
        }
        let (stdin, stdout) = self.stdin.take().zip(self.stdout.take())?;
        Some((stdin, stdout, self.stderr.take()?))
    }

    /// Closes the program's stdin if no connection has taken it.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// The last lines of its stderr.
    pub fn stderr(&self) -> &StderrTail {
        &self.tail
    }

    /// How it ended, if it has.
    pub fn try_exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for the end.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn exited(&mut self) -> Exit {
        match self.exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Lost),
            // The watching task is gone only with the runtime.
            Err(_) => Exit::Lost,
        }
    }

    /// Waits until nothing is left of the program and all its descendants.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn gone(&mut self) {
        // The watching task lets go of its end when the keeper has told so, or has gone itself.
        while self.exit.changed().await.is_ok() {}
    }

    /// Waits for the end and for the last line of stderr, and tells both.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn ended(&mut self) -> Ended {
        let exit = self.exited().await;
        if let Some(drained) = &mut self.drained {
            // Somebody beyond our reach may still hold the pipe; what was said so far is told then.
            let _ = tokio::time::timeout(LAST_WORDS, drained).await;
            self.drained = None;
        }
        Ended { name: self.name.clone(), exit, stderr: self.tail.lines() }
    }

    /// Sends SIGINT to the program's group.
    pub async fn interrupt(&mut self) {
        self.order(INTERRUPT).await;
    }

    /// Sends SIGTERM to the program's group.
    pub async fn terminate(&mut self) {
        self.order(TERMINATE).await;
    }

    /// Sends SIGKILL to the program's group.
    pub async fn kill(&mut self) {
        self.order(KILL).await;
    }

    async fn order(&mut self, order: u8) {
        // A keeper that is gone has taken the program along.
        if let Err(error) = self.orders.write_all(&[order]).await {
            tracing::debug!(child = %self.name, %error, "the keeper is gone already");
        }
    }
}

/// Follows a program to its end and reaps its keeper. `next` makes ready what the next program needs: while this one
/// runs, unless it is over at once, and at its end, since it may run for longer than a keeper waits.
pub(super) fn watch(
    name: String,
    pid: i32,
    mut keeper: tokio::process::Child,
    mut reports: BufReader<OwnedReadHalf>,
    next: impl Fn() + Send + Sync + 'static,
) -> watch::Receiver<Option<Exit>> {
    let (ended, exit) = watch::channel(None);
    let mark = ProcessMark::of(pid);
    tokio::spawn(async move {
        let exit = match first_report(&mut reports, &next).await {
            Ok(Some(report)) => Exit::from(report),
            Ok(None) | Err(_) => {
                // Somebody killed the keeper: its work is ours, as far as we can see.
                tracing::warn!(child = %name, pid, "keeper lost; killing its program");
                mark.map(|mark| mark.kill_family());
                Exit::Lost
            }
        };
        ended.send_replace(Some(exit));
        tracing::debug!(child = %name, pid, %exit, "ended");
        let cleared = matches!(read_report(&mut reports).await, Ok(Some(Report::Cleared)));
        // What a keeper does afterwards is about itself alone, and its namespaces take their time to go. One that did
        // not say so may have left somebody behind until it has gone itself.
        let ended = Some(ended).filter(|_| !cleared);
        if let Err(error) = keeper.wait().await {
            tracing::warn!(child = %name, %error, "keeper cannot be reaped");
        }
        drop(ended);
        next();
    });
    exit
}

/// How the program ended.
async fn first_report(
    reports: &mut BufReader<OwnedReadHalf>,
    next: impl Fn(),
) -> std::io::Result<Option<Report>> {
    let mut report = pin!(read_report(reports));
    match tokio::time::timeout(AT_ONCE, &mut report).await {
        Ok(report) => report,
        Err(_) => {
            next();
            report.await
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use tokio::net::UnixStream;

    use super::*;

    /// Whatever is waited for comes at once; a busy machine gets much more.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "plays a keeper, and goes with the test")]
    async fn nobody_waits_for_a_keeper_that_has_told_all() {
        let mut keeper =
            tokio::process::Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // It stays for as long as we hold this.
        let held = keeper.stdin.take().unwrap();
        let pid = i32::try_from(keeper.id().unwrap()).unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (reports, _orders) = ours.into_split();
        let mut exit = watch("program".to_owned(), pid, keeper, BufReader::new(reports), || {});
        let told = format!("{}{}", Report::Exited(3).to_line(), Report::Cleared.to_line());
        theirs.write_all(told.as_bytes()).await.unwrap();
        let gone = async { while exit.changed().await.is_ok() {} };
        tokio::time::timeout(PATIENCE, gone).await.expect("it is gone while its keeper is there");
        assert_eq!(*exit.borrow(), Some(Exit::Code(3)));
        drop(held);
    }
}
