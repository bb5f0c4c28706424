//! A host that does simple things, and a client that is written byte by byte.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use flate2::read::GzDecoder;
use loggia_endermux_io::server::{ClientId, Output, Presence, Socket};
use loggia_endermux_io::words::Parsed;
use loggia_endermux_io::{Console, Host, HostError, Server};
use loggia_protocol_endermux::{CandidateInfo, ColorLevel};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::Notify;

/// Does what commands say: `say X` logs X, `fail` fails, `panic` panics, `wait` waits for [`Echo::go_on`], `print X` sends X
/// to the caller and ends with 3, `later X` does so after it has returned, `drop` says nothing more.
#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) console: OnceLock<Console>,
    pub(crate) go_on: Arc<Notify>,
    pub(crate) started: Arc<Notify>,
}

impl Host for Echo {
    async fn complete(
        &self,
        client: &Presence,
        line: &str,
        at: usize,
    ) -> Result<Vec<CandidateInfo>, HostError> {
        if line == "fail" {
            return Err(HostError::Failed("no idea".to_owned()));
        }
        if line == "huge" {
            let value = "x".repeat(5 * 1024 * 1024);
            return Ok(vec![CandidateInfo { value, display: String::new(), description: None }]);
        }
        if line == "wait" {
            self.started.notify_one();
            self.go_on.notified().await;
        }
        assert_ne!(line, "panic", "as asked");
        let value = line[..at].to_owned();
        let display = format!("{:?}", client.color_level);
        Ok(vec![CandidateInfo { value, display, description: None }])
    }

    async fn parse(&self, _: &Presence, line: &str, at: usize) -> Result<Parsed, HostError> {
        if line == "never" { Err(HostError::Unsupported) } else { Ok(Parsed::by_spaces(line, at)) }
    }

    async fn execute(self: Arc<Self>, _: Presence, command: String, output: Output) -> Result<(), HostError> {
        let (word, rest) = command.split_once(' ').unwrap_or((&command, ""));
        match word {
            "say" => self.console.get().unwrap().broadcast(format!("{rest}\n")),
            "fail" => return Err(HostError::Failed("as asked".to_owned())),
            "panic" => panic!("as asked"),
            "wait" => {
                self.started.notify_one();
                self.go_on.notified().await;
                self.console.get().unwrap().broadcast("waited\n");
            }
            "print" => {
                output.print(rest).await.map_err(|gone| HostError::Failed(gone.to_string()))?;
                output.finish(3);
            }
            "later" => {
                let (go_on, rest) = (Arc::clone(&self.go_on), rest.to_owned());
                tokio::spawn(async move {
                    go_on.notified().await;
                    output.print(&rest).await.unwrap();
                    output.finish(4);
                });
            }
            "abandon" => {
                let go_on = Arc::clone(&self.go_on);
                tokio::spawn(async move {
                    go_on.notified().await;
                    drop(output);
                });
            }
            "drop" => drop(output),
            _ => return Err(HostError::Unsupported),
        }
        Ok(())
    }
}

/// A server on a socket of its own.
pub(crate) struct World {
    pub(crate) server: Server<Echo>,
    pub(crate) path: PathBuf,
    listening: tokio::task::JoinHandle<()>,
    _directory: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_room_for(64).await
    }

    pub(crate) async fn with_room_for(connections: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        let server = Server::with_room_for(Echo::default(), connections);
        server.host().console.set(server.console().clone()).unwrap();
        let socket = Socket::bind(&path).await.unwrap();
        let accepting = server.clone();
        let listening = tokio::spawn(async move { accepting.listen(socket).await });
        Self { server, path, listening, _directory: directory }
    }

    /// One that takes commands.
    pub(crate) async fn interactive() -> Self {
        let world = Self::new().await;
        world.server.console().set_interactive(true);
        world
    }

    pub(crate) fn console(&self) -> &Console {
        self.server.console()
    }

    pub(crate) async fn raw(&self) -> Raw {
        Raw { stream: UnixStream::connect(&self.path).await.unwrap(), tagged: false }
    }

    /// A client of epoch 15 that is welcome and has heard the status.
    pub(crate) async fn welcomed(&self) -> Raw {
        let mut raw = self.raw().await;
        raw.send(hello().to_string()).await;
        assert_eq!(raw.receive().await["type"], "WELCOME");
        assert_eq!(raw.receive().await["type"], "INTERACTIVITY_STATUS");
        raw
    }

    /// The same, and it gets logs.
    pub(crate) async fn subscribed(&self) -> Raw {
        let mut raw = self.welcomed().await;
        raw.subscribe().await;
        raw
    }

    /// Waits until so many clients are there.
    pub(crate) async fn until_present(&self, count: usize) -> Vec<ClientId> {
        let mut presence = self.console().presence();
        let clients = presence.wait_for(|clients| clients.len() == count).await.unwrap();
        clients.iter().map(|client| client.id).collect()
    }

    pub(crate) async fn stop(self) -> PathBuf {
        self.server.stop().await;
        self.listening.await.unwrap();
        self.path.clone()
    }
}

