//! `patch.proposed`: a change to one file, as a git-style unified diff and as its hunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::PatchId;
use crate::message::Message;
use crate::server::Stamp;

/// A proposed change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "patch.proposed")]
pub struct PatchProposed {
    /// The patch's name.
    pub patch_id: PatchId,
    /// Relative to the workspace root.
    pub file_path: String,
    /// The whole change as a unified diff with `a/` and `b/` paths.
    pub diff: String,
    /// Why this change; never empty.
    pub rationale: String,
    /// How to see that it is right.
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    /// Whether the patch waits for an answer, or the policy has given it already.
    pub requires_approval: bool,
    /// The change piece by piece; each can be accepted alone.
    #[serde(default)]
    pub hunks: Vec<Hunk>,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for PatchProposed {
    const TYPE: &'static str = "patch.proposed";
}

/// One piece of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hunk {
    /// Its first line in the old file, from 1; 0 when the old file is empty.
    pub old_start: u32,
    /// How many lines of the old file it covers.
    pub old_lines: u32,
    /// Its first line in the new file.
    pub new_start: u32,
    /// How many lines of the new file it covers.
    pub new_lines: u32,
    /// Its lines, each with its sign, without the `@@` line.
    pub content: String,
}
