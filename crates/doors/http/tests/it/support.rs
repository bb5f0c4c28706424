//! A door on a free port, and a client that sends exactly what it is told to.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use loggia_domain::{CodeIndex, NoPlugins, PluginDesk, Role};
use loggia_http::{Door, Listener, Parts, Peer, Settings};
use loggia_tests::{Player, World, WorldBuilder};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A door in front of a whole engine. It goes when it is dropped.
pub(crate) struct House {
    pub(crate) world: World,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    /// The first token.
    pub(crate) token: String,
    door: Door,
    servers: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for House {
    fn drop(&mut self) {
        self.servers.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// How a house is built.
pub(crate) struct Builder {
    world: WorldBuilder,
    peer: Peer,
    index: Option<Arc<dyn CodeIndex>>,
    origins: Vec<String>,
    examine: loggia_http::Examine,
    plugins: Arc<dyn PluginDesk>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        // No test here runs a command on the server.
        let world = WorldBuilder::new("/bin/false").file("src/main.rs", "fn main() {}\n");
        let peer = Peer::Tcp(([127, 0, 0, 1], 50_000).into());
        Self {
            world,
            peer,
            index: None,
            origins: Vec::new(),
            examine: loggia_http::examine_nothing(),
            plugins: Arc::new(NoPlugins),
        }
    }

    pub(crate) fn world(mut self, change: impl FnOnce(WorldBuilder) -> WorldBuilder) -> Self {
        self.world = change(self.world);
        self
    }

    pub(crate) fn peer(mut self, peer: Peer) -> Self {
        self.peer = peer;
        self
    }

    pub(crate) fn index(mut self, index: Arc<dyn CodeIndex>) -> Self {
        self.index = Some(index);
        self
    }

    pub(crate) fn examine(mut self, findings: Vec<loggia_domain::Finding>) -> Self {
        self.examine = Arc::new(move || Box::pin(std::future::ready(findings.clone())));
        self
    }

    pub(crate) fn plugins(mut self, desk: Arc<dyn PluginDesk>) -> Self {
        self.plugins = desk;
        self
    }

    pub(crate) fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.to_owned());
        self
    }

