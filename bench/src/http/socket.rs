//! A client's end of a stream that does nothing but read and count.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use loggia_protocol_agent_server::STREAM_SUBPROTOCOL;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// How the end of a turn begins on the wire.
const FINAL: &str = r#"{"type":"assistant.message_final""#;
/// How a token begins on the wire.
const TOKEN: &str = r#"{"type":"assistant.token","token":""#;
/// How an error begins on the wire.
const ERROR: &str = r#"{"type":"server.error""#;

/// A stream.
#[derive(Debug)]
pub(super) struct Socket(WebSocketStream<TcpStream>);

/// What a text is, as far as a benchmark wants to know.
pub(super) enum Said<'a> {
    /// Tokens, perhaps several in one piece.
    Tokens(&'a str),
    /// The end of a turn.
    Final,
    /// Anything else.
    Other,
}

impl Socket {
    /// Connects, and exchanges greetings.
    pub(super) async fn open(
        address: SocketAddr,
        token: &str,
        session: &str,
        delta_only: bool,
    ) -> Result<Self> {
        let mut request = format!("ws://{address}/v1/sessions/{session}/stream").into_client_request()?;
        let headers = request.headers_mut();
        headers.insert("authorization", HeaderValue::from_str(&format!("Bearer {token}"))?);
        headers.insert("sec-websocket-protocol", HeaderValue::from_static(STREAM_SUBPROTOCOL));
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // A cumulative reply is a large message, and there are thousands of sockets.
        let configuration = WebSocketConfig::default().read_buffer_size(4 * 1024).write_buffer_size(0);
        let (stream, _) =
            tokio_tungstenite::client_async_with_config(request, stream, Some(configuration)).await?;
        let mut socket = Self(stream);
        let capabilities = if delta_only { r#""queue","delta_only""# } else { r#""queue""# };
        socket
            .say(&format!(
                r#"{{"type":"client.hello","client_info":{{"name":"bench","version":"1","capabilities":[{capabilities}]}}}}"#
            ))
            .await?;
        while !socket.hear().await?.starts_with(r#"{"type":"session.state""#) {}
        Ok(socket)
    }

    /// Gives an instruction.
    pub(super) async fn prompt(&mut self, text: &str) -> Result<()> {
        self.say(&format!(r#"{{"type":"client.user_message","message":"{text}"}}"#)).await
    }

    async fn say(&mut self, text: &str) -> Result<()> {
        Ok(self.0.send(Message::text(text)).await?)
    }

    /// The next text.
    pub(super) async fn hear(&mut self) -> Result<Utf8Bytes> {
        loop {
            match self.0.next().await.context("the server hung up")?? {
                Message::Text(text) => return Ok(text),
                Message::Close(frame) => bail!("the server closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// Listens until the turn has ended; gives the number of tokens, four bytes each.
    pub(super) async fn turn(&mut self) -> Result<usize> {
        let mut bytes = 0;
        loop {
            let text = self.hear().await?;
            match said(&text)? {
                Said::Tokens(tokens) => bytes += tokens.len(),
                Said::Final => return Ok(bytes / super::model::WORD.len()),
                Said::Other => {}
            }
        }
    }
}

/// What a text is.
pub(super) fn said(text: &str) -> Result<Said<'_>> {
    if let Some(rest) = text.strip_prefix(TOKEN) {
        // No escapes: the tokens are letters and digits.
        return Ok(Said::Tokens(rest.split('"').next().unwrap_or_default()));
    }
    if text.starts_with(ERROR) {
        bail!("the server complains: {text}");
    }
    Ok(if text.starts_with(FINAL) { Said::Final } else { Said::Other })
}
