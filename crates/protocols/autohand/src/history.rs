//! Saved sessions: list them, read one, go on with one. Beyond the specification.

use loggia_jsonrpc::{Method, Order};
use serde::{Deserialize, Serialize};

use crate::{HistoryMessage, SessionId, Timestamp, limits::HISTORY_PAGE_SIZE, whole};

/// Lists saved sessions, a page at a time.
#[derive(Debug)]
pub struct GetHistory;

impl Method for GetHistory {
    const NAME: &'static str = "autohand.getHistory";
    type Params = GetHistoryParams;
    type Result = GetHistoryResult;
}

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetHistoryParams {
    /// Counted from 1, which is also what absent means.
    #[serde(default, deserialize_with = "whole::optional_unsigned", skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Sessions per page.
    #[serde(default, deserialize_with = "whole::optional_unsigned", skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

impl GetHistoryParams {
    /// The page and its size, with defaults for what is absent or zero.
    pub fn page_and_size(&self) -> (u64, u64) {
        let or = |value: Option<u64>, default| value.filter(|value| *value > 0).unwrap_or(default);
        (or(self.page, 1), or(self.page_size, HISTORY_PAGE_SIZE))
    }
}

/// One page of saved sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetHistoryResult {
    /// The sessions.
    pub sessions: Vec<SessionSummary>,
    /// The page.
    pub current_page: u64,
    /// How many pages there are; at least 1.
    pub total_pages: u64,
    /// How many sessions there are.
    pub total_items: u64,
}

/// A saved session in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub session_id: SessionId,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_active_at: Timestamp,
    /// The project it was about.
    pub project_name: String,
    /// The model it used.
    pub model: String,
    /// Messages in it.
    pub message_count: u64,
    /// How it stands.
    pub status: SessionStatus,
}

/// How a saved session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionStatus {
    /// It is in use.
    Active,
    /// It was ended.
    Completed,
    /// It was cut off.
    Crashed,
}

/// Reads a saved session.
#[derive(Debug)]
pub struct GetSession;

impl Method for GetSession {
    const NAME: &'static str = "autohand.getSession";
    type Params = GetSessionParams;
    type Result = GetSessionResult;
}

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSessionParams {
    /// Its id.
    pub session_id: SessionId,
}

/// A saved session, or why it could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSessionResult {
    /// Whether it was read.
    pub success: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The session; its fields stand beside `success`.
    #[serde(flatten)]
    pub session: Option<SessionDetails>,
}

impl GetSessionResult {
    /// The session that was asked for.
    pub fn found(session: SessionDetails) -> Self {
        Self { success: true, error: None, session: Some(session) }
    }

    /// There is no such session, or it cannot be read.
    pub fn failed(error: impl Into<String>) -> Self {
        Self { success: false, error: Some(error.into()), session: None }
    }
}

/// A saved session in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetails {
    /// Its id.
    pub session_id: SessionId,
    /// The project it was about.
    pub project_name: String,
    /// The model it used.
    pub model: String,
    /// Messages in it.
    pub message_count: u64,
    /// How it stands.
    pub status: SessionStatus,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_active_at: Timestamp,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Its messages, oldest first.
    pub messages: Vec<HistoryMessage>,
    /// The workspace's path.
    pub workspace_root: String,
}

/// Goes on with a saved session on this connection.
#[derive(Debug)]
pub struct SessionAttach;

impl Method for SessionAttach {
    const NAME: &'static str = "autohand.session.attach";
    const ORDER: Order = Order::Ordered;
    type Params = SessionAttachParams;
    type Result = SessionAttachResult;
}

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAttachParams {
    /// Its id.
    pub session_id: SessionId,
}

/// The session in use now, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAttachResult {
    /// Whether it goes on here.
    pub success: bool,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The workspace's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// Messages in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
