//! JSON-RPC 2.0 as values: what a message is, never how it travels.
//!
//! Knows the envelope, request ids, error objects and the tables in which a protocol lists its
//! methods. Refuses to know bytes on a stream, time, tasks and any particular protocol's methods.
//!
//! What always holds:
//! - a request id is written back exactly as it came: `7`, `"7"`, `7.0` and `null` stay four different ids;
//! - reading happens in two steps, the envelope first and the parameters when the method is known, so that
//!   an answer to bad input can name the method and the field;
//! - where protocols disagree about the letter of the standard, the disagreement is a [`Dialect`] value.

mod dialect;
mod envelope;
mod error;
mod field;
mod id;
mod json;
mod method;
mod presume;
mod write;

pub use dialect::{
    AbsentParams, Batches, Dialect, EmptyParams, Encoding, Malformed, NullId, OrphanErrors, Version,
};
pub use envelope::{Body, Incoming, Invalid, ReadError, read};
pub use error::{ErrorObject, codes};
pub use field::{FieldError, decode};
pub use id::RequestId;
pub use json::{Json, canonical, exceeds_depth};
pub use method::{Kind, MessageInfo, Method, MethodInfo, NoParams, Notification, Order, Origin};
pub use presume::{Presumed, presume};
pub use write::{
    AsciiFormatter, write_batch, write_error, write_json, write_notification, write_request, write_response,
};
