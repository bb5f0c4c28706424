//! Messages into intents: what clients want of a session.
//!
//! Knows what each message of a client asks for. Refuses to know sockets and files: what must be looked up on the disk
//! is looked up by whoever calls, and what the session thinks of it is the engine's answer.
//!
//! What always holds:
//! - a message is translated whole or refused with the field that does not fit;
//! - a no never leads to anything being written, and part of a yes never to more than it names.

mod answer;
mod context;
mod dialog;
mod heard;
mod hello;
mod message;
mod report;
mod slash;

#[cfg(test)]
mod tests;

pub(crate) use answer::answer;
pub(crate) use context::{Buffer, prompt, update};
pub(crate) use dialog::{dialog_answer, dialog_named, window_named};
pub(crate) use heard::Heard;
pub(crate) use hello::{Greeting, greeting, sorted};
pub(crate) use message::message;
pub(crate) use report::{changed_paths, command_report, leads_inside, patch_report};
