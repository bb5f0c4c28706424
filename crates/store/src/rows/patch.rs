//! Rows about proposed changes to files, one by one and collected.
//!
//! Knows what is stored of a patch and what became of it. Refuses to read diffs: they are text here.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    BatchId, CallId, ContentHash, EventBody, FileChangeKind, Hunk, Patch, PatchFailure, PatchId,
};
use serde::{Deserialize, Serialize};

use crate::rows::file::StoredFileChange;
use crate::rows::parts::{Str, Text, list, unlist};
use crate::rows::tool::StoredExecutor;

#[derive(Serialize, Deserialize)]
pub(super) struct PatchProposed<'a> {
    pub(super) patch: StoredPatch<'a>,
}

impl From<PatchProposed<'_>> for EventBody {
    fn from(row: PatchProposed<'_>) -> Self {
        let PatchProposed { patch } = row;
        Self::PatchProposed { patch: patch.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct PatchApplied<'a> {
    pub(super) patch: Text<PatchId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hunks: Option<Vec<usize>>,
    pub(super) executor: StoredExecutor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) change: Option<StoredFileChange<'a>>,
}

impl From<PatchApplied<'_>> for EventBody {
    fn from(row: PatchApplied<'_>) -> Self {
        let PatchApplied { patch, hunks, executor, change } = row;
        let change = change.map(Into::into);
        Self::PatchApplied { patch: patch.0, hunks, executor: executor.into(), change }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct PatchDropped<'a> {
    pub(super) patch: Text<PatchId>,
    pub(super) failure: StoredPatchFailure<'a>,
}

impl From<PatchDropped<'_>> for EventBody {
    fn from(row: PatchDropped<'_>) -> Self {
        let PatchDropped { patch, failure } = row;
        Self::PatchDropped { patch: patch.0, failure: failure.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct BatchStarted {
    pub(super) batch: Text<BatchId>,
}

impl From<BatchStarted> for EventBody {
    fn from(row: BatchStarted) -> Self {
        let BatchStarted { batch } = row;
        Self::BatchStarted { batch: batch.0 }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ChangeCollected {
    pub(super) batch: Text<BatchId>,
    pub(super) patch: Text<PatchId>,
}

impl From<ChangeCollected> for EventBody {
    fn from(row: ChangeCollected) -> Self {
        let ChangeCollected { batch, patch } = row;
        Self::ChangeCollected { batch: batch.0, patch: patch.0 }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct BatchEnded {
    pub(super) batch: Text<BatchId>,
}

impl From<BatchEnded> for EventBody {
    fn from(row: BatchEnded) -> Self {
        let BatchEnded { batch } = row;
        Self::BatchEnded { batch: batch.0 }
    }
}

/// A proposed change to one file.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPatch<'a> {
    id: Text<PatchId>,
    call: Text<CallId>,
    path: Str<'a>,
    kind: Text<FileChangeKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<Text<ContentHash>>,
    diff: Str<'a>,
    hunks: Vec<StoredHunk<'a>>,
    rationale: Str<'a>,
    acceptance_criteria: Vec<Str<'a>>,
}

impl<'a> From<&'a Patch> for StoredPatch<'a> {
    fn from(patch: &'a Patch) -> Self {
        let Patch { id, call, path, kind, base, diff, hunks, rationale, acceptance_criteria } = patch;
        Self {
            id: Text(*id),
            call: Text(*call),
            path: path.into(),
            kind: Text(*kind),
            base: base.map(Text),
            diff: diff.into(),
            hunks: list(hunks),
            rationale: rationale.into(),
            acceptance_criteria: list(acceptance_criteria),
        }
    }
}

impl From<StoredPatch<'_>> for Patch {
    fn from(row: StoredPatch<'_>) -> Self {
        let StoredPatch { id, call, path, kind, base, diff, hunks, rationale, acceptance_criteria } = row;
        Self {
            id: id.0,
            call: call.0,
            path: path.into(),
            kind: kind.0,
            base: base.map(|base| base.0),
            diff: diff.into(),
            hunks: unlist(hunks),
            rationale: rationale.into(),
            acceptance_criteria: unlist(acceptance_criteria),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredHunk<'a> {
    old_start: u32,
    old_lines: u32,
    new_start: u32,
    new_lines: u32,
    content: Str<'a>,
}

impl<'a> From<&'a Hunk> for StoredHunk<'a> {
    fn from(hunk: &'a Hunk) -> Self {
        let Hunk { old_start, old_lines, new_start, new_lines, ref content } = *hunk;
        Self { old_start, old_lines, new_start, new_lines, content: content.into() }
    }
}

impl From<StoredHunk<'_>> for Hunk {
    fn from(row: StoredHunk<'_>) -> Self {
        let StoredHunk { old_start, old_lines, new_start, new_lines, content } = row;
        Self { old_start, old_lines, new_start, new_lines, content: content.into() }
    }
}

/// Why a patch was not applied.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredPatchFailure<'a> {
    Refused {},
    Conflict {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Text<ContentHash>>,
    },
    Superseded {},
    Withdrawn {},
    Unwritable {
        message: Str<'a>,
    },
}

impl<'a> From<&'a PatchFailure> for StoredPatchFailure<'a> {
    fn from(failure: &'a PatchFailure) -> Self {
        match failure {
            PatchFailure::Refused => Self::Refused {},
            PatchFailure::Conflict { found } => Self::Conflict { found: found.map(Text) },
            PatchFailure::Superseded => Self::Superseded {},
            PatchFailure::Withdrawn => Self::Withdrawn {},
            PatchFailure::Unwritable { message } => Self::Unwritable { message: message.into() },
        }
    }
}

impl From<StoredPatchFailure<'_>> for PatchFailure {
    fn from(row: StoredPatchFailure<'_>) -> Self {
        match row {
            StoredPatchFailure::Refused {} => Self::Refused,
            StoredPatchFailure::Conflict { found } => Self::Conflict { found: found.map(|found| found.0) },
            StoredPatchFailure::Superseded {} => Self::Superseded,
            StoredPatchFailure::Withdrawn {} => Self::Withdrawn,
            StoredPatchFailure::Unwritable { message } => Self::Unwritable { message: message.into() },
        }
    }
}
