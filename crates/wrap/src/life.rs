//! One life of the program, from its start to its last byte.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use loggia_endermux_io::Console;
use loggia_endermux_io::terminal::harmless;
use loggia_wire::child::{
    Child, ChildSpec, Environment, Exit, SpawnError, StopActions, StopPlan, StopStep, Streams, spawn,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep_until, timeout};

use crate::chunk::Chunk;
use crate::copies::{Copies, Copy};
use crate::cut::Cutter;
use crate::desk::{Desk, Input, Source};
use crate::level::Level;
use crate::options::Options;
use crate::signals::{Asked, Signals};

/// How much is read at once.
/// Not more: what clients ask waits meanwhile.
const READ: usize = 16 * 1024;

/// A line that does not go on for so long is a prompt, and shown.
const QUIET: Duration = Duration::from_millis(100);

/// All who could write are killed when the program ends, so the last byte comes at once; unless somebody beyond our
/// reach holds the pipe. The time that our own readers take does not count.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What ends input on a terminal.
const END_OF_INPUT: &[u8] = b"\x04";

/// How soon it is said again: a program that changes how its terminal works forgets what it was told before.
const END_AGAIN: Duration = Duration::from_millis(500);

/// What every life has in common.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) options: Options,
    pub(crate) console: Console,
    pub(crate) desk: std::sync::Arc<Desk>,
    pub(crate) copies: Copies,
}

/// How a life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    /// Whether it was asked for.
    pub(crate) asked: bool,
    /// Whether somebody asked again: nobody is waited for any more.
    pub(crate) hurried: bool,
}

/// Starts the program.
pub(crate) async fn start(options: &Options) -> Result<Child, SpawnError> {
    let name = options.program.to_string_lossy().into_owned();
    let mut spec = ChildSpec::new(name, &options.program).args(&options.args);
    spec = match options.terminal {
        None => spec.streams(Streams::Apart),
        Some(size) => {
            // Whoever is attached has a terminal of another kind, and only colours get there.
            let kind = Environment::Inherit(vec![("TERM".into(), "dumb".into())]);
            spec.streams(Streams::Terminal(size)).environment(kind)
        }
    };
    spawn(&options.keeper, spec).await
}

impl Room {
    /// Tells everybody something about the program, and whoever started us.
    pub(crate) fn tell(&self, level: Level, text: &str) {
        self.console.broadcast(Chunk::own(level, &format!("wrap: {text}")));
        if self.options.copies || level == Level::Error {
            self.copies.stderr.line(&format!("wrap: {text}"));
        }
    }

    /// Lives with the program until its end.
    pub(crate) async fn live(
        &self,
        child: &mut Child,
        input: &mut mpsc::Receiver<Input>,
        signals: &mut Signals,
    ) -> End {
        let mut outputs = JoinSet::new();
        let (ending, ended) = watch::channel(false);
        let mut sink = self.connect(child, &mut outputs, &ended);
        self.console.set_interactive(true);
        let asked = {
            let mut feeding = pin!(self.feed(&mut sink, input));
            tokio::select! {
                _ = child.exited() => None,
                never = &mut feeding => match never {},
                asked = signals.next() => Some(asked),
            }
        };
        // Whoever stops cannot be commanded any more; the rest of the output is still heard.
        self.console.set_interactive(false);
        let mut hurried = match asked {
            Some(asked) => self.stop(child, sink.take(), asked, input, signals).await,
            None => false,
        };
        let exit = child.exited().await;
        ending.send_replace(true);
        let heard = async { while outputs.join_next().await.is_some() {} };
        if hurried {
            // Who reads what we copy has this long, and no longer.
            let _ = timeout(LAST_WORDS, heard).await;
        } else {
            tokio::select! {
                () = heard => {}
                _ = signals.next() => hurried = true,
            }
        }
        End { exit, asked: asked.is_some() || hurried, hurried }
    }

