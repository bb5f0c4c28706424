//! A server that a test plays: it takes one connection after another and answers what the test says.

use std::collections::BTreeMap;

use futures_util::{SinkExt, StreamExt};
use loggia_client::{Client, Server};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

pub(crate) const HELLO: &str = r#"{"type":"server.hello","server_info":{"version":"1","capabilities":[]}}"#;

/// A server and a client of it.
pub(crate) struct Play {
    pub(crate) listener: TcpListener,
    pub(crate) client: Client,
}

impl Play {
    pub(crate) async fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        Self { listener, client: Client::new(server).with_token("tok_secret") }
    }

    /// The next request on a new connection.
    pub(crate) async fn request(&self) -> Request<TcpStream> {
        Request::read(self.listener.accept().await.unwrap().0).await
    }

    /// The next request, which opens a stream; greeted.
    pub(crate) async fn stream(&self) -> (String, Peer<TcpStream>) {
        let request = self.request().await;
        let target = request.target.clone();
        (target, request.greet().await)
    }
}

/// A request as it came.
pub(crate) struct Request<S> {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) connection: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Request<S> {
    /// Reads one.
    pub(crate) async fn read(mut connection: S) -> Self {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(connection.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.unwrap();
        Self { method: first.next().unwrap(), target: first.next().unwrap(), headers, body, connection }
    }

    /// Answers, and gives the connection back for the next request.
    pub(crate) async fn answer(mut self, status: &str, headers: &str, body: &str) -> S {
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
        self.connection.write_all(text.as_bytes()).await.unwrap();
        self.connection
    }

    pub(crate) async fn json(self, body: &str) -> S {
        self.answer("200 OK", "content-type: application/json\r\n", body).await
    }

    /// Opens the stream it asks for.
    pub(crate) async fn open(mut self) -> Peer<S> {
        assert_eq!(self.headers["sec-websocket-protocol"], "loggia.v1");
        let accept = derive_accept_key(self.headers["sec-websocket-key"].as_bytes());
        let text = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\nsec-websocket-protocol: loggia.v1\r\n\r\n"
        );
        self.connection.write_all(text.as_bytes()).await.unwrap();
        Peer(WebSocketStream::from_raw_socket(self.connection, Role::Server, None).await)
    }

    /// Opens the stream it asks for, and exchanges greetings.
    pub(crate) async fn greet(self) -> Peer<S> {
        let mut peer = self.open().await;
        assert!(peer.hear().await.starts_with(r#"{"type":"client.hello""#));
        peer.say(HELLO).await;
        peer
    }
}

/// The server's end of a stream.
pub(crate) struct Peer<S>(pub(crate) WebSocketStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    pub(crate) async fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// The next text.
    pub(crate) async fn hear(&mut self) -> String {
        loop {
            if let Message::Text(text) = self.0.next().await.unwrap().unwrap() {
                return text.to_string();
            }
        }
    }

    /// Writes only the beginning of a message, and cuts the connection.
    pub(crate) async fn cut_in(mut self, text: &str, bytes: usize) {
        let length = u16::try_from(text.len()).unwrap();
        let mut frame = vec![0x81, 126];
        frame.extend(length.to_be_bytes());
        frame.extend(text.as_bytes());
        self.0.get_mut().write_all(&frame[..bytes]).await.unwrap();
        self.0.get_mut().flush().await.unwrap();
    }
}
