//! A client that writes down what it says and hears, in words that are the same in every run.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use loggia_rpc::{Exit, Launch, LaunchError, Parts, serve};
use loggia_tests::{World, WorldBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A world without a keeper: no test here runs a command.
pub(crate) async fn world(script: &str) -> World {
    builder().start(script).await
}

pub(crate) fn builder() -> WorldBuilder {
    WorldBuilder::new("/bin/false").file("notes.txt", "one\ntwo\nthree\n")
}

pub(crate) fn parts(world: &World) -> Parts {
    Parts { engine: world.engine.clone(), models: Arc::clone(&world.catalogue) }
}

/// Somebody at the other end of a connection.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    pub(crate) stop: CancellationToken,
    serving: JoinHandle<Exit>,
    /// Read while an answer was waited for.
    early: VecDeque<Value>,
    lines: Vec<String>,
    names: Names,
    last_id: u64,
}

impl Client {
    /// Starts as the launch says, and hears that the agent is there.
    pub(crate) async fn launch(world: &World, launch: Launch) -> Self {
        let mut client = Self::raw(world, Ok(launch));
        client.until("hook.sessionStart").await;
        client
    }

    /// The same with defaults, and without a word of the beginning.
    pub(crate) async fn start(world: &World) -> Self {
        let mut client = Self::launch(world, Launch::new(world.root())).await;
        client.lines.clear();
        client
    }

    /// Starts without waiting for anything.
    pub(crate) fn raw(world: &World, launch: Result<Launch, LaunchError>) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let stop = CancellationToken::new();
        let (reader, writer) = tokio::io::split(far);
        let serving = tokio::spawn(serve(parts(world), launch, reader, writer, stop.clone()));
        let (reader, writer) = tokio::io::split(near);
        let names = Names { root: world.root().display().to_string(), ..Names::default() };
        Self {
            reader: BufReader::new(reader),
            writer: Some(writer),
            stop,
            serving,
            early: VecDeque::new(),
            lines: Vec::new(),
            names,
            last_id: 0,
        }
    }

    /// Sends bytes as they are.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Says something and does not wait.
    pub(crate) async fn say(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let told = self.names.told(params.clone());
        self.lines.push(format!("> {method} {told}"));
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": format!("autohand.{method}"), "params": params});
        self.send(format!("{request}\n").as_bytes()).await;
        id
    }

    /// Asks something and waits for the answer. What is heard meanwhile is written down after it.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.say(method, params).await;
        self.answer(id).await
    }

    /// Waits for an answer.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.line().await;
            if message.get("id") != Some(&json!(id)) {
                assert!(message.get("id").is_none(), "an answer to somebody else: {message}");
                self.early.push_back(message);
                continue;
            }
            self.write_down(&message);
            return match message.get("error") {
                Some(error) => error.clone(),
                None => message["result"].clone(),
            };
        }
    }

    /// The next message as it is.
    pub(crate) async fn line(&mut self) -> Value {
        let text = self.bytes_line().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The next line as it is; empty at the end of the stream.
    pub(crate) async fn bytes_line(&mut self) -> String {
        let mut text = String::new();
        let read = tokio::time::timeout(PATIENCE, self.reader.read_line(&mut text)).await;
        read.unwrap_or_else(|_| panic!("nothing more after\n{}", self.lines.join("\n"))).unwrap();
        text
    }

    /// The next line as it is, of those read already first.
    pub(crate) async fn heard(&mut self) -> String {
        match self.early.pop_front() {
            Some(message) => message.to_string(),
            None => self.bytes_line().await,
        }
    }

    /// Hears until a notification comes; gives what it says.
    pub(crate) async fn until(&mut self, method: &str) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            // Signs of life come for ever.
            assert!(tokio::time::Instant::now() < deadline, "no {method} in\n{}", self.lines.join("\n"));
            let message = match self.early.pop_front() {
                Some(message) => message,
                None => self.line().await,
            };
            self.write_down(&message);
            if message["method"] == format!("autohand.{method}") {
                return message["params"].clone();
            }
        }
    }

    /// A whole turn: asks, and hears until it is over.
    pub(crate) async fn turn(&mut self, message: &str) {
        let answer = self.call("prompt", json!({"message": message})).await;
        assert_eq!(answer, json!({"success": true}));
        self.until("ping").await;
    }

    /// Closes this side.
    pub(crate) async fn close(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
    }

    /// Hears until the stream ends, and how the process would.
    pub(crate) async fn until_over(&mut self) -> Exit {
        while let Some(message) = self.early.pop_front() {
            self.write_down(&message);
        }
        loop {
            let text = self.bytes_line().await;
            if text.is_empty() {
                break;
            }
            let message = serde_json::from_str(&text).unwrap();
            self.write_down(&message);
        }
        tokio::time::timeout(PATIENCE, &mut self.serving).await.unwrap().unwrap()
    }

    /// Everything so far, which is then forgotten. Pieces of a message are joined: how they came depends on who was
    /// how fast.
    pub(crate) fn text(&mut self) -> String {
        std::mem::take(&mut self.lines).join("\n")
    }

    fn write_down(&mut self, message: &Value) {
        let message = self.names.told(message.clone());
        let line = match (&message["id"], message.get("error"), message.get("result")) {
            (_, Some(error), _) => {
                let data = error.get("data").map(|data| format!(" {data}")).unwrap_or_default();
                format!("! {} {}{data}", error["code"], error["message"].as_str().unwrap())
            }
            (_, None, Some(result)) => format!("= {result}"),
            _ => {
                let method = message["method"].as_str().unwrap().trim_start_matches("autohand.");
                self.joined(method, &message["params"])
            }
        };
        self.lines.push(line);
    }

    /// A notification's line; pieces of one message take the place of those before them.
    fn joined(&mut self, method: &str, params: &Value) -> String {
        let mut params = params.clone();
        let piece = |line: &String| -> Option<Value> {
            let text = line.strip_prefix("messageUpdate ")?;
            serde_json::from_str(text).ok()
        };
        if method == "messageUpdate"
            && let Some(before) = self.lines.last().and_then(piece)
            && before["messageId"] == params["messageId"]
        {
            for field in ["delta", "thought"] {
                let text = |value: &Value| value[field].as_str().unwrap_or_default().to_owned();
                let joined = text(&before) + &text(&params);
                if field == "delta" || !joined.is_empty() {
                    params[field] = joined.into();
                }
            }
            self.lines.pop();
        }
        format!("{method} {params}")
    }
}

