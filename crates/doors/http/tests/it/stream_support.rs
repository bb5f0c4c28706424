//! What tests of streams share: an engine with a scripted model behind a door on a free port, and clients of it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Extension;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::middleware::map_request;
use axum::serve::ListenerExt;
use futures_util::{SinkExt, StreamExt};
use loggia_domain::{Actor, CodeIndex, Preset, SessionId, Workspace};
use loggia_engine::{Engine, NewSession};
use loggia_http::{Door, Parts, Peer, Settings, Timing};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_protocol_agent_server::{Scope, ServerMessage};
use loggia_tests::{PretendRunner, scripts};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{Error, client::IntoClientRequest};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::stream_store::{Counter, CountingStore};

/// Longer than anything here takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// The room for what is on its way to a client that does not read.
pub(crate) const NARROW: usize = 4096;

/// Who connects.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) token: &'static str,
    pub(crate) scope: Scope,
}

pub(crate) const DRIVER: Who = Who { token: "driver", scope: Scope::Drive };
pub(crate) const WATCHER: Who = Who { token: "watcher", scope: Scope::Read };

/// A server and what is behind it.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    pub(crate) engine: Engine,
    pub(crate) workspace: Workspace,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) door: Door,
    pub(crate) stop: CancellationToken,
    /// How many events were read from the journals.
    pub(crate) read: Counter,
    serving: Mutex<JoinSet<()>>,
    /// The tokens that were made, by their names.
    tokens: tokio::sync::Mutex<HashMap<&'static str, String>>,
    index: Option<Arc<dyn CodeIndex>>,
}

/// A server with files in its workspace and a model that replies by a script.
pub(crate) async fn world(files: &[(&str, &str)], script: &str) -> World {
    world_with(files, script, Timing::default(), None).await
}

pub(crate) async fn world_with(
    files: &[(&str, &str)],
    script: &str,
    timing: Timing,
    index: Option<Arc<dyn CodeIndex>>,
) -> World {
    let directory = TempDir::with_prefix("loggia-http-").unwrap();
    let root = directory.path().join("work");
    std::fs::create_dir(&root).unwrap();
    for (path, content) in files {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), content).unwrap();
    }
    World::start(directory, script, timing, index, loggia_engine::Desks::default()).await
}

/// A server with a desk and extensions that are pretended.
pub(crate) async fn world_with_desks(files: &[(&str, &str)]) -> World {
    let directory = TempDir::with_prefix("loggia-http-").unwrap();
    let root = directory.path().join("work");
    std::fs::create_dir(&root).unwrap();
    for (path, content) in files {
        std::fs::write(root.join(path), content).unwrap();
    }
    World::start(directory, "", Timing::default(), None, loggia_tests::Desks::whole()).await
}

impl World {
    async fn start(
        directory: TempDir,
        script: &str,
        timing: Timing,
        index: Option<Arc<dyn CodeIndex>>,
        desks: loggia_engine::Desks,
    ) -> Self {
        let model = Arc::new(ScriptedModel::new(Script::parse(script).unwrap()));
        let catalogue = Arc::new(ScriptedCatalogue::single(Arc::clone(&model)));
        let (found, read) = (index.clone(), Counter::default());
        let parts = loggia_engine::Parts {
            store: Arc::new(CountingStore {
                store: loggia_tests::reopen_store(directory.path()).await,
                read: read.clone(),
            }),
            models: Arc::clone(&catalogue) as _,
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories: loggia_engine::NoRepository::finder(),
            sources: Arc::new(|_| Vec::new()),
            runner: Arc::new(PretendRunner),
            index: Arc::new(move |_| found.clone()),
            guests: Arc::new(loggia_engine::NoGuests),
            desks,
        };
        let finder = Arc::clone(&parts.index);
        let data = directory.path().join("data");
        let engine = Engine::start(parts, loggia_engine::Settings::new(data.clone())).await.unwrap();
        let workspace = engine.register_workspace(&directory.path().join("work"), None).await.unwrap();
        let stop = CancellationToken::new();
        let parts = Parts {
            engine: engine.clone(),
            models: catalogue,
            index: finder,
            plugins: Arc::new(loggia_domain::NoPlugins),
            examine: loggia_http::examine_nothing(),
            stop: stop.clone(),
        };
        let settings = Settings { data, version: "1.2.3".to_owned(), hosts: Vec::new(), origins: Vec::new() };
        let door = Door::new(parts, settings).unwrap();
        door.set_stream_timing(timing);
        let serving = Mutex::new(JoinSet::new());
        let tokens = tokio::sync::Mutex::default();
        Self { directory, engine, workspace, model, door, stop, read, serving, tokens, index }
    }

