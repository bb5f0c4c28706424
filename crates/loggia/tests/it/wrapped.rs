//! A wrapped program on a stage, and terminals attached to it.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_endermux_io::client::Options;
use loggia_endermux_io::{Client, Event, Events};
use loggia_protocol_endermux::ColorLevel;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::stage::Stage;

/// Longer than anything here takes; only a failure waits for it.
const LIMIT: Duration = Duration::from_secs(60);

/// Waits for something that happens.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, what).await.expect("it does not happen")
}

/// A wrapped program that runs; killed when dropped.
pub(crate) struct Wrapped {
    process: Child,
    stdin: Option<ChildStdin>,
    pub(crate) socket: PathBuf,
    /// The program's process.
    pub(crate) pid: i32,
    stdout: Heard,
    stderr: Heard,
}

/// What was written so far, and who reads it.
struct Heard(Arc<Mutex<Vec<u8>>>, JoinHandle<()>);

/// How it ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A terminal.
pub(crate) struct Attached {
    pub(crate) client: Client,
    events: Events,
    /// What it was told and has not been looked at.
    heard: String,
    interactive: bool,
}

/// `loggia wrap` with these flags and this program, to be completed.
pub(crate) fn command(stage: &Stage, flags: &[&str], program: &[&str]) -> std::process::Command {
    let all: Vec<&str> = ["wrap"].iter().chain(flags).chain(&["--"]).chain(program).copied().collect();
    let mut command = stage.command(&all);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

impl Wrapped {
    /// Starts a program with these flags and waits until it runs.
    pub(crate) async fn start(stage: &Stage, flags: &[&str], program: &[&str]) -> Self {
        let flags: Vec<&str> = ["--json"].iter().chain(flags).copied().collect();
        Self::spawn(command(stage, &flags, program)).await
    }

    pub(crate) async fn spawn(command: std::process::Command) -> Self {
        let (mut wrapped, stdout) = Self::spawn_unread(command).await;
        wrapped.stdout = Heard::new(stdout);
        wrapped
    }

    /// Starts one whose stdout nobody reads yet.
    pub(crate) async fn spawn_unread(command: std::process::Command) -> (Self, ChildStdout) {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        soon(stderr.read_line(&mut line)).await.unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let stdout = process.stdout.take().unwrap();
        let wrapped = Self {
            stdin: process.stdin.take(),
            socket: ready["socket"].as_str().unwrap().into(),
            pid: ready["pid"].as_i64().unwrap().try_into().unwrap(),
            stdout: Heard::new(tokio::io::empty()),
            stderr: Heard::new(stderr),
            process,
        };
        (wrapped, stdout)
    }

    pub(crate) async fn attach(&self) -> Attached {
        self.attach_with(ColorLevel::None).await
    }

    pub(crate) async fn attach_with(&self, colours: ColorLevel) -> Attached {
        let attached = self.connect(colours).await;
        attached.client.subscribe().await.unwrap();
        attached
    }

    /// One that does not want the log.
    pub(crate) async fn connect(&self, colours: ColorLevel) -> Attached {
        let (client, events) = soon(Client::connect(&self.socket, &Options::new(colours))).await.unwrap();
        let mut attached = Attached { client, events, heard: String::new(), interactive: false };
        attached.becomes_interactive(true).await;
        attached
    }

    /// What somebody would type where it was started.
    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().unwrap()
    }

    /// Ends what somebody types.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The process of `loggia wrap` itself.
    pub(crate) fn wrap_pid(&self) -> u32 {
        self.process.id().unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.wrap_pid().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Whether it is still there after so long.
    pub(crate) async fn outlasts(&mut self, long: Duration) -> bool {
        tokio::time::timeout(long, self.process.wait()).await.is_err()
    }

    /// Waits for the end.
    pub(crate) async fn end(mut self) -> Ended {
        let status = soon(self.process.wait()).await.unwrap();
        let (stdout, stderr) = (soon(self.stdout.whole()).await, soon(self.stderr.whole()).await);
        Ended { code: status.code(), stdout, stderr }
    }
}

impl Heard {
    fn new(mut stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&text);
        let reading = tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                heard.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Self(text, reading)
    }

    async fn whole(self) -> String {
        self.1.await.unwrap();
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Attached {
    /// Waits until it was told this; gives what it was told before, and with it.
    pub(crate) async fn hears(&mut self, text: &str) -> String {
        let waiting = async {
            // What was looked through is not looked through again: a flood that is searched
            // from its beginning with each line makes a slow reader of the test.
            let mut from = 0;
            loop {
                if let Some(at) = self.heard[from..].find(text) {
                    let rest = self.heard.split_off(from + at + text.len());
                    return std::mem::replace(&mut self.heard, rest);
                }
                from = self.heard.floor_char_boundary(self.heard.len().saturating_sub(text.len()));
                if !self.takes_next().await {
                    return format!("the end, after: {}", self.heard);
                }
            }
        };
        let heard = soon(waiting).await;
        assert!(heard.ends_with(text), "no `{text}` before {heard}");
        heard
    }

    /// Waits until commands can be given, or not.
    pub(crate) async fn becomes_interactive(&mut self, wanted: bool) {
        while self.interactive != wanted {
            assert!(soon(self.takes_next()).await, "the connection ended");
        }
    }

    /// Waits for the end of the connection; gives all that was told before.
    pub(crate) async fn rest(mut self) -> String {
        while soon(self.takes_next()).await {}
        self.heard
    }

    /// The candidates of a line with the cursor at its end.
    pub(crate) async fn completes(&self, line: &str) -> String {
        let found = soon(self.client.complete(line, line.len())).await.unwrap();
        found.into_iter().map(|candidate| candidate.value).collect::<Vec<_>>().join(" ")
    }

    /// Takes the next event; whether there can be another one.
    async fn takes_next(&mut self) -> bool {
        match self.events.next().await {
            Some(Event::Log(text)) => self.heard.push_str(&text),
            Some(Event::Interactivity(now)) => self.interactive = now,
            Some(Event::Error(failure)) => self.heard.push_str(&format!("error: {}\n", failure.text())),
            Some(Event::Skipped { .. }) => {}
            Some(Event::Closed(_)) | None => return false,
        }
        true
    }
}
