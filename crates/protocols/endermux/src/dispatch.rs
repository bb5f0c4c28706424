//! What a server does with a message of a session before anybody handles it.
//!
//! The checks come in one fixed order and the first that fits decides. No refusal ends the session.

use crate::capability::{Capability, Selected};
use crate::message_type::{Direction, MessageType};
use crate::{Envelope, Failure, Message, Payload, Pong};

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send this and nothing more.
    Reply(Box<Envelope<Message>>),
    /// Forward log lines to this client from now on. There is no reply, whether or not it gave an id.
    Subscribe,
    /// Hand the message to the one who handles its type.
    Handle,
}

/// Why a message of a session is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The type needs an id and the message has none.
    #[error("Missing requestId for message type: {0}")]
    MissingRequestId(MessageType),
    /// The type belongs to a capability that was not negotiated.
    #[error("Capability not negotiated: {0}")]
    NotNegotiated(Capability),
    /// Only servers send this type.
    #[error("Invalid message direction: {0}")]
    Direction(MessageType),
    /// Commands cannot be given now.
    #[error("Interactivity is currently unavailable")]
    Unavailable,
    /// The type has no place in a session: a second `HELLO`.
    #[error("Unknown message type: {0}")]
    UnknownType(MessageType),
}

impl Refusal {
    /// The `ERROR` that tells the client, under the id of its message if that had one.
    pub fn answer(self, to: &Envelope<Message>) -> Envelope<Message> {
        Envelope::answering(to, Message::Error(Failure::new(self.to_string())))
    }
}

/// Decides what to do with a message of a session.
pub fn next_step(selected: &Selected, interactive: bool, message: &Envelope<Message>) -> Step {
    if message.data.message_type() == MessageType::Ping && message.request_id.is_some() {
        return Step::Reply(Box::new(Envelope::answering(message, Message::Pong(Pong {}))));
    }
    match refusal(selected, interactive, message) {
        Some(refusal) => Step::Reply(Box::new(refusal.answer(message))),
        None if message.data.message_type() == MessageType::LogSubscribe => Step::Subscribe,
        None => Step::Handle,
    }
}

fn refusal(selected: &Selected, interactive: bool, message: &Envelope<Message>) -> Option<Refusal> {
    let kind = message.data.message_type();
    if kind.requires_request_id() && message.request_id.is_none() {
        return Some(Refusal::MissingRequestId(kind));
    }
    // Before the direction, so that also an answer of an unknown capability is refused for the capability.
    if let Some(capability) = kind.capability().filter(|capability| !selected.has(*capability)) {
        return Some(Refusal::NotNegotiated(capability));
    }
    if kind.direction() == Direction::ToClient {
        return Some(Refusal::Direction(kind));
    }
    if kind.is_gated() && !interactive {
        return Some(Refusal::Unavailable);
    }
    (kind == MessageType::Hello).then_some(Refusal::UnknownType(kind))
}