    /// Begins to hear what it says; gives where to write what it shall hear.
    fn connect(
        &self,
        child: &mut Child,
        outputs: &mut JoinSet<()>,
        ended: &watch::Receiver<bool>,
    ) -> Option<Sender> {
        let copy = |copy: &Copy| self.options.copies.then(|| copy.clone());
        let mut listen = |stream, level, to| {
            let ear = Ear { console: self.console.clone(), desk: self.desk.clone(), level, copy: copy(to) };
            outputs.spawn(ear.listen(stream, ended.clone()));
        };
        let (stdout, stdin) = if self.options.terminal.is_some() {
            child.take_streams()?
        } else {
            let (stdin, stdout, stderr) = child.take_all()?;
            listen(stderr, self.options.stderr_level, &self.copies.stderr);
            (stdout, stdin)
        };
        listen(stdout, Level::Info, &self.copies.stdout);
        Some(stdin)
    }

    /// Gives it line after line; while it does not read, they wait.
    async fn feed(&self, sink: &mut Option<Sender>, input: &mut mpsc::Receiver<Input>) -> Infallible {
        let mut ended = false;
        loop {
            let next = if ended { timeout(END_AGAIN, input.recv()).await } else { Ok(input.recv().await) };
            let written = match (next.unwrap_or(Some(Input::End)), sink.as_mut()) {
                (None, _) => std::future::pending().await,
                (Some(Input::Line(source, line)), Some(sink)) => {
                    self.announce(source, &line);
                    sink.write_all(&line).await
                }
                (Some(Input::More(bytes)), Some(sink)) => sink.write_all(&bytes).await,
                // Its beginning was not sent, and that was told.
                (Some(Input::More(_)), None) => continue,
                (Some(Input::Line(..)), None) => {
                    self.tell(Level::Warn, "the program has no input any more; the line was not sent");
                    continue;
                }
                (Some(Input::End), Some(open))
                    if self.options.stdin_eof && self.options.terminal.is_some() =>
                {
                    ended = true;
                    open.write_all(END_OF_INPUT).await
                }
                (Some(Input::End), _) => {
                    if self.options.stdin_eof {
                        *sink = None;
                    }
                    Ok(())
                }
            };
            if let Err(error) = written {
                tracing::debug!(%error, "the program has closed its input");
                (*sink, ended) = (None, false);
            }
        }
    }

    /// Takes what is typed while the program does not; says once that it goes nowhere.
    pub(crate) async fn refuse(&self, input: &mut mpsc::Receiver<Input>, why: &str) -> Infallible {
        let mut is_told = false;
        while let Some(next) = input.recv().await {
            if matches!(next, Input::Line(..)) && !std::mem::replace(&mut is_told, true) {
                self.tell(Level::Warn, &format!("{why}; lines that come now are not sent"));
            }
        }
        std::future::pending().await
    }

    /// Logs who sent a line, and remembers it if it is whole.
    fn announce(&self, source: Source, line: &[u8]) {
        let is_whole = line.ends_with(b"\n");
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let shown = harmless(line);
        let text = match source {
            Source::Client(id) => format!("[client {id}] > {shown}"),
            Source::Keyboard => format!("[terminal] > {shown}"),
        };
        self.console.broadcast(Chunk::own(Level::Info, &text));
        // Who typed it sees it there already.
        if self.options.copies && source != Source::Keyboard {
            self.copies.stderr.line(&text);
        }
        if !is_whole {
            return;
        }
        let remembered = self.desk.vocabulary().remember(line);
        if let Err(error) = remembered {
            self.tell(Level::Warn, &format!("the history cannot be written any more: {error}"));
        }
    }

    /// Asks it to end, and then less politely; a second signal kills it. Whether there was one.
    async fn stop(
        &self,
        child: &mut Child,
        sink: Option<Sender>,
        asked: Asked,
        input: &mut mpsc::Receiver<Input>,
        signals: &mut Signals,
    ) -> bool {
        // A program without input cannot be told.
        let mut command = self.options.stop_command.as_ref().zip(sink);
        let limit = self.options.stop_timeout;
        let mut steps = Vec::new();
        match (&command, asked) {
            (Some(_), _) => steps.extend([(StopStep::Ask, limit), (StopStep::Wait, limit)]),
            (None, Asked::Interrupt) => steps.push((StopStep::Interrupt, limit)),
            (None, Asked::Terminate) => {}
        }
        steps.push((StopStep::Terminate, limit));
        self.tell(Level::Info, &announced(command.as_ref().map(|(line, _)| line.as_str()), asked, limit));
        let ask = async {
            // It stays open until the program has ended: for some, the end of their input is another thing.
            let Some((command, sink)) = command.as_mut() else { return };
            if sink.write_all(format!("{command}\n").as_bytes()).await.is_err() {
                tracing::debug!("the program has closed its input");
            }
        };
        let actions = StopActions { ask: Box::pin(ask), close_input: Box::new(|| {}) };
        let plan = StopPlan::new(steps);
        let again = tokio::select! {
            _ = child.stop(&plan, actions) => false,
            _ = signals.next() => true,
            never = self.refuse(input, "the program is being stopped") => match never {},
        };
        if again {
            child.kill().await;
        }
        again
    }
}

