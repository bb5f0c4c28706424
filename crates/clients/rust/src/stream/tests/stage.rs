//! The other end of a stream, played by a test.

use std::io;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use loggia_protocol_agent_server::{Problem, ProblemType, ServerMessage};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use crate::stream::dial::{Dial, configuration};
use crate::stream::follow::Settings;
use crate::stream::{Heard, SessionStream};
use crate::{Error, Refusal};

/// What a connection holds on its way: little, so that it is soon full.
const IN_FLIGHT: usize = 16 * 1024;

const HELLO: &str = r#"{"type":"server.hello","server_info":{"version":"1","capabilities":[]}}"#;

type Answer = Result<WebSocketStream<DuplexStream>, Error>;

struct Phone(mpsc::UnboundedSender<(u64, oneshot::Sender<Answer>)>);

impl Dial for Phone {
    type Io = DuplexStream;

    async fn dial(&self, after: u64) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.0.send((after, answer)).unwrap();
        answered.await.unwrap()
    }
}

/// The server's side of a stream.
pub(super) struct Stage {
    calls: mpsc::UnboundedReceiver<(u64, oneshot::Sender<Answer>)>,
}

/// An attempt to connect.
pub(super) struct Call {
    /// After which event it wants to begin.
    pub(super) after: u64,
    answer: oneshot::Sender<Answer>,
}

/// The server's end of a connection.
pub(super) struct Peer(pub(super) WebSocketStream<DuplexStream>);

/// A stream that has just begun, and its server.
pub(super) async fn begin(patience: Option<Duration>) -> (SessionStream, Peer, Stage) {
    let (phone, calls) = mpsc::unbounded_channel();
    let (first, peer) = pair().await;
    let hello = r#"{"type":"client.hello"}"#.to_owned();
    let stream = Settings { dial: Phone(phone), hello, after: 0, patience }.start(first);
    (stream, peer, Stage { calls })
}

/// A stream that has been greeted.
pub(super) async fn begin_greeted(patience: Option<Duration>) -> (SessionStream, Peer, Stage) {
    let (mut stream, mut peer, stage) = begin(patience).await;
    peer.greet().await;
    assert!(matches!(stream.next().await, Some(Ok(Heard::Connected(_)))));
    (stream, peer, stage)
}

async fn pair() -> (WebSocketStream<DuplexStream>, Peer) {
    let (near, far) = tokio::io::duplex(IN_FLIGHT);
    let near = WebSocketStream::from_raw_socket(near, Role::Client, Some(configuration())).await;
    (near, Peer(WebSocketStream::from_raw_socket(far, Role::Server, None).await))
}

impl Stage {
    /// The next attempt to connect.
    pub(super) async fn call(&mut self) -> Call {
        let (after, answer) = self.calls.recv().await.unwrap();
        Call { after, answer }
    }

    /// Takes the next attempt and greets it.
    pub(super) async fn greet(&mut self) -> (u64, Peer) {
        let call = self.call().await;
        let after = call.after;
        let mut peer = call.take().await;
        peer.greet().await;
        (after, peer)
    }
}

impl Call {
    pub(super) async fn take(self) -> Peer {
        let (near, peer) = pair().await;
        assert!(self.answer.send(Ok(near)).is_ok(), "nobody waits for the connection");
        peer
    }

    pub(super) fn nobody_is_there(self) {
        let source = io::ErrorKind::ConnectionRefused.into();
        self.fail(Error::Unreachable { server: "nowhere".to_owned(), source });
    }

    pub(super) fn refuse(self, kind: ProblemType, retry_after: Option<Duration>) {
        self.fail(Refusal { problem: Problem::new(kind, "no"), retry_after }.into());
    }

    fn fail(self, error: Error) {
        assert!(self.answer.send(Err(error)).is_ok(), "nobody waits for the answer");
    }
}

impl Peer {
    pub(super) async fn greet(&mut self) {
        assert_eq!(self.hear().await, r#"{"type":"client.hello"}"#);
        self.say(HELLO).await;
    }

    pub(super) async fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// Tells an event.
    pub(super) async fn event(&mut self, seq: u64) {
        self.say(&event(seq)).await;
    }

    /// The next text, whatever else comes in between.
    pub(super) async fn hear(&mut self) -> String {
        loop {
            if let Message::Text(text) = self.0.next().await.unwrap().unwrap() {
                return text.to_string();
            }
        }
    }

    /// What comes next.
    pub(super) async fn frame(&mut self) -> Option<Message> {
        self.0.next().await?.ok()
    }

    pub(super) async fn close(mut self, code: u16) {
        self.0
            .send(Message::Close(Some(CloseFrame { code: code.into(), reason: "so".into() })))
            .await
            .unwrap();
    }
}

pub(super) fn event(seq: u64) -> String {
    format!(r#"{{"type":"client.echo","from":"f","message":"m","seq":{seq}}}"#)
}

/// The number of the next event that is heard, past whatever else comes.
pub(super) async fn next_event(stream: &mut SessionStream) -> u64 {
    loop {
        if let Heard::Message(ServerMessage::ClientEcho(echo)) = stream.next().await.unwrap().unwrap() {
            return echo.stamp.seq.unwrap();
        }
    }
}
