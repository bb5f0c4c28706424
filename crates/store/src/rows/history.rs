//! Rows about going back: checkpoints, undo, redo, and summaries of old history.
//!
//! Knows what is stored of them. Refuses to know what a checkpoint holds.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{CheckpointId, EventBody, Seq, Usage};
use serde::{Deserialize, Serialize};

use crate::rows::file::StoredFileChange;
use crate::rows::parts::{StoredActor, StoredUsage, Str, Text, unlist};

#[derive(Serialize, Deserialize)]
pub(super) struct CheckpointTaken {
    pub(super) checkpoint: Text<CheckpointId>,
}

impl From<CheckpointTaken> for EventBody {
    fn from(row: CheckpointTaken) -> Self {
        let CheckpointTaken { checkpoint } = row;
        Self::CheckpointTaken { checkpoint: checkpoint.0 }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Undone<'a> {
    pub(super) checkpoint: Text<CheckpointId>,
    pub(super) files: Vec<StoredFileChange<'a>>,
    pub(super) by: StoredActor<'a>,
}

impl From<Undone<'_>> for EventBody {
    fn from(row: Undone<'_>) -> Self {
        let Undone { checkpoint, files, by } = row;
        Self::Undone { checkpoint: checkpoint.0, files: unlist(files), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Redone<'a> {
    pub(super) checkpoint: Text<CheckpointId>,
    pub(super) files: Vec<StoredFileChange<'a>>,
    pub(super) by: StoredActor<'a>,
}

impl From<Redone<'_>> for EventBody {
    fn from(row: Redone<'_>) -> Self {
        let Redone { checkpoint, files, by } = row;
        Self::Redone { checkpoint: checkpoint.0, files: unlist(files), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct HistoryCompacted<'a> {
    pub(super) through: u64,
    pub(super) summary: Str<'a>,
    /// Absent if nothing was used, and in rows of a version that did not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<StoredUsage>,
}

impl From<HistoryCompacted<'_>> for EventBody {
    fn from(row: HistoryCompacted<'_>) -> Self {
        let HistoryCompacted { through, summary, usage } = row;
        let usage = usage.map_or(Usage::NONE, Into::into);
        Self::HistoryCompacted { through: Seq(through), summary: summary.into(), usage }
    }
}
