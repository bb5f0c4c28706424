//! How a stream is to be opened.

use std::time::Duration;

use loggia_protocol_agent_server::{ClientCapability, ClientHello, ClientInfo, ClientMessage, SessionId};
use tokio_util::sync::CancellationToken;

use super::SessionStream;
use super::backoff::Backoff;
use super::dial::{Dial, Door, Which};
use super::place::Place;
use super::pump::Pump;
use super::queue::Queue;
use super::speaker::Speaker;
use crate::{Client, Error};

/// A stream that is about to be opened.
#[derive(Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct Follow {
    door: Door,
    after: Option<u64>,
    hello: ClientInfo,
    patience: Option<Duration>,
}

impl Client {
    /// Follows a session, from now on.
    pub fn follow(&self, session: &SessionId) -> Follow {
        Follow::new(self, Which::Session(session.clone()))
    }

    /// Follows what belongs to no session. Nothing of it is kept, so what happens while the connection is lost is missed.
    /// One that is able to show `dialogs` is told of all that are open after each [`Heard::Connected`](super::Heard).
    pub fn follow_all(&self) -> Follow {
        Follow::new(self, Which::Global)
    }
}

impl Follow {
    fn new(client: &Client, stream: Which) -> Self {
        let hello = ClientInfo {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // Nothing is lost on the way, so nobody needs the text so far with every token.
            capabilities: vec![ClientCapability::DeltaOnly],
        };
        Self { door: Door { client: client.clone(), stream }, after: None, hello, patience: None }
    }

    /// From after this event on; 0 for everything.
    pub fn after(mut self, seq: u64) -> Self {
        self.after = Some(seq);
        self
    }

    /// Under this name and version, as other clients see it.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.hello.name = name.into();
        self.hello.version = version.into();
        self
    }

    /// Able to do exactly this. Without `delta_only` every token comes with the whole reply before it.
    pub fn able_to(mut self, capabilities: impl IntoIterator<Item = ClientCapability>) -> Self {
        self.hello.capabilities = capabilities.into_iter().collect();
        self
    }

    /// Able to do this as well.
    pub fn also_able_to(mut self, capability: ClientCapability) -> Self {
        if !self.hello.capabilities.contains(&capability) {
            self.hello.capabilities.push(capability);
        }
        self
    }

    /// Gives up when a lost connection does not come back for so long; otherwise it is tried for ever.
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.patience = Some(time);
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// When the first connection fails; later ones are the stream's affair.
    pub async fn open(self) -> Result<SessionStream, Error> {
        let after = match (self.after, &self.door.stream) {
            (Some(after), _) => after,
            // "Now" has to be a number, or what happens while the first connection is lost would be missed.
            (None, Which::Session(id)) => self.door.client.session(id).await?.last_seq,
            (None, Which::Global) => 0,
        };
        let first = self.door.dial(after).await?;
        let hello = ClientMessage::Hello(ClientHello { client_info: self.hello }).encode();
        let pump = Settings { dial: self.door, hello, after, patience: self.patience };
        Ok(pump.start(first))
    }
}

/// What a stream needs for its whole life.
pub(super) struct Settings<D> {
    pub(super) dial: D,
    pub(super) hello: String,
    pub(super) after: u64,
    pub(super) patience: Option<Duration>,
}

impl<D: Dial + Sync> Settings<D> {
    /// Starts the stream on its first connection.
    pub(super) fn start(self, first: tokio_tungstenite::WebSocketStream<D::Io>) -> SessionStream {
        let (speaker, said) = Speaker::new();
        let (queue, heard) = Queue::new();
        let leave = CancellationToken::new();
        let pump = Pump {
            dial: self.dial,
            hello: self.hello,
            patience: self.patience,
            place: Place::new(self.after),
            backoff: Backoff::new(),
            queue,
            said,
            leave: leave.clone(),
        };
        let task = tokio::spawn(pump.run(first));
        SessionStream { queue: heard, speaker, leave, task }
    }
}
