//! Workspaces: registered project directories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::IndexStatus;
use crate::ids::{Timestamp, WorkspaceId};

/// `POST /v1/workspaces/register`. Registering a known directory again answers with the one there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisterWorkspaceParams {
    /// The directory, absolute.
    pub root_path: String,
    /// What to call it; the directory's own name otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A registered project directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// Its id.
    pub workspace_id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// The directory's real path.
    pub root_path: String,
    /// When it was registered.
    pub created_at: Timestamp,
    /// Which revision of its policy is in force.
    pub policy_revision: u64,
    /// How its index is.
    pub index: IndexStatus,
    /// Whether its own files may loosen anything; absent from servers that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
}

/// `GET /v1/workspaces`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspacePage {
    /// This page's workspaces.
    pub workspaces: Vec<Workspace>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
