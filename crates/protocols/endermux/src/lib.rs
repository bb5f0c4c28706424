//! The Endermux console protocol as types and pure decisions, for transport epochs 15, 16 and 17.
//!
//! Knows the envelope and the sixteen messages, how a connection is negotiated, and in which order a server and a
//! client check what they get. Refuses to know frames, compression, sockets, tasks and clocks: bodies of frames come
//! in as bytes, and decisions go out as values.
//!
//! Choices that hold for the whole crate:
//! - message types are upper case with underscores, fields are camelCase, capability names are lower case;
//! - an absent `requestId` is omitted; `details`, `description` and `expectedTransportEpoch` are written as `null`
//!   when they have no value, because existing peers do so and some look for the key;
//! - reading is lenient where existing peers are (see [`Envelope`]), writing is exact;
//! - a text field that is absent or `null` reads as empty text, a number as 0 and a flag as false. Where a check needs
//!   to know that something was missing, the field is an `Option`.

mod answer;
mod capability;
mod client;
mod color;
mod dispatch;
mod envelope;
mod epoch;
mod error;
mod fault;
mod hello;
mod lenient;
mod log_text;
mod message;
mod message_type;
mod payload;
mod range;
mod reject;
mod request_id;
mod server;
mod table;

pub mod cursor;
pub mod limits;

pub use answer::{AnswerFailure, NotSent, answer, may_send};
pub use capability::{Capability, Selected};
pub use client::{ClientOffer, HandshakeFailure};
pub use color::ColorLevel;
pub use dispatch::{Refusal, Step, next_step};
pub use envelope::{Envelope, Payload, PayloadError, TypedPayload};
pub use epoch::{Epoch, Framing};
pub use error::DecodeError;
pub use fault::{Hook, HookFault};
pub use hello::{Hello, Welcome};
pub use log_text::write_log;
pub use message::Message;
pub use message_type::{Direction, MessageType};
pub use payload::{
    CandidateInfo, CommandExecute, CompletionRequest, CompletionResponse, Failure, InteractivityStatus,
    LogForward, LogSubscribe, ParseRequest, ParseResponse, Ping, Pong, SyntaxHighlightRequest,
    SyntaxHighlightResponse,
};
pub use range::VersionRange;
pub use reject::{Reject, RejectReason};
pub use request_id::RequestId;
pub use server::ServerOffer;
pub use table::MESSAGES;
