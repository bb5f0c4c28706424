//! Events into messages: what the stream and the list of events say.
//!
//! Knows what each fact of the engine is called on the wire. Refuses to know sockets and time: facts in, messages out,
//! and the same facts give the same messages, whoever asks and however often it was cut off before.
//!
//! What always holds:
//! - what an event becomes depends on the events before it alone, so a resumed stream says what the first one said;
//! - all messages of one event carry its number, and they are never told apart;
//! - the reply's text, thinking and a command's output have no number: they pass.

mod dialog;
mod ends;
mod error;
mod journal;
pub(crate) mod moment;
mod names;
mod notice;
mod passing;
mod past;
mod question;
mod state;
mod teller;
mod tool;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use dialog::{news, unanswered};
pub(crate) use error::{fault, invalid, refusal};
pub(crate) use journal::listed;
pub(crate) use names::COMMAND_PREFIX;
pub(crate) use notice::presence;
pub(crate) use past::Past;
pub(crate) use question::pending;
pub(crate) use state::{dollars, snapshot, state, usage};
pub(crate) use teller::{Arrival, Listener, Manners, Teller};
