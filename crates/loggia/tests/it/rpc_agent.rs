//! The agent as a client sees it: a process with three streams.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Far longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a file, which is asked about, and says so.
pub(crate) const WRITE: &str = r#"
[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "greeting.txt", content = "hello\n" } } }]
[[reply]]
parts = [{ text = "Done." }]
"#;

/// Begins to speak and never ends.
pub(crate) const HANG: &str = "[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]\n";

/// How long a client waits that is about to kill its agent.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// A running agent; killed when dropped.
pub(crate) struct Agent {
    /// Taken by whoever waits for its end.
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Heard while something else was waited for.
    early: VecDeque<Value>,
    last_id: u64,
}

/// What an agent left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// What it said that nobody has heard.
    pub(crate) said: Vec<Value>,
    pub(crate) stderr: String,
}

impl Ended {
    /// The methods of what it said.
    pub(crate) fn methods<'a>(&'a self) -> Vec<&'a str> {
        let method = |message: &'a Value| message["method"].as_str()?.strip_prefix("autohand.");
        self.said.iter().map(|message| method(message).unwrap_or("an answer")).collect()
    }
}

impl Agent {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if tell.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child: Some(child), stdin, lines, early: VecDeque::new(), last_id: 0 }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Asks, and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let method = format!("autohand.{method}");
        self.send(&format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})));
        loop {
            let message = self.message();
            if message.get("id") == Some(&json!(id)) {
                return message.get("result").unwrap_or(&message["error"]).clone();
            }
            self.early.push_back(message);
        }
    }

    /// Hears until a notification comes.
    pub(crate) fn until(&mut self, method: &str) -> Value {
        loop {
            let message = self.early.pop_front().unwrap_or_else(|| self.message());
            if message["method"] == format!("autohand.{method}") {
                return message["params"].clone();
            }
        }
    }

    fn message(&mut self) -> Value {
        let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
            let mut said = String::new();
            let child = self.child.as_mut().unwrap();
            let _ = child.kill();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("it says no more; on standard error:\n{said}")
        };
        parse(&line)
    }

    /// Asks for a turn.
    pub(crate) fn prompt(&mut self) {
        assert_eq!(self.call("prompt", json!({"message": "Go"})), json!({"success": true}));
    }

    pub(crate) fn session(&mut self) -> String {
        self.call("getState", json!({}))["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn allow(&mut self, question: &Value) -> Value {
        self.call("permissionResponse", json!({"requestId": question["requestId"], "allowed": true}))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_to(self.child.as_ref().unwrap().id(), signal);
    }

    /// Closes its standard input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Expects that it ends before a client would lose patience.
    pub(crate) fn end(mut self) -> Ended {
        let mut said: Vec<Value> = self.early.drain(..).collect();
        let rest = std::iter::from_fn(|| self.lines.recv_timeout(LAST_PATIENCE).ok());
        said.extend(rest.map(|line| parse(&line)));
        let mut child = self.child.take().unwrap();
        let (pid, mut stderr) = (child.id(), child.stderr.take().unwrap());
        let (tell, ended) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = stderr.read_to_string(&mut text);
            tell.send((child.wait().unwrap().code(), read.map(|_| text).unwrap()))
        });
        let Ok((code, stderr)) = ended.recv_timeout(LAST_PATIENCE) else {
            signal_to(pid, Signal::KILL);
            panic!("it does not end; it said {said:?}")
        };
        Ended { code, said, stderr }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn signal_to(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}
