//! What clients hear when servers are killed and networks are cut: everything, once and in order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use loggia_client::{Client, Heard, Server as Place, SessionStream};
use loggia_protocol_agent_server::{
    ClientEcho, CreateSessionParams, Message as _, MessageFinal, PolicyPreset, RegisterWorkspaceParams,
    ServerMessage, SessionId,
};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::server::Server;
use crate::stage::Stage;

/// Far longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Twice the time after which what was said of a reply outlives a crash: no event tells that it does.
const KEPT_WITHIN: Duration = Duration::from_millis(500);

/// A server with a script, which can be killed and started again with another.
struct Host {
    stage: Stage,
    server: Server,
}

impl Host {
    fn start(script: &str) -> Self {
        let stage = Stage::new();
        stage.write("project/greeting.txt", "hello\n");
        let server = serve(&stage, script, "127.0.0.1:0");
        Self { stage, server }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    fn client(&self, address: SocketAddr) -> Client {
        let token = std::fs::read_to_string(self.server.field("token_file")).unwrap();
        let place = Place::Tcp { host: address.ip().to_string(), port: address.port() };
        Client::new(place).with_token(token.trim())
    }

    /// A session in which the agent asks before it changes anything.
    async fn session(&self) -> SessionId {
        let client = self.client(self.address());
        let root_path = self.stage.path("project").to_str().unwrap().to_owned();
        let workspace =
            client.register_workspace(&RegisterWorkspaceParams { root_path, name: None }).await.unwrap();
        let params = CreateSessionParams {
            workspace_id: workspace.workspace_id,
            title: None,
            model: None,
            policy_preset: Some(PolicyPreset::Ask),
            budget: None,
        };
        client.create_session(&params).await.unwrap().session_id
    }

    /// Kills the server without a warning and starts it again, in the same place.
    fn kill_and_start(self, script: &str) -> Self {
        let Self { stage, server } = self;
        let address = server.address().to_string();
        server.signal(Signal::KILL);
        server.wait();
        let server = serve(&stage, script, &address);
        Self { stage, server }
    }
}

fn serve(stage: &Stage, script: &str, address: &str) -> Server {
    let script = stage.write("script.toml", script);
    let model = format!("scripted:{}", script.display());
    Server::start(stage, &["--addr", address, "--workspace", ".", "--model", &model])
}

/// What somebody heard.
#[derive(Debug, Default, PartialEq)]
struct Listener {
    /// Events, as number and text; without the states, which are told only when they change.
    events: Vec<(u64, String)>,
    /// The tokens since the last final message, put together.
    text: String,
    connections: usize,
}

impl Listener {
    fn take(&mut self, message: &ServerMessage) {
        if let ServerMessage::Token(token) = message {
            self.text.push_str(&token.token);
        }
        if let ServerMessage::SessionState(_) = message {
            return;
        }
        let text = message.encode();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        if let Some(seq) = value["seq"].as_u64() {
            self.events.push((seq, text));
        }
    }
}

/// Listens until so many turns have ended; tells of each token and each end.
async fn listen(
    mut stream: SessionStream,
    turns: usize,
    news: mpsc::UnboundedSender<&'static str>,
) -> Listener {
    let mut listener = Listener::default();
    let mut ended = 0;
    while ended < turns {
        match stream.next().await.unwrap().unwrap() {
            Heard::Connected(_) => listener.connections += 1,
            Heard::Message(message) => {
                listener.take(&message);
                match message {
                    // Nobody may want to know.
                    ServerMessage::Token(_) => {
                        let _ = news.send("token");
                    }
                    ServerMessage::MessageFinal(_) => {
                        ended += 1;
                        let _ = news.send(MessageFinal::TYPE);
                    }
                    _ => {}
                }
            }
            Heard::Disconnected { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    listener
}

/// The journal, without the states.
async fn journal(client: &Client, session: &SessionId) -> Vec<(u64, String)> {
    let mut listener = Listener::default();
    let mut after = 0;
    loop {
        let page = client.events(session, after, None).await.unwrap();
        page.events.iter().for_each(|event| listener.take(&event.decode().unwrap()));
        match page.next_after {
            Some(next) => after = next,
            None => return listener.events,
        }
    }
}

async fn wait_for(news: &mut mpsc::UnboundedReceiver<&'static str>, what: &str, count: usize) {
    let mut seen = 0;
    while seen < count {
        let told = tokio::time::timeout(PATIENCE, news.recv()).await;
        seen +=
            usize::from(told.unwrap_or_else(|_| panic!("{seen} of {count} times {what}")).unwrap() == what);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_clients_outlive_a_server_that_is_killed_in_mid_reply() {
    const CLIENTS: usize = 20;
    let host = Host::start("[[reply]]\nparts = [{ text = \"Once upon a time\" }, { wait_ms = 600000 }]\n");
    let (session, client) = (host.session().await, host.client(host.address()));
    let (tell, mut news) = mpsc::unbounded_channel();
    let mut listening = Vec::new();
    for number in 0..CLIENTS {
        let stream =
            client.follow(&session).after(0).named(format!("client {number}"), "1").open().await.unwrap();
        listening.push(tokio::spawn(listen(stream, 2, tell.clone())));
    }
    let author = client.follow(&session).named("author", "1").open().await.unwrap();
    author.speaker().prompt("Tell me a story").await.unwrap();
    wait_for(&mut news, "token", CLIENTS).await;
    tokio::time::sleep(KEPT_WITHIN).await;

    let host = host.kill_and_start("[[reply]]\nparts = [{ text = \"The end.\" }]\n");
    wait_for(&mut news, MessageFinal::TYPE, CLIENTS).await;
    author.speaker().prompt("Go on").await.unwrap();

    let mut heard = Vec::new();
    for one in listening {
        heard.push(tokio::time::timeout(PATIENCE, one).await.unwrap().unwrap());
    }
    let journal = journal(&client, &session).await;
    for one in &heard {
        assert_eq!(one.events, journal);
        assert!(one.connections >= 2, "it was connected {} times", one.connections);
    }
    let finals: Vec<&str> = journal
        .iter()
        .filter(|(_, text)| text.contains(MessageFinal::TYPE))
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(finals.len(), 2);
    assert!(
        finals[0].contains("\"message\":\"Once upon a time\"") && finals[0].contains("\"success\":false")
    );
    assert!(finals[1].contains("\"message\":\"The end.\"") && finals[1].contains("\"success\":true"));
    assert_eq!(journal.iter().filter(|(_, text)| text.contains(ClientEcho::TYPE)).count(), 2);
    drop(host);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_a_server_that_is_killed_and_is_answered_by_somebody_new() {
    let edit = "[[reply]]\nparts = [{ call = { tool = \"edit_file\", arguments = \
                { path = \"greeting.txt\", old = \"hello\", new = \"HELLO\" } } }]\n";
    let host = Host::start(edit);
    let session = host.session().await;
    let mut author = host.client(host.address()).follow(&session).open().await.unwrap();
    author.speaker().prompt("Make it louder").await.unwrap();
    let asked = question(&mut author).await;
    drop(author);

    let host = host.kill_and_start("[[reply]]\nparts = [{ text = \"Done.\" }]\n");
    let mut other = host.client(host.address()).follow(&session).named("phone", "1").open().await.unwrap();
    let open = question(&mut other).await;
    assert_eq!(open, asked);
    other.speaker().decide(open, true).await.unwrap();
    let reply = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Heard::Message(ServerMessage::MessageFinal(reply)) = other.next().await.unwrap().unwrap() {
                return reply;
            }
        }
    });
    let reply = reply.await.unwrap();
    assert!(reply.metadata.success, "{reply:?}");
    assert_eq!(reply.message, "Done.");
    assert_eq!(std::fs::read_to_string(host.stage.path("project/greeting.txt")).unwrap(), "HELLO\n");
}

/// The next question.
async fn question(stream: &mut SessionStream) -> loggia_protocol_agent_server::ApprovalId {
    let asked = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Heard::Message(ServerMessage::ToolRequestApproval(ask)) =
                stream.next().await.unwrap().unwrap()
            {
                return ask.request_id;
            }
        }
    });
    asked.await.unwrap()
}

/// Passes connections on to a server and cuts each after so many bytes from it; every one gets a little further.
async fn cutting_proxy(server: SocketAddr) -> SocketAddr {
    /// Not a divisor of anything, so that cuts come in headers, in messages and between them.
    const STEP: usize = 149;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cuts = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let connection = cuts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            tokio::spawn(pass(near, server, 600 + connection * STEP));
        }
    });
    address
}

