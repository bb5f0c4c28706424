//! A connection to a raw far end, and methods to try it with.

use std::time::Duration;

use loggia_jsonrpc::{Dialect, Method, NoParams, Notification, Order};
use loggia_wire::framing::Lines;
use loggia_wire::peer::{CloseReason, Peer, Router, Settings, connect};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

pub(crate) struct Add;
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AddParams {
    pub(crate) left: i64,
    pub(crate) right: i64,
}
impl Method for Add {
    const NAME: &'static str = "add";
    type Params = AddParams;
    type Result = i64;
}

/// Answers after so many milliseconds.
pub(crate) struct Slow;
impl Method for Slow {
    const NAME: &'static str = "slow";
    type Params = NoParams;
    type Result = String;
}

pub(crate) struct Step;
impl Method for Step {
    const NAME: &'static str = "step";
    const ORDER: Order = Order::Ordered;
    type Params = u32;
    type Result = u32;
}

pub(crate) struct Abort;
impl Method for Abort {
    const NAME: &'static str = "abort";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = bool;
}

pub(crate) struct Told;
impl Notification for Told {
    const NAME: &'static str = "told";
    type Params = u32;
}

pub(crate) struct Text;
impl Method for Text {
    const NAME: &'static str = "text";
    type Params = String;
    type Result = String;
}

pub(crate) struct Chat;
impl Notification for Chat {
    const NAME: &'static str = "chat";
    type Params = String;
}

/// The far end of a connection, as bytes.
pub(crate) struct Far {
    pub(crate) reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
}

impl Far {
    pub(crate) async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// The next line, without its newline; empty at the end of the stream.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    }

    /// Sends and gives the next line back.
    pub(crate) async fn ask(&mut self, line: &str) -> String {
        self.send(line).await;
        self.line().await
    }
}

pub(crate) fn settings(dialect: Dialect) -> Settings {
    Settings { drain: Duration::from_secs(1), ..Settings::new("test", dialect) }
}

/// A peer whose other side is bytes.
pub(crate) fn peer_with(settings: Settings, router: Router) -> (Peer, JoinHandle<CloseReason>, Far) {
    peer_with_buffer(settings, router, 1 << 20)
}

pub(crate) fn peer_with_buffer(
    settings: Settings,
    router: Router,
    buffer: usize,
) -> (Peer, JoinHandle<CloseReason>, Far) {
    let (near, far) = tokio::io::duplex(buffer);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let (peer, connection) = connect(near_reader, near_writer, Lines::new(1 << 20), settings, router);
    let task = tokio::spawn(connection.run());
    (peer, task, Far { reader: BufReader::new(far_reader), writer: far_writer })
}

pub(crate) fn peer(router: Router) -> (Peer, JoinHandle<CloseReason>, Far) {
    peer_with(settings(Dialect::STANDARD), router)
}

/// Two peers that serve each other.
pub(crate) fn pair(left: Router, right: Router) -> (Peer, Peer) {
    pair_with_buffer(left, right, 1 << 20)
}

pub(crate) fn pair_with_buffer(left: Router, right: Router, buffer: usize) -> (Peer, Peer) {
    let (near, far) = tokio::io::duplex(buffer);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let codec = Lines::new(1 << 20);
    let (left, run_left) =
        connect(near_reader, near_writer, codec.clone(), settings(Dialect::STANDARD), left);
    let (right, run_right) = connect(far_reader, far_writer, codec, settings(Dialect::STANDARD), right);
    tokio::spawn(run_left.run());
    tokio::spawn(run_right.run());
    (left, right)
}

pub(crate) fn adder() -> Router {
    Router::new().serve::<Add, _, _>(|_, params| async move { Ok(params.left + params.right) })
}
