//! `GET /v1/doctor`: what is set up, what works, and what to do about the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::CheckState;

/// Everything that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// The server's version.
    #[serde(default)]
    pub version: String,
    /// In the order of looking.
    pub checks: Vec<DoctorCheck>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What.
    pub name: String,
    /// How it is.
    pub state: CheckState,
    /// In words.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
