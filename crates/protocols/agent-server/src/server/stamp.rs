//! The place of a message in the session's journal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Timestamp, TurnId};

/// What a durable message carries beside its own fields, in the same object.
///
/// Empty in messages that only pass by. Several messages that tell of one event share its `seq`; numbers rise
/// and may leave gaps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stamp {
    /// The event's number; a stream resumes after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}
