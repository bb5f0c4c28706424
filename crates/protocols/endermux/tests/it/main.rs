//! What a reader of the protocol may rely on, in one test binary.

#![allow(clippy::unwrap_used, reason = "whatever fails here fails a test")]

mod answers;
mod client_handshake;
mod cursor;
mod decoding;
mod dispatch;
mod encoding;
mod golden;
mod limits;
mod message_types;
mod ranges;
mod server_handshake;

use loggia_protocol_endermux::{Envelope, Message};

/// Reads a message of any type.
fn message(text: &str) -> Envelope<Message> {
    Envelope::decode(text.as_bytes()).unwrap()
}

/// Writes a message as text.
fn text(message: &Envelope<Message>) -> String {
    String::from_utf8(message.encode().unwrap()).unwrap()
}
