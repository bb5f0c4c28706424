//! A text as a message, and in plain words why it is none.
//!
//! The words are those of the bodies of requests: where the fault is, what must be there, and what may have been meant.

use loggia_jsonrpc::FieldError;
use loggia_protocol_agent_server::{
    CLIENT, ClientMessage, DecodeError, ErrorBody, InvalidMessageDetails, MESSAGES, Message, ReadFields,
    WindowClosed,
};
use serde::de::IgnoredAny;

use crate::{body, nearest};

/// Reads a message.
pub(crate) fn message(text: &str) -> Result<ClientMessage, ErrorBody> {
    ClientMessage::decode_with(text, &OurWords).map_err(|error| complaint(text, &error))
}

struct OurWords;

impl ReadFields for OurWords {
    fn read_fields<M: Message>(&self, text: &str) -> Result<M, FieldError> {
        body::read_message(text).map_err(|fault| {
            let whole = FieldError::whole(fault.message().to_owned());
            fault.steps().fold(whole, FieldError::inside)
        })
    }
}

/// The protocol's own complaint, with a hint where we have one.
fn complaint(text: &str, error: &DecodeError) -> ErrorBody {
    let plain = error.to_server_error().error;
    let (message, expected) = match error {
        DecodeError::NotJson { .. } => {
            let fault = serde_json::from_str::<IgnoredAny>(text).err();
            let why =
                fault.map_or_else(|| "it cannot be read".to_owned(), |fault| body::why_not_json(&fault));
            (format!("not JSON: {why}"), format!("one JSON object; this is none: {why}"))
        }
        DecodeError::UnknownType { name } => {
            let clients = MESSAGES.iter().filter(|row| row.sender == CLIENT).map(|row| row.name);
            // Both sides send it.
            let known: Vec<&str> = clients.chain([WindowClosed::TYPE]).collect();
            let (name, hint) = (nearest::start(name), nearest::hint(name, &known));
            (
                format!("unknown message type `{name}`; {hint}"),
                format!("a message that a client sends, not `{name}`; {hint}"),
            )
        }
        _ => return plain,
    };
    let details = InvalidMessageDetails { pointer: error.pointer(), expected };
    ErrorBody { message, details: Some(details.into()), ..plain }
}
