//! Opens a WebSocket on the server.

use hyper::StatusCode;
use hyper::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use loggia_protocol_agent_server::{MAX_MESSAGE_BYTES, STREAM_SUBPROTOCOL, SessionId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::client::{Ask, refusal};
use crate::{Client, Error};

/// The largest message we take: what a server takes, and room for a patch of several such files.
pub(super) const MAX_HEARD_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// What is read at once: a stream is quiet most of the time and many may be open.
const READ_BUFFER_BYTES: usize = 16 * 1024;

/// A way to a stream.
pub(super) trait Dial: Send + 'static {
    /// What carries it.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Connects, to hear what comes after an event.
    fn dial(&self, after: u64) -> impl Future<Output = Result<WebSocketStream<Self::Io>, Error>> + Send;
}

/// How every end of a stream is set up.
pub(super) fn configuration() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        // Each message is written at once.
        .write_buffer_size(0)
        .max_message_size(Some(MAX_HEARD_BYTES))
        .max_frame_size(Some(MAX_HEARD_BYTES))
}

/// A stream of the http door.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) client: Client,
    pub(super) stream: Which,
}

/// Which of its streams.
#[derive(Debug, Clone)]
pub(super) enum Which {
    Session(SessionId),
    /// What belongs to no session; it has no numbers.
    Global,
}

impl Dial for Door {
    type Io = TokioIo<Upgraded>;

    async fn dial(&self, after: u64) -> Result<WebSocketStream<Self::Io>, Error> {
        let ask = match &self.stream {
            Which::Session(id) => Ask::get(&["v1", "sessions", &id.0, "stream"]).query("after", Some(after)),
            Which::Global => Ask::get(&["v1", "stream"]),
        };
        let key = generate_key();
        let value = HeaderValue::from_str(&key).map_err(|error| Error::Unaskable(error.to_string()))?;
        let ask = ask
            .header(CONNECTION, HeaderValue::from_static("upgrade"))
            .header(UPGRADE, HeaderValue::from_static("websocket"))
            .header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))
            .header(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(STREAM_SUBPROTOCOL))
            .header(SEC_WEBSOCKET_KEY, value);
        let response = self.client.respond(ask).await?;
        let status = response.status();
        if status.is_client_error() || status.is_server_error() {
            return Err(refusal(response).await);
        }
        let accepted = response
            .headers()
            .get(SEC_WEBSOCKET_ACCEPT)
            .is_some_and(|value| value.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes());
        if status != StatusCode::SWITCHING_PROTOCOLS || !accepted {
            let reason = "no WebSocket was opened".to_owned();
            return Err(Error::Strange { status: status.as_u16(), reason });
        }
        let upgraded =
            hyper::upgrade::on(response).await.map_err(|error| Error::Interrupted(error.into()))?;
        let io = TokioIo::new(upgraded);
        Ok(WebSocketStream::from_raw_socket(io, Role::Client, Some(configuration())).await)
    }
}
