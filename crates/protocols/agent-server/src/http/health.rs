//! `GET /v1/health`: whether the server works. It needs no token, so it tells no paths and no secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::open_words;

/// Whether the server works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// In one word.
    pub status: HealthStatus,
    /// The server's version.
    pub version: String,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// Which control version it speaks; 0 if it is from before there was one.
    #[serde(default)]
    pub control: u32,
    /// Part by part.
    pub checks: HealthChecks,
}

/// The control version: what the command line and a server of the same machine must agree on. It counts up when an older
/// one of the two would no longer understand the other.
pub const CONTROL_VERSION: u32 = 1;

open_words! {
    /// Whether the server works, in one word.
    pub enum HealthStatus {
        /// All of it.
        Ok = "ok",
        /// Some of it.
        Degraded = "degraded",
    }
}

/// The parts that can fail on their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthChecks {
    /// The journals.
    pub store: CheckState,
    /// The code index.
    pub index: CheckState,
    /// The default model.
    pub model: CheckState,
}

open_words! {
    /// How a part is.
    pub enum CheckState {
        /// Works.
        Ok = "ok",
        /// Works in part, or slowly.
        Degraded = "degraded",
        /// Does not work.
        Failed = "failed",
        /// Nothing is set up, which is not a fault.
        Absent = "absent",
    }
}
