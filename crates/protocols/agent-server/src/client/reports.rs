//! Answers: decisions about what the agent may do, and reports of what the client did for it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{ApprovalId, CommandId, ContentHash, PatchId};
use crate::message::Message;
use crate::words::open_words;

/// A decision. The first one for a question counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.approval_response")]
#[schemars(transform = scopes_name_their_target)]
pub struct ApprovalResponse {
    /// The question: a request, a command or a patch.
    pub request_id: ApprovalId,
    /// Yes or no.
    pub approved: bool,
    /// How far the decision reaches; absent means the one question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ApprovalScope>,
    /// Which file, when the scope is a file or a hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Which of the patch's hunks, from 0; only when the scope is a hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk_index: Option<u32>,
    /// Several of the patch's hunks, from 0, instead of one `hunk_index`; only when the scope is a hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk_indexes: Option<Vec<u32>>,
    /// Hunks of several files, instead of one `file_path` with its hunks; only when the scope is a hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<FileHunks>>,
    /// For how long the decision stands; absent means once. The question's own `remember` says what else there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
    /// What the model is to know about the decision: why not, or what to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl Message for ApprovalResponse {
    const TYPE: &'static str = "client.approval_response";
}

/// Some hunks of one file's change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileHunks {
    /// Which file.
    pub file_path: String,
    /// Which of its hunks, from 0; at least one.
    #[schemars(length(min = 1))]
    pub hunk_indexes: Vec<u32>,
}

/// The same rules as [`ApprovalResponse::check`].
fn scopes_name_their_target(schema: &mut Schema) {
    let given = |name: &str, kind: Value| json!({ "properties": { name: kind }, "required": [name] });
    let path = given("file_path", json!({ "type": "string" }));
    let absent = |name: &str| json!({ "properties": { name: { "type": "null" } } });
    let one = given("hunk_index", json!({ "type": "integer" }));
    let several = given("hunk_indexes", json!({ "type": "array", "minItems": 1 }));
    let in_files = given("hunks", json!({ "type": "array", "minItems": 1 }));
    let hunks = json!({ "anyOf": [
        { "allOf": [path, one, absent("hunk_indexes"), absent("hunks")] },
        { "allOf": [path, several, absent("hunk_index"), absent("hunks")] },
        { "allOf": [in_files, absent("file_path"), absent("hunk_index"), absent("hunk_indexes")] },
    ] });
    let rule = |scope: &str, then: Value| {
        json!({
            "if": { "properties": { "scope": { "const": scope } }, "required": ["scope"] },
            "then": then,
        })
    };
    let mut hunk = rule("hunk", hunks);
    hunk["else"] = json!({ "allOf": [absent("hunk_index"), absent("hunk_indexes"), absent("hunks")] });
    let rules = json!([rule("file", path), hunk]);
    schema.insert("allOf".to_owned(), rules);
}

/// How far a decision reaches. Closed: guessing here could approve more than was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// Every pending patch of the turn.
    All,
    /// One file.
    File,
    /// One or several hunks of one file, or of several.
    Hunk,
}

/// For how long a decision stands. Closed: guessing here could remember more than was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remember {
    /// This time.
    Once,
    /// Until the session ends.
    Session,
    /// In this workspace, until the policy is changed.
    Workspace,
}

/// What became of a patch the client applied itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.patch_apply_result")]
pub struct PatchApplyResult {
    /// The patch.
    pub patch_id: PatchId,
    /// Relative to the workspace root.
    pub file_path: String,
    /// Whether the file now holds the change.
    pub success: bool,
    /// Why not. Written as `null` when there is nothing to say: the specification's sample shows it so.
    #[serde(default)]
    pub error: Option<PatchApplyError>,
    /// What the file holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_hash: Option<ContentHash>,
}

impl Message for PatchApplyResult {
    const TYPE: &'static str = "client.patch_apply_result";
}

/// Why a patch could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchApplyError {
    /// In words.
    pub message: String,
    /// As a word to switch on.
    // Renamed because `type` is a Rust keyword.
    #[serde(rename = "type")]
    pub kind: PatchFailure,
}

open_words! {
    /// Why a patch could not be applied.
    pub enum PatchFailure {
        /// The file is not what the patch was made for.
        Conflict = "conflict",
    }
}

/// What became of a command the client ran in the user's terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.command_result")]
pub struct CommandResult {
    /// The command that was approved.
    pub command_id: CommandId,
    /// The command line that ran.
    pub command: String,
    /// How it ended; absent when a signal ended it or the terminal could not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it printed.
    #[serde(default)]
    pub stdout: String,
    /// What it complained about.
    #[serde(default)]
    pub stderr: String,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl Message for CommandResult {
    const TYPE: &'static str = "client.command_result";
}