/// How the program will be stopped: by which steps, and when each is taken.
fn announced(command: Option<&str>, asked: Asked, limit: Duration) -> String {
    let first = match (command, asked) {
        (Some(command), _) => Some(format!("`{}`", harmless(command))),
        (None, Asked::Interrupt) => Some("SIGINT".to_owned()),
        (None, Asked::Terminate) => None,
    };
    let steps = first.into_iter().chain(["SIGTERM".to_owned(), "SIGKILL".to_owned()]);
    let steps = (0..).zip(steps).map(|(number, step)| match number {
        0 => format!("{step} now"),
        _ => format!("{step} in {} s", (limit * number).as_secs_f64()),
    });
    format!("stopping the program: {}; a second signal kills it", steps.collect::<Vec<_>>().join(", "))
}

/// Who hears one stream of output.
struct Ear {
    console: Console,
    desk: std::sync::Arc<Desk>,
    level: Level,
    copy: Option<Copy>,
}

impl Ear {
    async fn listen(self, mut stream: Receiver, mut ended: watch::Receiver<bool>) {
        let mut cutter = Cutter::default();
        let mut buffer = vec![0; READ];
        let mut latest = None;
        loop {
            let holds_some = cutter.holds_some();
            let read = async {
                let read = stream.read(&mut buffer);
                if holds_some { timeout(QUIET, read).await } else { Ok(read.await) }
            };
            let read = tokio::select! {
                // What is there is heard, however late.
                biased;
                read = read => read,
                () = silence(&mut ended, &mut latest) => {
                    tracing::debug!("somebody still holds the output of the program");
                    break;
                }
            };
            let began = Instant::now();
            match read {
                Err(_) => self.log(cutter.pause().into_iter().collect()),
                Ok(Ok(length @ 1..)) => {
                    if let Some(copy) = &self.copy {
                        copy.write(&buffer[..length]).await;
                    }
                    self.log(cutter.push(&buffer[..length]));
                    // A program that says much would let nobody else do anything.
                    yield_now().await;
                }
                // A terminal that nobody has any more cannot be read.
                Ok(Ok(0) | Err(_)) => break,
            }
            latest = latest.map(|latest| latest + began.elapsed());
        }
        self.log(cutter.finish().into_iter().collect());
    }

    fn log(&self, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        let chunk = Chunk::of_program(lines, self.level);
        // Nobody may wait for it.
        let _ = self.desk.said.send(chunk.clone());
        self.console.broadcast(chunk);
    }
}

/// Waits until the program has ended and nothing more was to be heard for long enough.
///
/// # Cancel safety
/// May be dropped and called again: the time goes on.
async fn silence(ended: &mut watch::Receiver<bool>, latest: &mut Option<Instant>) {
    let latest = match latest {
        Some(latest) => *latest,
        None => {
            // Its sender lives until we end.
            let _ = ended.wait_for(|ended| *ended).await;
            *latest.insert(Instant::now() + LAST_WORDS)
        }
    };
    sleep_until(latest).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_will_be_stopped_is_told_step_by_step() {
        let told = |command, asked| announced(command, asked, Duration::from_secs(10));
        assert_eq!(
            told(None, Asked::Interrupt),
            "stopping the program: SIGINT now, SIGTERM in 10 s, SIGKILL in 20 s; a second signal kills it"
        );
        assert_eq!(
            told(None, Asked::Terminate),
            "stopping the program: SIGTERM now, SIGKILL in 10 s; a second signal kills it"
        );
        assert_eq!(
            told(Some("stop"), Asked::Interrupt),
            "stopping the program: `stop` now, SIGTERM in 10 s, SIGKILL in 20 s; a second signal kills it"
        );
    }
}
