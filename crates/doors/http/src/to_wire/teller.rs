//! What one client is told: the journal from where it left off, then what happens, in its own manner.
//!
//! Pure: what the engine tells goes in, texts of messages come out.
//!
//! What always holds:
//! - a client hears every message of every event after the one it named, and none of those before;
//! - what only passes is told while it happens and not of the past, but for the text of replies that have no message
//!   of their own: one who was not there gets each as one piece;
//! - nobody hears its own words;
//! - a client that is to do something is called by its own name, and another one of that name is not, so that nothing
//!   is done twice.

use std::collections::BTreeSet;

use loggia_domain::{
    Actor, AssistantMessage, Client, ClientId, Event, EventBody, Executor, MessageId, Passing, Seq,
};
use loggia_engine::{ReplyPiece, Told};
use loggia_protocol_agent_server::{ServerMessage, Token, ToolExecute};

use crate::to_wire::past::Past;
use crate::to_wire::{journal, passing};

/// How a client wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manners {
    /// Without the text so far in every piece of a reply.
    pub(crate) delta_only: bool,
}

/// What one client is told.
#[derive(Debug)]
pub(crate) struct Teller {
    past: Past,
    listener: Listener,
    manners: Manners,
    /// The last event the client knows.
    after: Seq,
    /// The last event there was when it came.
    came: Seq,
    /// The reply it is being told, and the text of it so far.
    reply: Option<MessageId>,
    text: String,
}

/// Who is told.
#[derive(Debug)]
pub(crate) struct Listener {
    id: ClientId,
    name: String,
    /// Others who are there and go by the same name: another window of the same editor.
    namesakes: BTreeSet<ClientId>,
}

impl Listener {
    /// A client among all that are on the session.
    pub(crate) fn new(client: &Client, there: &[Client]) -> Self {
        let mut listener = Self { id: client.id, name: client.name.clone(), namesakes: BTreeSet::new() };
        there.iter().for_each(|other| listener.meet(other));
        listener
    }

    fn meet(&mut self, other: &Client) {
        if other.id != self.id && other.name == self.name {
            self.namesakes.insert(other.id);
        }
    }
}

impl Teller {
    /// For a client that came when `came` was the last event and knows everything up to `after`; the events that
    /// follow are those after `past`.
    pub(crate) fn new(past: Past, listener: Listener, manners: Manners, after: Seq, came: Seq) -> Self {
        Self { past, listener, manners, after, came, reply: None, text: String::new() }
    }

    /// What has been told so far.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// The texts of the messages that tell it.
    pub(crate) fn tell(&mut self, told: &Told) -> Vec<String> {
        match told {
            Told::Event(event) => self.event(event),
            Told::Reply(piece) => self.piece(piece),
            Told::Passing(news) => {
                match &**news {
                    Passing::ClientJoined { client } => self.listener.meet(client),
                    Passing::ClientLeft { client } => drop(self.listener.namesakes.take(&client.id)),
                    _ => {}
                }
                passing::passing(news).iter().map(ServerMessage::encode).collect()
            }
        }
    }

    fn event(&mut self, event: &Event) -> Vec<String> {
        if event.seq <= self.after {
            self.past.apply(event);
            return Vec::new();
        }
        let mut texts = Vec::new();
        if event.seq > self.came {
            texts.extend(passing::thinking(event, &self.past).map(|thinking| thinking.encode()));
        }
        if let EventBody::MessageEnded { message, cut, .. } = &event.body {
            texts.extend(self.reply_ended(message, *cut));
        }
        let own = self.is_own(&event.body);
        let mut messages = journal(event, &mut self.past);
        if let EventBody::ToolStarted { executor: Executor::Client(client), .. } = event.body
            && self.listener.namesakes.contains(&client)
        {
            messages.iter_mut().for_each(disown);
        }
        let told =
            messages.iter().filter(|message| !(own && matches!(message, ServerMessage::ClientEcho(_))));
        texts.extend(told.map(ServerMessage::encode));
        texts
    }

    fn piece(&mut self, piece: &ReplyPiece) -> Vec<String> {
        let mut texts = Vec::new();
        if !piece.thought.is_empty() {
            texts.push(passing::thought(&piece.thought).encode());
        }
        if self.reply != Some(piece.message) {
            self.reply = Some(piece.message);
            self.text.clear();
        }
        if !piece.text.is_empty() {
            texts.push(self.token(piece.text.clone()));
        }
        texts
    }

    /// The text of a reply that was not told piece by piece and is not the turn's last one.
    fn reply_ended(&mut self, message: &AssistantMessage, cut: bool) -> Option<String> {
        let unheard = self.reply.take() != Some(message.id);
        let whole = (unheard && !cut && !message.calls.is_empty() && !message.text.is_empty()).then(|| {
            self.text.clear();
            self.token(message.text.clone())
        });
        self.text = String::new();
        whole
    }

    fn token(&mut self, token: String) -> String {
        if self.manners.delta_only {
            return ServerMessage::Token(Token { token, cumulative_text: None }).encode();
        }
        self.text.push_str(&token);
        // Lent for the writing: a copy of the whole for every piece would be dear.
        let message =
            ServerMessage::Token(Token { token, cumulative_text: Some(std::mem::take(&mut self.text)) });
        let encoded = message.encode();
        if let ServerMessage::Token(Token { cumulative_text: Some(text), .. }) = message {
            self.text = text;
        }
        encoded
    }

    fn is_own(&self, body: &EventBody) -> bool {
        match body {
            EventBody::TurnStarted { by, .. } | EventBody::InstructionQueued { by, .. } => {
                matches!(by, Actor::Client { id, .. } if *id == self.listener.id)
            }
            _ => false,
        }
    }
}

/// Makes it clear that another client is meant.
fn disown(message: &mut ServerMessage) {
    if let ServerMessage::ToolExecute(ToolExecute { executor: Some(name), .. }) = message {
        name.push_str(" (another)");
    }
}