/// A client that says what the test wants.
pub(crate) struct Raw<S = UnixStream> {
    pub(crate) stream: S,
    /// Epoch 17's frames.
    pub(crate) tagged: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Raw<S> {
    pub(crate) async fn send(&mut self, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let mut bytes = Vec::new();
        let length = body.len() + usize::from(self.tagged);
        bytes.extend_from_slice(&i32::try_from(length).unwrap().to_be_bytes());
        if self.tagged {
            bytes.push(0);
        }
        bytes.extend_from_slice(body);
        self.send_bytes(&bytes).await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next message.
    pub(crate) async fn receive(&mut self) -> Value {
        serde_json::from_slice(&self.receive_body().await.1).unwrap()
    }

    /// The next message's compression byte, if there is one, and its JSON.
    pub(crate) async fn receive_body(&mut self) -> (Option<u8>, Vec<u8>) {
        let length = self.stream.read_i32().await.unwrap();
        let mut body = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut body).await.unwrap();
        if !self.tagged {
            return (None, body);
        }
        let tag = body.remove(0);
        if tag == 1 {
            let mut inflated = Vec::new();
            GzDecoder::new(body.as_slice()).read_to_end(&mut inflated).unwrap();
            body = inflated;
        }
        (Some(tag), body)
    }

    /// The next message, which must be a log.
    pub(crate) async fn log(&mut self) -> String {
        let message = self.receive().await;
        assert_eq!(message["type"], "LOG_FORWARD", "{message}");
        message["data"]["rendered"].as_str().unwrap().to_owned()
    }

    /// Subscribes, and waits until that has been heard.
    pub(crate) async fn subscribe(&mut self) {
        self.send(r#"{"type":"LOG_SUBSCRIBE","data":{}}"#).await;
        self.ping("subscribed").await;
    }

    /// Shows that the connection is alive and that nothing else was said.
    pub(crate) async fn ping(&mut self, id: &str) {
        self.send(json!({"type": "PING", "requestId": id, "data": {}}).to_string()).await;
        assert_eq!(self.receive().await, json!({"type": "PONG", "requestId": id, "data": {}}));
    }

    /// Whether a greeting is answered at all.
    pub(crate) async fn is_welcome(&mut self) -> bool {
        let hello = hello().to_string();
        let mut bytes = i32::try_from(hello.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend_from_slice(hello.as_bytes());
        self.stream.write_all(&bytes).await.is_ok() && self.stream.read_i32().await.is_ok()
    }

    /// Everything until the end of the stream. Being reset counts as the end.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest).await;
        rest
    }
}

/// What the real client of epoch 15 says first.
pub(crate) fn hello() -> Value {
    let names =
        ["command_execute", "log_forward", "interactivity_status", "completion", "syntax_highlight", "parse"];
    let capabilities: serde_json::Map<String, Value> =
        names.map(|name| (name.to_owned(), json!({"min": 1, "max": 1}))).into_iter().collect();
    json!({"type": "HELLO", "requestId": "h", "data": {
        "transportEpoch": 15, "colorLevel": "NONE", "capabilities": capabilities,
        "requiredCapabilities": ["command_execute", "log_forward", "interactivity_status"],
    }})
}

/// What the real clients of epochs 16 and 17 say first.
pub(crate) fn hello_with_range(epoch: i32) -> Value {
    let mut hello = hello();
    let data = hello["data"].as_object_mut().unwrap();
    data.remove("transportEpoch");
    data.insert("transportEpochRange".to_owned(), json!({"min": epoch, "max": epoch, "exclude": []}));
    hello
}

/// The same with a capability of our own.
pub(crate) fn hello_with(extra: &str, level: ColorLevel) -> Value {
    let mut hello = hello();
    hello["data"]["capabilities"][extra] = json!({"min": 1, "max": 1});
    hello["data"]["colorLevel"] = json!(level.name());
    hello
}

pub(crate) fn error(id: Option<&str>, message: &str, details: Option<&str>) -> Value {
    let mut error = json!({"type": "ERROR", "data": {"message": message, "details": details}});
    if let Some(id) = id {
        error["requestId"] = json!(id);
    }
    error
}