/// Ids, times and paths by names that are the same in every run.
#[derive(Default)]
struct Names {
    root: String,
    known: HashMap<String, String>,
    counts: HashMap<String, usize>,
}

impl Names {
    fn told(&mut self, value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let told = fields.into_iter().map(|(key, value)| {
                    let value = match key.as_str() {
                        "timestamp" | "createdAt" | "lastActiveAt" => check_time(&value),
                        "duration" | "durationMs" if value.is_number() => json!(0),
                        _ => self.told(value),
                    };
                    (key, value)
                });
                Value::Object(told.collect())
            }
            Value::Array(items) => items.into_iter().map(|item| self.told(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut rest = text.replace(&self.root, "<root>");
        let mut out = String::new();
        while let Some((place, prefix)) = first_id(&rest) {
            let end = place + prefix.len() + 32;
            out.push_str(&rest[..place]);
            let id = rest[place..end].to_owned();
            let name = self.name(&id, prefix);
            out.push_str(&name);
            rest = rest[end..].to_owned();
        }
        out + &rest
    }

    fn name(&mut self, id: &str, prefix: &str) -> String {
        if let Some(name) = self.known.get(id) {
            return name.clone();
        }
        let kind = prefix.trim_end_matches('_').to_owned();
        let count = self.counts.entry(kind.clone()).or_default();
        *count += 1;
        let name = format!("{kind}#{count}");
        self.known.insert(id.to_owned(), name.clone());
        name
    }
}

/// Where the first of our ids is, and what it begins with.
fn first_id(text: &str) -> Option<(usize, &'static str)> {
    const PREFIXES: [&str; 7] = ["ses_", "turn_", "msg_", "call_", "req_", "patch_", "ws_"];
    let is_id = |place: usize, prefix: &str| {
        let digits = text.get(place + prefix.len()..place + prefix.len() + 32);
        digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let found = PREFIXES.iter().flat_map(|prefix| {
        text.match_indices(prefix)
            .filter(|(place, _)| is_id(*place, prefix))
            .map(|(place, _)| (place, *prefix))
    });
    found.min_by_key(|(place, _)| *place)
}

/// A time is ISO 8601 in UTC with milliseconds.
fn check_time(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{value}");
    json!("T")
}
