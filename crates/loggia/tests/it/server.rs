//! A running server on a stage.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::stage::Stage;

/// A server in the foreground; killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// The line it said first.
    pub(crate) ready: Value,
}

impl Server {
    /// Starts one on a free port and waits until it is ready.
    pub(crate) fn start(stage: &Stage, arguments: &[&str]) -> Self {
        Self::start_with(stage, &[], arguments)
    }

    /// The same with these variables.
    pub(crate) fn start_with(stage: &Stage, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut all = vec!["serve", "--json"];
        if !arguments.contains(&"--addr") {
            all.extend(["--addr", "127.0.0.1:0"]);
        }
        all.extend(arguments);
        let mut command = stage.command(&all);
        // Most tests want to hear of trouble alone; flags and variables of a test are stronger.
        command.env("LOGGIA_LOG_LEVEL", "warn").envs(variables.iter().copied());
        Self::spawn(command)
    }

    /// Waits until a command that is a server is ready.
    pub(crate) fn spawn(mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("it is not ready: {error}\n{line}{said}")
        });
        Self { child, stdout, ready }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A field of the line it said first.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {}", self.ready))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.field("url").split_once("://").unwrap().1.parse().unwrap()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.field("http_socket").into()
    }

    /// Asks over TCP; the whole answer.
    pub(crate) fn get(&self, path: &str) -> String {
        exchange(TcpStream::connect(self.address()).unwrap(), path)
    }

    /// Asks over the Unix socket; the whole answer.
    pub(crate) fn get_locally(&self, path: &str) -> String {
        exchange(UnixStream::connect(self.socket()).unwrap(), path)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end: its exit code, and what else it said on stdout and stderr.
    pub(crate) fn wait(mut self) -> (Option<i32>, String, String) {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stdout, stderr)
    }

    /// Asks it to end, and expects it to end well and without a word.
    pub(crate) fn end(self) {
        self.signal(Signal::TERM);
        assert_eq!(self.wait(), (Some(0), String::new(), String::new()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks and reads to the end.
pub(crate) fn exchange(stream: impl Read + Write, path: &str) -> String {
    exchange_with(stream, path, "")
}

/// The same with these headers besides.
pub(crate) fn exchange_with(mut stream: impl Read + Write, path: &str, headers: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// The body of an answer as JSON.
pub(crate) fn body(answer: &str) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}