    /// Stops as a restart of the daemon does, and starts again over the same data.
    pub(crate) async fn restart(self, script: &str) -> Self {
        self.stop.cancel();
        self.engine.stop().await;
        let Self { directory, index, engine, door, serving, .. } = self;
        // What is not taken out here would live, and hold the store, until the end of this function.
        drop((engine, door, serving));
        Self::start(directory, script, Timing::default(), index, loggia_engine::Desks::default()).await
    }

    pub(crate) fn root(&self) -> &Path {
        &self.workspace.root
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Opens a session.
    pub(crate) async fn open(&self, preset: Preset) -> SessionId {
        let new = NewSession { preset: Some(preset), ..NewSession::new(self.workspace.id) };
        self.engine.open_session(new, Actor::Engine).await.unwrap()
    }

    /// A port on which this identity, and nobody else, comes in.
    pub(crate) async fn listen(&self, who: &Who) -> SocketAddr {
        self.listen_with(who, |_| {}).await
    }

    /// The same with little room for what is on its way, so that a client that does not read is noticed early.
    pub(crate) async fn listen_narrowly(&self, who: &Who) -> SocketAddr {
        self.listen_with(who, |stream| {
            rustix::net::sockopt::set_socket_send_buffer_size(stream, NARROW).unwrap();
        })
        .await
    }

    /// Takes their token away.
    pub(crate) async fn revoke(&self, who: &Who) {
        let tokens = self.ask_locally("GET", "/v1/tokens", String::new()).await;
        let is_theirs = |token: &&Value| token["name"] == who.token;
        let theirs = tokens["tokens"].as_array().unwrap().iter().find(is_theirs).unwrap();
        let id = theirs["token_id"].as_str().unwrap();
        self.ask_locally("DELETE", &format!("/v1/tokens/{id}"), String::new()).await;
    }

    /// Asks for something as a process of the same user does.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ask_locally("GET", path, String::new()).await
    }

