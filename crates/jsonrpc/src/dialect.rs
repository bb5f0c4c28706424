//! Where protocols read the standard differently, as plain values.
//!
//! A protocol crate states its dialect once as a constant; nothing else in the workspace asks
//! "which protocol is this?" to decide how an envelope is read or written.

use crate::FieldError;

/// How one protocol reads and writes JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What `"id": null` on a call means.
    pub null_id: NullId,
    /// Whether `"jsonrpc": "2.0"` must be there.
    pub version: Version,
    /// Whether arrays of messages are served.
    pub batches: Batches,
    /// Whether input that is not a message gets an answer.
    pub malformed: Malformed,
    /// What a call without `params` means to the one who serves it.
    pub absent_params: AbsentParams,
    /// How we write a call that has nothing to say.
    pub empty_params: EmptyParams,
    /// Which characters we let onto the wire.
    pub encoding: Encoding,
    /// What an error answer that names no call means.
    pub orphan_errors: OrphanErrors,
}

/// What `"id": null` on a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullId {
    /// A request; it is answered with `"id": null`.
    Request,
    /// Not a valid message.
    Invalid,
}

/// Whether `"jsonrpc": "2.0"` must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A message without it is invalid.
    Required,
    /// Peers that forget it are understood all the same.
    Optional,
}

/// Whether arrays of messages are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batches {
    /// Members run at the same time; one array answers those that had ids, in their order.
    Served,
    /// The protocol has none: an array is an invalid message.
    Refused,
}

/// Whether input that is not a message gets an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Broken JSON gets −32700 and a wrong shape −32600, both with `"id": null`.
    Answered,
    /// It is logged and skipped: the peer would not know what to do with an answer.
    Skipped,
}

/// What a call without `params` means to the one who serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentParams {
    /// Absent, `null` and `[]` all mean `{}`.
    Empty,
    /// Absent and `null` are −32602, even where every field is optional.
    Refused,
}

/// How we write a call that has nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyParams {
    /// `"params": {}`, for peers that index into it without looking.
    Object,
    /// No `params` key.
    Omitted,
}

/// Which characters we let onto the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 as it is.
    Utf8,
    /// Everything outside ASCII as `\uXXXX`, so that bytes and characters count the same.
    Ascii,
}

/// What an error answer that names no call (`"id": null` or no id) means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanErrors {
    /// It is counted and logged.
    Logged,
    /// It fails the only call in flight when there is exactly one; otherwise it is logged.
    FailTheOnlyCall,
}

impl Dialect {
    /// What a call's parameters are to the one who serves it: their text, or what their absence means.
    ///
    /// # Errors
    /// When they are absent and that is refused.
    pub fn params<'a>(&self, given: Option<&'a str>) -> Result<&'a str, FieldError> {
        match (given, self.absent_params) {
            (None | Some("null" | "[]"), AbsentParams::Empty) => Ok("{}"),
            (None | Some("null"), AbsentParams::Refused) => {
                Err(FieldError::whole("`params` must be an object"))
            }
            (Some(text), _) => Ok(text),
        }
    }

    /// The standard as it is written: batches served, malformed input answered, UTF-8 out.
    pub const STANDARD: Self = Self {
        null_id: NullId::Request,
        version: Version::Required,
        batches: Batches::Served,
        malformed: Malformed::Answered,
        absent_params: AbsentParams::Empty,
        empty_params: EmptyParams::Omitted,
        encoding: Encoding::Utf8,
        orphan_errors: OrphanErrors::Logged,
    };
}