    pub(crate) async fn start(self, script: &str) -> House {
        let index = self.index;
        let world = match &index {
            Some(index) => self.world.index(Arc::clone(index)),
            None => self.world,
        };
        let world = world.start(script).await;
        let stop = CancellationToken::new();
        let parts = Parts {
            engine: world.engine.clone(),
            models: Arc::clone(&world.catalogue),
            index: Arc::new(move |_| index.clone()),
            plugins: self.plugins,
            examine: self.examine,
            stop: stop.clone(),
        };
        let settings = Settings {
            data: world.data(),
            version: "1.2.3".to_owned(),
            hosts: vec!["desk.local".to_owned()],
            origins: self.origins,
        };
        let door = Door::new(parts, settings).unwrap();
        let token = std::fs::read_to_string(world.data().join("token")).unwrap().trim().to_owned();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut house = House { world, address, stop, token, door, servers: Vec::new() };
        house.seen_as(self.peer).await;
        house
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Checks that this is a problem as RFC 9457 has it, and gives `status type pointer…`.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem: loggia_protocol_agent_server::Problem = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem.status, self.status);
        assert!(problem.instance.is_some() && problem.detail.is_some(), "{self:?}");
        let mut text = format!("{} {}", self.status, problem.kind);
        problem.errors.iter().for_each(|error| write!(text, " {}", error.pointer).unwrap());
        text
    }

    pub(crate) fn ok(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl House {
    pub(crate) async fn new() -> Self {
        Builder::new().start("").await
    }

    /// From now on requests come from somebody else.
    pub(crate) async fn seen_as(&mut self, peer: Peer) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.address = listener.local_addr().unwrap();
        let router = self.door.router().layer(Extension(peer));
        self.servers.push(tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }));
    }

    /// From now on requests come in as they do in the product, over plain connections.
    pub(crate) async fn served_plainly(&mut self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.address = listener.local_addr().unwrap();
        let (door, stop) = (self.door.clone(), self.stop.clone());
        let served = async move { door.serve(Listener::Tcp(listener, None), stop).await.unwrap() };
        self.servers.push(tokio::spawn(served));
    }

    /// Asks with the first token; a body is JSON.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let token = self.token.clone();
        self.ask_as(Some(&token), method, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "").await
    }

    /// Asks with this token.
    pub(crate) async fn ask_as(&self, token: Option<&str>, method: &str, path: &str, body: &str) -> Answer {
        let authorization =
            token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        self.ask_with(method, path, &format!("{authorization}{json}"), body).await
    }

    /// Asks with the first token and these headers besides.
    pub(crate) async fn ask_more(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let headers = format!("authorization: Bearer {}\r\n{headers}", self.token);
        self.ask_with(method, path, &headers, body).await
    }

    /// Asks with these headers and no others but those every request needs.
    pub(crate) async fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: impl AsRef<[u8]>,
    ) -> Answer {
        self.send(&self.bytes(method, path, headers, body)).await
    }

    /// The header that shows the first token.
    pub(crate) fn bearer(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.token)
    }

    /// A request as it is sent.
    pub(crate) fn bytes(&self, method: &str, path: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let host = format!("host: {}\r\n", self.address);
        let host = if headers.contains("host:") { "" } else { host.as_str() };
        let length =
            if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        let mut bytes =
            format!("{method} {path} HTTP/1.1\r\n{host}connection: close\r\n{headers}{length}\r\n")
                .into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }

    /// Sends bytes and reads the answer to its end.
    pub(crate) async fn send(&self, bytes: &[u8]) -> Answer {
        exchange(self.address, bytes.to_vec()).await
    }

    /// Sends a head and reads one answer; the connection stays open, and no body is ever sent.
    pub(crate) async fn send_head(&self, bytes: &[u8]) -> Answer {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        parse(&answer)
    }

    /// A session made over the wire.
    pub(crate) async fn session(&self) -> String {
        let body = format!(r#"{{"workspace_id":"{}"}}"#, self.world.workspace.id);
        let session = self.ask("POST", "/v1/sessions", &body).await.ok(201).json();
        session["session_id"].as_str().unwrap().to_owned()
    }

    /// Joins a session inside, prompts, says yes to everything, and waits until the turn has ended.
    pub(crate) async fn turn(&self, session: &str, text: &str) -> Player {
        let mut player = self.player(session).await;
        player.play(text).await;
        player
    }

    /// Joins a session inside.
    pub(crate) async fn player(&self, session: &str) -> Player {
        let abilities = loggia_domain::Abilities::default();
        self.world.join(session.parse().unwrap(), "alice", Role::Drive, abilities).await
    }

    /// A token with this scope.
    pub(crate) async fn token(&self, scope: &str) -> String {
        let body = format!(r#"{{"name":"{scope} one","scope":"{scope}"}}"#);
        let made = self.ask("POST", "/v1/tokens", &body).await.ok(201).json();
        made["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn workspace_path(&self, rest: &str) -> String {
        format!("/v1/workspaces/{}{rest}", self.world.workspace.id)
    }
}

/// Sends bytes and reads the answer to its end, for whoever has no house at hand.
pub(crate) async fn exchange(address: SocketAddr, bytes: Vec<u8>) -> Answer {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let sent = socket.write_all(&bytes).await;
    let mut answer = Vec::new();
    if let Err(error) = socket.read_to_end(&mut answer).await {
        assert!(!answer.is_empty(), "{error}, after {sent:?}");
    }
    parse(&answer)
}

fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
        panic!("no answer: {}", String::from_utf8_lossy(bytes));
    });
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    let headers: Vec<_> = lines.map(header).collect();
    let body = &bytes[end + 4..];
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { dechunk(body) } else { body.to_vec() };
    Answer { status, headers, body: String::from_utf8(body).unwrap() }
}

fn dechunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|two| two == b"\r\n").expect("a chunk's size");
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
    }
}
