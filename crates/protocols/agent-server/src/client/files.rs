//! `client.file_changes`: what the editor's watcher saw, for the index.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ContentHash, Timestamp};
use crate::message::Message;
use crate::words::open_words;

/// Files that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.file_changes")]
pub struct FileChanges {
    /// In the order they happened.
    pub changes: Vec<FileChange>,
}

impl Message for FileChanges {
    const TYPE: &'static str = "client.file_changes";
}

/// One file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// What happened.
    // Renamed because `type` is a Rust keyword.
    #[serde(rename = "type")]
    pub kind: FileChangeKind,
    /// Relative to the workspace root.
    pub file_path: String,
    /// What it holds now; a deleted file holds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<ContentHash>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

open_words! {
    /// What happened to a file. An unknown word costs one change, not the whole list.
    pub enum FileChangeKind {
        /// It is new.
        Created = "created",
        /// It holds something else.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
    }
}