    /// Asks to do something as a process of the same user does.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.ask_locally("POST", path, body.to_string()).await
    }

    /// Asks as a process of the same user does.
    async fn ask_locally(&self, method: &str, path: &str, body: String) -> Value {
        let request: Result<Request, _> = axum::http::Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, "application/json")
            .body(body.into());
        let router = self.door.router().layer(Extension(Peer::SameUser));
        let answer = router.oneshot(request.unwrap()).await.unwrap();
        assert!(answer.status().is_success(), "{method} {path}: {answer:?}");
        let answer = axum::body::to_bytes(answer.into_body(), 1 << 24).await.unwrap();
        serde_json::from_slice(&answer).unwrap_or_default()
    }

    /// A token of theirs, made the first time.
    async fn token(&self, who: &Who) -> String {
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens.get(who.token) {
            return token.clone();
        }
        let body = json!({ "name": who.token, "scope": who.scope }).to_string();
        let answer = self.ask_locally("POST", "/v1/tokens", body).await;
        let token = answer["token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        tokens.insert(who.token, token.clone());
        token
    }

    async fn listen_with(&self, who: &Who, prepare: fn(&mut TcpStream)) -> SocketAddr {
        let bearer = HeaderValue::try_from(format!("Bearer {}", self.token(who).await)).unwrap();
        let show = move |mut request: Request| {
            request.headers_mut().insert(AUTHORIZATION, bearer.clone());
            std::future::ready(request)
        };
        let peer = Peer::Tcp(([127, 0, 0, 1], 50_000).into());
        let router = self.door.router().layer(map_request(show)).layer(Extension(peer));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = listener.tap_io(prepare);
        let serve = async move { axum::serve(listener, router).await.unwrap() };
        self.serving.lock().unwrap().spawn(serve);
        address
    }

    /// Connects and says nothing.
    pub(crate) async fn connect(&self, who: &Who, path: &str) -> Client {
        self.try_connect(who, path).await.unwrap()
    }

    pub(crate) async fn try_connect(&self, who: &Who, path: &str) -> Result<Client, Error> {
        connect(self.listen(who).await, path, None).await
    }

    /// Connects to a session as a named client with these capabilities, and hears the server's hello and the state.
    pub(crate) async fn join(&self, session: SessionId, name: &str, capabilities: &[&str]) -> Client {
        self.join_as(&DRIVER, &format!("/v1/sessions/{session}/stream"), name, capabilities).await
    }

    pub(crate) async fn join_after(&self, session: SessionId, name: &str, after: u64) -> Client {
        self.join_as(&DRIVER, &format!("/v1/sessions/{session}/stream?after={after}"), name, &[]).await
    }

    pub(crate) async fn join_as(&self, who: &Who, path: &str, name: &str, capabilities: &[&str]) -> Client {
        let mut client = self.connect(who, path).await;
        client.hello(name, capabilities).await;
        client
    }

    /// Everything the model was told last.
    pub(crate) fn last_prompt(&self) -> String {
        loggia_tests::last_prompt(&self.model)
    }
}

/// Connects a client; a small receive buffer makes one that does not read a burden at once.
pub(crate) async fn connect(
    address: SocketAddr,
    path: &str,
    receive_buffer: Option<usize>,
) -> Result<Client, Error> {
    let socket = TcpSocket::new_v4().unwrap();
    if let Some(size) = receive_buffer {
        socket.set_recv_buffer_size(u32::try_from(size).unwrap()).unwrap();
    }
    let stream = socket.connect(address).await.unwrap();
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "loggia.v1".parse().unwrap());
    let (socket, _) = tokio_tungstenite::client_async(request, stream).await?;
    Ok(Client { socket, transcript: Transcript::default(), last: 0 })
}

/// A client in a test, which writes down what it hears.
pub(crate) struct Client {
    pub(crate) socket: WebSocketStream<TcpStream>,
    pub(crate) transcript: Transcript,
    /// The highest number it has seen.
    pub(crate) last: u64,
}

/// What a client hears next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    Message(Value),
    Closed(Option<u16>),
    Ping,
}