async fn pass(near: TcpStream, server: SocketAddr, mut left: usize) -> std::io::Result<()> {
    let (mut near_in, mut near_out) = near.into_split();
    let (mut far_in, mut far_out) = TcpStream::connect(server).await?.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut near_in, &mut far_out).await });
    let mut buffer = [0; 4096];
    while left > 0 {
        let most = left.min(buffer.len());
        let read = far_in.read(&mut buffer[..most]).await?;
        if read == 0 {
            break;
        }
        near_out.write_all(&buffer[..read]).await?;
        left -= read;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_is_cut_in_mid_message_loses_and_repeats_nothing() {
    let pieces: Vec<String> =
        (0..60).map(|number| format!("{{ text = \"piece {number} \" }}, {{ wait_ms = 20 }}")).collect();
    let call = "{ call = { tool = \"list_directory\", arguments = { path = \".\" } } }";
    let script = format!(
        "[[reply]]\nparts = [{{ text = \"Let me look. \" }}, {call}]\n[[reply]]\nparts = [{}]\n",
        pieces.join(", ")
    );
    let host = Host::start(&script);
    let session = host.session().await;
    let proxy = cutting_proxy(host.address()).await;
    let (tell, _news) = mpsc::unbounded_channel();
    let mut listening = Vec::new();
    for number in 0..5 {
        // The first connections may be cut before they are one.
        let stream = loop {
            let follow = host.client(proxy).follow(&session).after(0).named(format!("client {number}"), "1");
            if let Ok(stream) = follow.open().await {
                break stream;
            }
        };
        listening.push(tokio::spawn(listen(stream, 1, tell.clone())));
    }
    let author = host.client(host.address()).follow(&session).named("author", "1").open().await.unwrap();
    author.speaker().prompt("Look around").await.unwrap();
    let mut cuts = 0;
    let mut heard = Vec::new();
    for one in listening {
        heard.push(tokio::time::timeout(PATIENCE, one).await.unwrap().unwrap());
    }
    let journal = journal(&host.client(host.address()), &session).await;
    let told: String = (0..60).map(|number| format!("piece {number} ")).collect();
    assert!(journal.iter().any(|(_, text)| text.contains(MessageFinal::TYPE) && text.contains(&told)));
    let reply = format!("Let me look. {told}");
    for one in heard {
        assert_eq!(one.events, journal);
        // What was missed of the reply's end came with the final message; nothing before it is missing or repeated.
        assert!(reply.starts_with(&one.text) && one.text.len() > "Let me look. ".len(), "{}", one.text);
        cuts += one.connections - 1;
    }
    assert!(cuts >= 10, "there were only {cuts} cuts");
}
