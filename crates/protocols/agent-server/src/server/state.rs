//! `session.state`: what is open and what is done, sent whenever it changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ApprovalId, PatchId};
use crate::message::Message;
use crate::server::Stamp;

/// The session's state has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session.state")]
pub struct SessionStateUpdate {
    /// The state as it is now, whole.
    pub state: SessionState,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for SessionStateUpdate {
    const TYPE: &'static str = "session.state";
}

/// What is open and what is done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    /// Patches that wait for a decision.
    #[serde(default)]
    pub pending_patches: Vec<PatchId>,
    /// Patches in the files.
    #[serde(default)]
    pub applied_patches: Vec<PatchId>,
    /// Questions that wait for an answer, about tools and commands.
    #[serde(default)]
    pub pending_approvals: Vec<ApprovalId>,
    /// The plan's running step, from 1; 0 when there is no plan.
    #[serde(default)]
    pub current_step: u32,
    /// How many steps the plan has; 0 when there is none.
    #[serde(default)]
    pub total_steps: u32,
}
