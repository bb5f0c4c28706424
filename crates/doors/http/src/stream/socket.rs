//! The two halves of a socket: texts in, texts out, and how it ends.
//!
//! Knows frames, sizes and times. Refuses to know what the texts say.
//!
//! What always holds: at most one message and [`WRITE_BUFFER`](super::WRITE_BUFFER) bytes wait for a client that does
//! not read, and its silence or its blocked socket ends the stream.

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use loggia_engine::{EngineError, FeedClosed};
use loggia_protocol_agent_server::{ErrorBody, MAX_MESSAGE_BYTES, ServerError, ServerMessage, Stamp, close};
use tokio::time::{Instant, timeout, timeout_at};

use crate::metrics::Metrics;
use crate::stream::timing::Timing;

/// The session has ended for good; nothing more will come.
const NORMAL: u16 = 1000;

/// A text that is not UTF-8.
const INVALID_TEXT: u16 = 1007;

/// Our own fault.
const INTERNAL: u16 = 1011;

/// How a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed it, or the connection is gone.
    Gone,
    /// We close it.
    Closed(u16, &'static str),
}

/// As logs name it.
impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gone => "the client has gone",
            Self::Closed(_, why) => why,
        })
    }
}

impl End {
    pub(super) const STOPPING: Self = Self::Closed(close::GOING_AWAY, "the server is stopping");
    const TOLD_TO_STOP: Self = Self::Closed(close::STOPPED, "somebody stopped the server");
    pub(super) const REVOKED: Self = Self::Closed(close::TOKEN_REVOKED, "the token was revoked");
    pub(super) const NO_HELLO: Self = Self::Closed(close::HELLO_TIMEOUT, "no client.hello came in time");
    pub(super) const DELETED: Self = Self::Closed(close::SESSION_GONE, "the session was deleted");
    pub(super) const ENDED: Self = Self::Closed(NORMAL, "the session has ended");
    pub(super) const FAILED: Self = Self::Closed(INTERNAL, "the journal does not answer");
    const SILENT: Self = Self::Closed(close::GOING_AWAY, "nothing was heard for too long");
    const TOO_SLOW: Self = Self::Closed(close::TOO_SLOW, "too slow; resume after the last number");
    const BINARY: Self = Self::Closed(close::UNSUPPORTED_DATA, "messages are text");
    const TOO_BIG: Self = Self::Closed(close::MESSAGE_TOO_BIG, "the message is too large");
    const NO_TEXT: Self = Self::Closed(INVALID_TEXT, "the text is not UTF-8");

    /// The same as it is told; a stop that was asked for is meant to last.
    pub(super) fn when_stopping(self, was_asked_for: bool) -> Self {
        if was_asked_for && self == Self::STOPPING { Self::TOLD_TO_STOP } else { self }
    }

    /// Why there will be nothing more to tell.
    pub(super) fn of_feed(why: &FeedClosed) -> Self {
        match why {
            FeedClosed::Deleted => Self::DELETED,
            // One that has left memory is there again for whoever connects again.
            FeedClosed::Stopping | FeedClosed::Unloaded => Self::STOPPING,
            FeedClosed::Store(_) => Self::FAILED,
        }
    }

    /// Why there is no place on the session.
    pub(super) fn of_engine(error: &EngineError) -> Self {
        use loggia_domain::StoreError;
        match error {
            EngineError::Store(StoreError::NoSuchSession(_)) => Self::DELETED,
            EngineError::Stopping => Self::STOPPING,
            error => {
                tracing::error!(%error, "a session cannot be joined");
                Self::FAILED
            }
        }
    }
}

/// The half that is read.
pub(super) struct Incoming<'a> {
    frames: SplitStream<WebSocket>,
    timing: Timing,
    heard: Instant,
    metrics: &'a Metrics,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(frames: SplitStream<WebSocket>, timing: Timing, metrics: &'a Metrics) -> Self {
        Self { frames, timing, heard: Instant::now(), metrics }
    }

    /// The next text. Losing the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Utf8Bytes, End> {
        loop {
            let frame = timeout_at(self.heard + self.timing.silence, self.frames.next()).await;
            let Ok(frame) = frame else { return Err(End::SILENT) };
            self.heard = Instant::now();
            match frame {
                Some(Ok(Message::Text(text))) if text.len() > MAX_MESSAGE_BYTES => return Err(End::TOO_BIG),
                Some(Ok(Message::Text(text))) => {
                    Metrics::add(&self.metrics.messages_in);
                    return Ok(text);
                }
                Some(Ok(Message::Binary(_))) => return Err(End::BINARY),
                // Pings are answered below us.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Err(End::Gone),
                Some(Err(error)) => return Err(sort(&error)),
            }
        }
    }

    /// Reads on until the client has closed as well, so that it sees our last frame.
    async fn drain(&mut self) {
        while let Some(Ok(_)) = self.frames.next().await {}
    }
}

/// The half that is written.
pub(super) struct Outgoing<'a> {
    frames: SplitSink<WebSocket, Message>,
    timing: Timing,
    metrics: &'a Metrics,
}

impl<'a> Outgoing<'a> {
    pub(super) fn new(frames: SplitSink<WebSocket, Message>, timing: Timing, metrics: &'a Metrics) -> Self {
        Self { frames, timing, metrics }
    }

    /// Writes a message's text; it may wait for others until [`flush`](Self::flush).
    pub(super) async fn write(&mut self, text: String) -> Result<(), End> {
        Metrics::add(&self.metrics.messages_out);
        self.feed(Message::Text(text.into())).await
    }

    /// Writes a message.
    pub(super) async fn say(&mut self, message: &ServerMessage) -> Result<(), End> {
        self.write(message.encode()).await
    }

    /// Writes an error about the client's last message.
    pub(super) async fn complain(&mut self, error: ErrorBody) -> Result<(), End> {
        self.write(complaint(error)).await?;
        self.flush().await
    }

    pub(super) async fn ping(&mut self) -> Result<(), End> {
        self.feed(Message::Ping(Bytes::new())).await
    }

    /// Waits until everything is on its way.
    pub(super) async fn flush(&mut self) -> Result<(), End> {
        match timeout(self.timing.blocked, self.frames.flush()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => Err(End::TOO_SLOW),
        }
    }

    async fn feed(&mut self, message: Message) -> Result<(), End> {
        match timeout(self.timing.blocked, self.frames.feed(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => Err(End::TOO_SLOW),
        }
    }
}

/// The text of an error about a client's message.
pub(super) fn complaint(error: ErrorBody) -> String {
    ServerMessage::Error(ServerError { error, stamp: Stamp::default() }).encode()
}

/// Ends a stream; a client that takes too long to hear of it does not.
pub(super) async fn part(mut incoming: Incoming<'_>, mut outgoing: Outgoing<'_>, end: End) {
    let farewell = outgoing.timing.farewell;
    let said = async {
        match end {
            End::Gone => drop(outgoing.frames.close().await),
            End::Closed(code, reason) => {
                let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
                if outgoing.frames.send(Message::Close(Some(frame))).await.is_ok() {
                    incoming.drain().await;
                }
            }
        }
    };
    if timeout(farewell, said).await.is_err() {
        tracing::debug!(%end, "a client did not hear that its stream has ended");
    }
}

/// What is wrong with a frame. The library's own error type is out of reach, its words are not.
fn sort(error: &axum::Error) -> End {
    let words = error.to_string();
    if words.starts_with("Space limit exceeded") {
        End::TOO_BIG
    } else if words.starts_with("UTF-8 encoding error") {
        End::NO_TEXT
    } else {
        End::Gone
    }
}
