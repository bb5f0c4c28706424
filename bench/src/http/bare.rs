//! The floor: an axum server with the same routes and the same bytes, and nothing behind them.
//!
//! A prompt says what to do: `pace` and `plain` as for the [model](super::model), `say COUNT` says tokens as fast as
//! they go, `run` starts a shell before it answers.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::{any, get, post};
use axum::serve::ListenerExt;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use loggia_protocol_agent_server::STREAM_SUBPROTOCOL;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use super::model::{Speech, WORD};

/// What may wait for one client: more than the longest reply has messages.
const WAITING: usize = 16 * 1024;

const HELLO: &str = r#"{"type":"server.hello","server_info":{"version":"1","capabilities":[]}}"#;
const STATE: &str = r#"{"type":"session.state","state":{"pending_patches":[],"applied_patches":[],"pending_approvals":[],"current_step":0,"total_steps":0}}"#;
const FINAL: &str = r#"{"type":"assistant.message_final","message":"","metadata":{"tokens_used":0,"files_modified":0,"tools_used":[],"success":true},"seq":1,"at":"2026-01-01T00:00:00.000Z"}"#;
const HEALTH: &str =
    r#"{"status":"ok","version":"1","uptime_ms":1,"checks":{"store":"ok","index":"absent","model":"ok"}}"#;

/// What a session is, and what it says.
#[derive(Debug, Clone)]
struct Session {
    body: Bytes,
    said: Arc<broadcast::Sender<Utf8Bytes>>,
}

/// Serves on a free port, and tells which.
pub(super) async fn serve(body: Bytes) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        // It is measured with what it gets.
        let _ = stream.set_nodelay(true);
    });
    let session = Session { body, said: Arc::new(broadcast::channel(WAITING).0) };
    let router = Router::new()
        .route("/v1/health", get(async || HEALTH))
        .route("/v1/sessions", post(async |State(session): State<Session>| session.body))
        .route("/v1/sessions/{id}", get(async |State(session): State<Session>| session.body))
        .route("/v1/sessions/{id}/stream", any(stream))
        .with_state(session);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// Serves in a process of its own until standard input ends.
#[expect(clippy::print_stdout, reason = "how its starter learns where it is")]
pub fn run() -> Result<()> {
    let runtime = crate::engine::world::threads()?;
    let body = r#"{"session_id":"ses_bare","workspace_id":"ws_bare","title":"t","status":"idle","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","last_seq":1,"state":{}}"#;
    let address = runtime.block_on(serve(Bytes::from_static(body.as_bytes())))?;
    println!("{address}");
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}

async fn stream(State(session): State<Session>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.protocols([STREAM_SUBPROTOCOL]).on_upgrade(async |socket| {
        // A client that leaves is no fault.
        let _ = talk(session, socket).await;
    })
}

async fn talk(session: Session, socket: WebSocket) -> Result<()> {
    let (mut sink, mut source) = socket.split();
    let mut said = session.said.subscribe();
    source.next().await.context("a hello")??;
    send(&mut sink, Utf8Bytes::from_static(HELLO)).await?;
    send(&mut sink, Utf8Bytes::from_static(STATE)).await?;
    loop {
        tokio::select! {
            text = said.recv() => send(&mut sink, text?).await?,
            message = source.next() => match message.context("the client has left")?? {
                Message::Text(text) => {
                    tokio::spawn(obey(text, Arc::clone(&session.said)));
                }
                Message::Close(_) => return Ok(()),
                _ => {}
            },
        }
    }
}

async fn send(sink: &mut SplitSink<WebSocket, Message>, text: Utf8Bytes) -> Result<()> {
    Ok(sink.send(Message::Text(text)).await?)
}

/// Does what a prompt says, and tells everybody.
async fn obey(text: Utf8Bytes, said: Arc<broadcast::Sender<Utf8Bytes>>) -> Result<()> {
    let prompt =
        text.split(r#""message":""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    // Nobody listens: nobody is measured.
    let say = |text: Utf8Bytes| drop(said.send(text));
    match prompt.split_once(' ') {
        Some(("say", count)) => {
            for _ in 0..count.parse()? {
                say(token(WORD));
            }
        }
        Some(_) => {
            let mut tokens = Speech::parse(prompt)?.speak();
            while let Some(text) = tokens.recv().await {
                say(token(&text));
            }
        }
        None => {
            #[expect(clippy::disallowed_methods, reason = "the floor keeps nothing it starts")]
            tokio::process::Command::new("/bin/sh").args(["-c", "true"]).status().await?;
        }
    }
    say(Utf8Bytes::from_static(FINAL));
    Ok(())
}

fn token(text: &str) -> Utf8Bytes {
    format!(r#"{{"type":"assistant.token","token":"{text}"}}"#).into()
}
