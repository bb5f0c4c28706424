//! Rows about what happened to files.
//!
//! Knows what is stored of a file's two sides: hashes, modes, never the bytes, which are blobs.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{CallId, ContentHash, EventBody, FileChange, FileState, ObservedChange};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{Str, Text, unlist};

#[derive(Serialize, Deserialize)]
pub(super) struct FilesChanged<'a> {
    pub(super) call: Text<CallId>,
    pub(super) changes: Vec<StoredObservedChange<'a>>,
    pub(super) beyond_undo: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) shared: bool,
}

impl From<FilesChanged<'_>> for EventBody {
    fn from(row: FilesChanged<'_>) -> Self {
        let FilesChanged { call, changes, beyond_undo, shared } = row;
        Self::FilesChanged { call: call.0, changes: unlist(changes), beyond_undo, shared }
    }
}

/// What somebody other than us did to a file.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredObservedChange<'a> {
    change: StoredFileChange<'a>,
    diff: Str<'a>,
}

impl<'a> From<&'a ObservedChange> for StoredObservedChange<'a> {
    fn from(observed: &'a ObservedChange) -> Self {
        let ObservedChange { change, diff } = observed;
        Self { change: change.into(), diff: diff.into() }
    }
}

impl From<StoredObservedChange<'_>> for ObservedChange {
    fn from(row: StoredObservedChange<'_>) -> Self {
        let StoredObservedChange { change, diff } = row;
        Self { change: change.into(), diff: diff.into() }
    }
}

/// What happened to a file.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredFileChange<'a> {
    path: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<StoredFileState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<StoredFileState>,
}

impl<'a> From<&'a FileChange> for StoredFileChange<'a> {
    fn from(change: &'a FileChange) -> Self {
        let FileChange { path, before, after } = change;
        Self { path: path.into(), before: before.map(Into::into), after: after.map(Into::into) }
    }
}

impl From<StoredFileChange<'_>> for FileChange {
    fn from(row: StoredFileChange<'_>) -> Self {
        let StoredFileChange { path, before, after } = row;
        Self { path: path.into(), before: before.map(Into::into), after: after.map(Into::into) }
    }
}

/// One side of a change.
#[derive(Serialize, Deserialize)]
struct StoredFileState {
    hash: Text<ContentHash>,
    mode: u32,
    is_link: bool,
}

impl From<FileState> for StoredFileState {
    fn from(state: FileState) -> Self {
        let FileState { hash, mode, is_link } = state;
        Self { hash: Text(hash), mode, is_link }
    }
}

impl From<StoredFileState> for FileState {
    fn from(row: StoredFileState) -> Self {
        let StoredFileState { hash, mode, is_link } = row;
        Self { hash: hash.0, mode, is_link }
    }
}
