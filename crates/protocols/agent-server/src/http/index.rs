//! The code index: its state, and changes sent to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::FileChange;
use crate::ids::Timestamp;
use crate::words::open_words;

/// How an index is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatus {
    /// In one word.
    pub state: IndexState,
    /// Files in it.
    pub files: u64,
    /// Symbols in it.
    pub symbols: u64,
    /// Pieces of text in it.
    pub chunks: u64,
    /// Its size on disk.
    pub bytes: u64,
    /// Files done by the running build, or by the last one.
    pub done: u64,
    /// Files that build had to do.
    pub total: u64,
    /// When the running build, or the last one, began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the last build ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Why the last build failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

open_words! {
    /// How an index is, in one word.
    pub enum IndexState {
        /// Nothing was ever built.
        Empty = "empty",
        /// A build is running; searches see the last finished state.
        Building = "building",
        /// Up to date.
        Ready = "ready",
        /// Usable, but behind the files.
        Stale = "stale",
        /// The last build failed.
        Failed = "failed",
    }
}

/// `POST …/index/incremental`: the same changes as in `client.file_changes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesParams {
    /// In the order they happened.
    pub changes: Vec<FileChange>,
}

/// Which changes the index took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesResult {
    /// How many.
    pub accepted: u64,
    /// The others.
    #[serde(default)]
    pub rejected: Vec<RejectedChange>,
}

/// A change the index did not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedChange {
    /// The path as it came.
    pub file_path: String,
    /// Why, in words.
    pub reason: String,
}
