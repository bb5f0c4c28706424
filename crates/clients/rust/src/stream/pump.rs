//! The task behind a stream: reads a connection, writes to it, and finds the next when it is lost.
//!
//! What always holds: while nobody listens nothing more is read, but what is said is still written and the server is
//! still told that we are there.

mod pulse;
mod talk;

use std::time::Duration;

use loggia_protocol_agent_server::{ClientCapability, DecodeError, ServerMessage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::dial::Dial;
use super::heard::{Heard, Lost};
use super::place::Place;
use super::queue::{NobodyListens, Queue};
use super::speaker::Said;
use crate::{Error, StreamError};

/// A connection that lasted so long was a good one, whatever was said on it.
const STEADY: Duration = Duration::from_secs(10);

/// A stream's task.
#[derive(Debug)]
pub(super) struct Pump<D> {
    pub(super) dial: D,
    /// What is said first on every connection.
    pub(super) hello: String,
    /// How long a lost connection may stay away.
    pub(super) patience: Option<Duration>,
    pub(super) place: Place,
    pub(super) backoff: Backoff,
    pub(super) queue: Queue,
    pub(super) said: mpsc::Receiver<Said>,
    /// Nobody wants the stream any more.
    pub(super) leave: CancellationToken,
}

/// How a connection ends.
#[derive(Debug)]
enum End {
    /// We left, or there is nothing more to hear.
    Left,
    /// There will be no other.
    Over(StreamError),
    /// It is lost; the next one goes on.
    Lost(Lost),
}

impl From<NobodyListens> for End {
    fn from(_: NobodyListens) -> Self {
        Self::Left
    }
}

impl From<StreamError> for End {
    fn from(error: StreamError) -> Self {
        Self::Over(error)
    }
}

impl<D: Dial> Pump<D> {
    /// Runs until nobody listens or the stream has ended for good.
    pub(super) async fn run(mut self, first: WebSocketStream<D::Io>) {
        let mut socket = first;
        let error = loop {
            let began = Instant::now();
            let why = match self.talk(socket).await {
                End::Left => return,
                End::Over(error) => break error,
                End::Lost(why) => why,
            };
            tracing::debug!(?why, after = self.place.after(), "a stream's connection is lost");
            if began.elapsed() >= STEADY {
                self.backoff.reset();
            }
            socket = match self.again(why).await {
                Ok(next) => next,
                Err(End::Over(error)) => break error,
                Err(End::Left | End::Lost(_)) => return,
            };
        };
        tokio::select! {
            room = self.queue.room(0) => if let Ok(room) = room { room.fill(Err(error)) },
            () = self.leave.cancelled() => {}
        }
    }

    /// Tries until there is a connection again.
    async fn again(&mut self, why: Lost) -> Result<WebSocketStream<D::Io>, End> {
        let (lost, leave) = (Instant::now(), self.leave.clone());
        let mut why = why;
        let mut at_least = Duration::ZERO;
        let mut last: Option<Error> = None;
        loop {
            let retry_in = self.backoff.next(at_least);
            if let Some(patience) = self.patience
                && lost.elapsed() + retry_in > patience
            {
                return Err(StreamError::GaveUp { after: patience, source: last }.into());
            }
            let attempt = async {
                self.queue.room(0).await?.fill(Ok(Heard::Disconnected { why, retry_in }));
                tokio::time::sleep(retry_in).await;
                Ok::<_, NobodyListens>(self.dial.dial(self.place.after()).await)
            };
            let dialled = tokio::select! {
                dialled = attempt => dialled?,
                () = leave.cancelled() => return Err(End::Left),
            };
            match dialled {
                Ok(socket) => return Ok(socket),
                Err(error) => {
                    let Some(wait) = error.may_pass() else { return Err(StreamError::Refused(error).into()) };
                    (why, at_least, last) = (Lost::StillGone, wait, Some(error));
                }
            }
        }
    }

    /// What a text means to whoever listens, if it is anything new.
    fn hear(&mut self, text: &str) -> Option<Heard> {
        match ServerMessage::decode(text) {
            Ok(ServerMessage::Hello(hello)) => {
                self.place.greeted(hello.last_seq);
                for unknown in &hello.not_understood {
                    let meant = unknown.did_you_mean.as_ref().map(ClientCapability::as_str);
                    tracing::warn!(
                        name = unknown.name,
                        meant,
                        "the server does not know a capability of ours"
                    );
                }
                Some(Heard::Connected(hello.server_info))
            }
            Ok(message) => {
                let message = self.place.take(message)?;
                // What every connection begins with shows nothing: the next may begin, and end, the same way.
                let is_usual = matches!(
                    message,
                    ServerMessage::SessionState(_)
                        | ServerMessage::SessionNotice(_)
                        | ServerMessage::DialogRequest(_)
                        | ServerMessage::WindowOpened(_)
                );
                if !is_usual {
                    self.backoff.reset();
                }
                Some(Heard::Message(message))
            }
            Err(error) => {
                if !matches!(error, DecodeError::UnknownType { .. }) {
                    tracing::warn!(%error, "the server says something that cannot be read");
                }
                Some(Heard::Unreadable(error))
            }
        }
    }
}
