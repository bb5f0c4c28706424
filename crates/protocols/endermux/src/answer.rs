//! The client's rules for requests: which it may send, and what counts as their answer.

use crate::capability::{Capability, Selected};
use crate::envelope::{Payload, TypedPayload};
use crate::{Envelope, Failure, Message, MessageType};

/// Why a message is not even sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// Its capability was not negotiated.
    #[error("the server has no capability `{0}`")]
    NotNegotiated(Capability),
    /// Commands cannot be given now.
    #[error("the server takes no commands now")]
    Unavailable,
}

/// Why a request got no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFailure {
    /// The server says so.
    #[error("{}", .0.text())]
    Failed(Failure),
    /// The answer is of another type than the request has.
    #[error("expected {expected}, got {found}")]
    OtherType {
        /// The type it should have.
        expected: MessageType,
        /// The type it has.
        found: MessageType,
    },
}

/// Whether a client may send a message of that type now. Until a status arrives, interactivity counts as unavailable.
///
/// # Errors
/// [`NotSent`] when it may not.
pub fn may_send(selected: &Selected, interactive: bool, kind: MessageType) -> Result<(), NotSent> {
    if let Some(capability) = kind.capability().filter(|capability| !selected.has(*capability)) {
        return Err(NotSent::NotNegotiated(capability));
    }
    if kind.is_gated() && !interactive { Err(NotSent::Unavailable) } else { Ok(()) }
}

/// Takes the result from the message that carries a request's id.
///
/// # Errors
/// [`AnswerFailure`] when it is an `ERROR` or of another type.
pub fn answer<P: TypedPayload>(message: Envelope<Message>) -> Result<P, AnswerFailure> {
    match P::from_message(message.data) {
        Ok(result) => Ok(result),
        Err(Message::Error(failure)) => Err(AnswerFailure::Failed(failure)),
        Err(other) => Err(AnswerFailure::OtherType { expected: P::TYPE, found: other.message_type() }),
    }
}