impl Client {
    pub(crate) async fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text.to_owned())).await.unwrap();
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.send(&message.to_string()).await;
    }

    /// Says hello and hears the server's hello and the state.
    pub(crate) async fn hello(&mut self, name: &str, capabilities: &[&str]) {
        let info = json!({"name": name, "version": "0.1.0", "capabilities": capabilities});
        self.say(json!({"type": "client.hello", "client_info": info})).await;
        self.until("session.state").await;
    }

    pub(crate) async fn prompt(&mut self, text: &str) {
        self.say(json!({"type": "client.user_message", "message": text})).await;
    }

    pub(crate) async fn approve(&mut self, id: &Value) {
        self.say(json!({"type": "client.approval_response", "request_id": id, "approved": true})).await;
    }

    /// What comes next, whatever it is.
    pub(crate) async fn hear(&mut self) -> Heard {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let frame =
                frame.unwrap_or_else(|_| panic!("nothing more comes after\n{}", self.transcript.text()));
            match frame {
                Some(Ok(Message::Text(text))) => {
                    // Whatever the server says has the shape the protocol gives it.
                    let message = ServerMessage::decode(&text).unwrap();
                    assert_eq!(message.encode(), text.as_str());
                    let value: Value = serde_json::from_str(&text).unwrap();
                    self.last = self.last.max(value["seq"].as_u64().unwrap_or(0));
                    self.transcript.take(&value);
                    return Heard::Message(value);
                }
                Some(Ok(Message::Close(frame))) => {
                    return Heard::Closed(frame.map(|frame| frame.code.into()));
                }
                Some(Ok(Message::Ping(_))) => return Heard::Ping,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    /// The next message, but for who comes and goes.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            let message = self.next_of_any_kind().await;
            if !is_presence(&message) {
                return message;
            }
        }
    }

    /// The next message.
    pub(crate) async fn next_of_any_kind(&mut self) -> Value {
        loop {
            match self.hear().await {
                Heard::Message(message) => return message,
                Heard::Ping => {}
                Heard::Closed(code) => panic!("closed with {code:?} after\n{}", self.transcript.text()),
            }
        }
    }

    /// Hears until a message of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Hears until the turn is over.
    pub(crate) async fn until_done(&mut self) -> Value {
        let last = self.until("assistant.message_final").await;
        self.until("session.state").await;
        last
    }

    /// Hears until an error, and says what it is.
    pub(crate) async fn until_error(&mut self) -> Value {
        self.until("server.error").await["error"].clone()
    }

    /// Hears until the stream is closed.
    pub(crate) async fn until_closed(&mut self) -> Option<u16> {
        loop {
            if let Heard::Closed(code) = self.hear().await {
                return code;
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        self.transcript.text()
    }
}

/// What was heard, as text that is the same in every run: ids by order of appearance, no times.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    lines: Vec<String>,
    pub(crate) numbered: Vec<Value>,
    names: HashMap<String, String>,
    counts: HashMap<String, usize>,
}

impl Transcript {
    fn take(&mut self, message: &Value) {
        if message.get("seq").is_some() {
            self.numbered.push(message.clone());
        }
        let mut message = message.clone();
        let kind = message["type"].as_str().unwrap_or_default().to_owned();
        // How a reply is cut into pieces, and who comes when, depends on who was how fast.
        if kind == "assistant.token" || is_presence(&message) {
            return;
        }
        let fields = message.as_object_mut().unwrap();
        fields.remove("type");
        let seq = fields.remove("seq").map(|seq| seq.to_string()).unwrap_or_else(|| "-".to_owned());
        fields.remove("at");
        if let Some(result) = fields.get_mut("result").and_then(Value::as_object_mut) {
            result.remove("duration_ms");
        }
        let text = self.named(&message.to_string());
        self.lines.push(format!("{seq:>3} {kind} {text}"));
    }

    /// A text with names instead of ids.
    fn named(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(found) = rest.find('_') {
            let digits: String = rest[found + 1..].chars().take_while(char::is_ascii_hexdigit).collect();
            if digits.len() != 32 {
                out.push_str(&rest[..=found]);
                rest = &rest[found + 1..];
                continue;
            }
            let start = rest[..found].rfind(|char: char| !char.is_ascii_lowercase()).map_or(0, |at| at + 1);
            let prefix = rest[start..found].to_owned();
            let name = match self.names.get(&format!("{prefix}_{digits}")) {
                Some(name) => name.clone(),
                None => {
                    let count = self.counts.entry(prefix.clone()).or_default();
                    *count += 1;
                    let name = format!("{prefix}#{count}");
                    self.names.insert(format!("{prefix}_{digits}"), name.clone());
                    name
                }
            };
            out.push_str(&rest[..start]);
            out.push_str(&name);
            rest = &rest[found + 33..];
        }
        out.push_str(rest);
        out
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

fn is_presence(message: &Value) -> bool {
    message["type"] == "session.notice" && (message["kind"] == "joined" || message["kind"] == "left")
}

/// A script of replies that each say one thing.
pub(crate) fn says(texts: &[&str]) -> String {
    texts.iter().map(|text| scripts::says(text)).collect()
}

/// A script that calls a tool, then says that it is done.
pub(crate) fn calls(tool: &str, arguments: &str) -> String {
    scripts::calls(tool, arguments) + &scripts::says("Done.") + "usage = { input = 100, output = 7 }\n"
}
