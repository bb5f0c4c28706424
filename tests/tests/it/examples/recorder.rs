//! A door on a free port, and a client that writes down both sides of the conversation.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use loggia_domain::{Preset, SessionId};
use loggia_http::{Door, Parts, Settings};
use loggia_tests::World;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

use crate::world_with;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the workspace lies in what is written.
const PROJECT: &str = "/home/you/project";

/// Messages that only pass: how many there are depends on who was how fast.
const PASSING: [&str; 3] = ["assistant.token", "assistant.thinking", "tool.output"];

/// A door in front of a whole engine. It goes when it is dropped.
pub(crate) struct House {
    pub(crate) world: World,
    address: SocketAddr,
    token: String,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for House {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl House {
    /// Starts one with these files and a model that replies by this script.
    pub(crate) async fn start(files: &[(&str, &str)], script: &str) -> Self {
        let world = world_with(files, script).await;
        let parts = Parts {
            engine: world.engine.clone(),
            models: Arc::clone(&world.models) as Arc<dyn loggia_domain::ModelCatalogue>,
            index: Arc::new(|_| None),
            plugins: Arc::new(loggia_domain::NoPlugins),
            examine: loggia_http::examine_nothing(),
            stop: CancellationToken::new(),
        };
        let settings = Settings {
            data: world.data(),
            version: "0.1.0".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
        };
        let door = Door::new(parts, settings).unwrap();
        let token = std::fs::read_to_string(world.data().join("token")).unwrap().trim().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = door.router();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { world, address, token, server }
    }

    /// Opens a session and says hello on its stream.
    pub(crate) async fn join(&self, preset: Preset, capabilities: &[&str]) -> Wire {
        let session = self.world.open(preset).await;
        let path = format!("/v1/sessions/{session}/stream");
        let socket = self.connect(&path).await;
        let capabilities = capabilities.iter().map(|&word| word.to_owned()).collect();
        let mut wire = Wire { socket, session, capabilities, tape: Vec::new() };
        wire.hello(&path).await;
        wire
    }

    async fn connect(&self, path: &str) -> Socket {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        request.headers_mut().insert("sec-websocket-protocol", "loggia.v1".parse().unwrap());
        connect_async(request).await.unwrap().0
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A client that writes down what it says and hears.
pub(crate) struct Wire {
    socket: Socket,
    session: SessionId,
    capabilities: Vec<String>,
    /// Lines of the transcript, each message as it was on the wire.
    tape: Vec<String>,
}

impl Wire {
    /// The session it is on.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// Comes back after an event, as after a cut.
    pub(crate) async fn reconnect(&mut self, house: &House, after: u64) {
        let path = format!("/v1/sessions/{}/stream?after={after}", self.session);
        self.socket = house.connect(&path).await;
        self.hello(&path).await;
    }

    async fn hello(&mut self, path: &str) {
        let info = json!({"name": "example", "version": "0.1.0", "capabilities": self.capabilities});
        let message = json!({"type": "client.hello", "client_info": info});
        self.socket.send(Message::text(message.to_string())).await.unwrap();
        self.tape.push(format!(r#"{{"from":"client","path":"{path}","message":{message}}}"#));
        self.until("session.state").await;
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).await.unwrap();
        self.tape.push(format!(r#"{{"from":"client","message":{message}}}"#));
    }

    pub(crate) async fn prompt(&mut self, text: &str) {
        self.say(json!({"type": "client.user_message", "message": text})).await;
    }

    /// Hears until a message of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let frame = frame.unwrap_or_else(|_| panic!("no `{kind}` comes after {:?}", self.tape.last()));
            let Message::Text(text) = frame.expect("an open stream").unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            self.tape.push(format!(r#"{{"from":"server","message":{text}}}"#));
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Hears until the turn is over.
    pub(crate) async fn until_done(&mut self) {
        self.until("assistant.message_final").await;
        self.until("session.state").await;
    }

    /// Compares what happened with the transcript of this name, or writes it.
    pub(crate) fn check(self, name: &str, house: &House) {
        let root = house.world.root().to_str().unwrap();
        let lines = self.tape.iter().map(|line| line.replace(root, PROJECT) + "\n");
        let text: String = lines.collect();
        let path = directory().join(format!("{name}.jsonl"));
        if std::env::var_os("LOGGIA_RECORD_EXAMPLES").is_some() {
            std::fs::create_dir_all(directory()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let repair = "record it again with `LOGGIA_RECORD_EXAMPLES=1 cargo test -p loggia-tests examples`";
        assert_eq!(comparable(&known), comparable(&text), "`{name}.jsonl` is not current; {repair}");
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/examples")
}

/// The transcript without what differs from run to run.
fn comparable(text: &str) -> String {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lasting = lines.filter(|line| !PASSING.iter().any(|kind| line["message"]["type"] == *kind));
    let mut names = Names::default();
    let lines = lasting.map(|mut line| {
        forget(&mut line);
        names.replace(&line.to_string()) + "\n"
    });
    lines.collect()
}

/// Takes out moments, durations and what depends on the machine.
fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["at", "duration_ms", "sandbox"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(forget);
        }
        Value::Array(values) => values.iter_mut().for_each(forget),
        _ => {}
    }
}

/// Ids by the order in which they come.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    /// The text with each `_` and 32 digits replaced by a number.
    fn replace(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(found) = rest.find('_') {
            let digits: String = rest[found + 1..].chars().take_while(char::is_ascii_hexdigit).collect();
            out.push_str(&rest[..=found]);
            rest = &rest[found + 1..];
            if digits.len() == 32 {
                let next = self.0.len() + 1;
                out.push_str(&self.0.entry(digits).or_insert(next).to_string());
                rest = &rest[32..];
            }
        }
        out + rest
    }
}
