//! `session.notice`: what happened to a session beside its turns, so that every screen can say so and by whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::message::Message;
use crate::server::Stamp;
use crate::words::open_words;

/// Something happened to the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session.notice")]
pub struct SessionNotice {
    /// What.
    pub kind: NoticeKind,
    /// Who did it: the name that client gave in its hello, else `server` or `policy`.
    pub by: String,
    /// In words, for a screen.
    pub message: String,
    /// Which session; only on the stream that belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The new title, when it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new model, when it was changed; the model that replies, when it was switched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The files that changed by undoing or redoing, relative to the workspace root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Its place in the journal. Who comes and goes only passes, and has none.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for SessionNotice {
    const TYPE: &'static str = "session.notice";
}

open_words! {
    /// What happened.
    pub enum NoticeKind {
        /// It got another title.
        Renamed = "renamed",
        /// It got another model.
        ModelChanged = "model_changed",
        /// Another model replies, because the session's does not.
        ModelSwitched = "model_switched",
        /// A turn's changes were taken back.
        Undone = "undone",
        /// What was undone was put back.
        Redone = "redone",
        /// A turn that was cut goes on.
        Continued = "continued",
        /// It ended for good.
        Closed = "closed",
        /// Something happened to the task that the session is for.
        Task = "task",
        /// A client came.
        Joined = "joined",
        /// A client went.
        Left = "left",
    }
}
