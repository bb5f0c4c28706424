//! The code index: its state, and changes sent to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::FileChange;
use crate::ids::Timestamp;
use crate::words::open_words;

/// How an index is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What the running build is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<IndexStep>,
    /// Files per second, since the step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Seconds to the end of the step at that rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<f64>,
    /// Whether builds, and the making of vectors, are held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Whether the last build was ended before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<bool>,
    /// How many files are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// What people should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Pieces of text that have a vector; absent when vector search is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<u64>,
}

open_words! {
    /// A step of a build.
    pub enum IndexStep {
        /// Looking which files there are.
        Walking = "walking",
        /// Words of files.
        Text = "text",
        /// Definitions and uses of names.
        Symbols = "symbols",
        /// Writing what was found.
        Writing = "writing",
    }
}

/// Files that are not in the index though the rules would have them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedList {
    /// By path.
    pub skipped: Vec<SkippedFile>,
}

/// A file that is not in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// Relative to the workspace root.
    pub file_path: String,
    /// Why, in words.
    pub reason: String,
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
