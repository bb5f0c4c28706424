//! Sessions as they are listed.

use crate::{ModelName, Preset, SessionId, Timestamp, WorkspaceId};

/// An event's place in its session's journal. It rises and need not be consecutive; 0 is before everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(pub u64);

/// What a listing shows of a session; a summary of its journal, kept beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Where it works.
    pub workspace: WorkspaceId,
    /// What people call it, if anybody has named it.
    pub title: Option<String>,
    /// The model it uses, if one was chosen for it.
    pub model: Option<ModelName>,
    /// The preset it was opened with, if not the workspace's.
    pub preset: Option<Preset>,
    /// When it was opened.
    pub created: Timestamp,
    /// When its last event happened.
    pub updated: Timestamp,
    /// Its last event.
    pub last_seq: Seq,
    /// Whether it has been closed for good.
    pub closed: bool,
}

/// What a session may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Tokens in all.
    pub tokens: Option<u64>,
    /// Cost in all, in millionths of a US dollar.
    pub micro_dollars: Option<u64>,
}
