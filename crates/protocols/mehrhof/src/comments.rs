//! What a provider may do with a task's discussion, status and labels. Beyond the specification.
//!
//! Guides for plugin authors and existing hosts disagree on the names of fields. Where they do, both names are
//! sent in one object, which real plugins accept; `documented` gives the guides' form alone, for a second try.

use loggia_jsonrpc::{Method, NoParams, Order};
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;
use crate::{Comment, ReferenceId};

/// Says something about a task.
#[derive(Debug)]
pub struct AddComment;

impl Method for AddComment {
    const NAME: &'static str = "provider.addComment";
    const ORDER: Order = Order::Ordered;
    type Params = AddCommentParams;
    type Result = AddCommentResult;
}

/// What to say about which task, under both pairs of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddCommentParams {
    /// The task, as the guides name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ReferenceId>,
    /// The task, as existing hosts name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_unit_id: Option<ReferenceId>,
    /// The words, as the guides name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The words, as existing hosts name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl AddCommentParams {
    /// A comment under both pairs of names.
    pub fn new(task: ReferenceId, words: impl Into<String>) -> Self {
        let words = words.into();
        Self {
            id: Some(task.clone()),
            work_unit_id: Some(task),
            comment: Some(words.clone()),
            body: Some(words),
        }
    }

    /// The same comment under the guides' names only.
    pub fn documented(self) -> Self {
        Self { work_unit_id: None, body: None, ..self }
    }

    /// The task, under either name.
    pub fn task(&self) -> Option<&ReferenceId> {
        self.id.as_ref().or(self.work_unit_id.as_ref())
    }

    /// The words, under either name.
    pub fn words(&self) -> Option<&str> {
        self.comment.as_deref().or(self.body.as_deref())
    }
}

/// What became of the comment. The guides say nothing of it, so anything but a comment reads as nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AddCommentResult {
    /// The comment as it stands now.
    Comment(Comment),
    /// Nothing was told.
    Unspecified(NoParams),
}

/// Moves a task on.
#[derive(Debug)]
pub struct UpdateStatus;

impl Method for UpdateStatus {
    const NAME: &'static str = "provider.updateStatus";
    const ORDER: Order = Order::Ordered;
    type Params = UpdateStatusParams;
    type Result = NoParams;
}

/// Which task, and how it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStatusParams {
    /// The task, as the guides name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ReferenceId>,
    /// The task, as existing hosts name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_unit_id: Option<ReferenceId>,
    /// How it stands now.
    pub status: String,
}

impl UpdateStatusParams {
    /// A new status for a task under both names.
    pub fn new(task: ReferenceId, status: impl Into<String>) -> Self {
        Self { id: Some(task.clone()), work_unit_id: Some(task), status: status.into() }
    }

    /// The same under the guides' name only.
    pub fn documented(self) -> Self {
        Self { work_unit_id: None, ..self }
    }

    /// The task, under either name.
    pub fn task(&self) -> Option<&ReferenceId> {
        self.id.as_ref().or(self.work_unit_id.as_ref())
    }
}

/// Reads what was said about a task.
#[derive(Debug)]
pub struct FetchComments;

impl Method for FetchComments {
    const NAME: &'static str = "provider.fetchComments";
    const ORDER: Order = Order::Ordered;
    type Params = FetchCommentsParams;
    type Result = FetchCommentsResult;
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchCommentsParams {
    /// The task.
    pub work_unit_id: ReferenceId,
}

/// What was said: a bare list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FetchCommentsResult {
    /// Oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub comments: Vec<Comment>,
}

/// Puts labels on a task.
#[derive(Debug)]
pub struct AddLabels;

impl Method for AddLabels {
    const NAME: &'static str = "provider.addLabels";
    const ORDER: Order = Order::Ordered;
    type Params = LabelsParams;
    type Result = NoParams;
}

/// Takes labels off a task.
#[derive(Debug)]
pub struct RemoveLabels;

impl Method for RemoveLabels {
    const NAME: &'static str = "provider.removeLabels";
    const ORDER: Order = Order::Ordered;
    type Params = LabelsParams;
    type Result = NoParams;
}

/// Which task and which labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelsParams {
    /// The task.
    pub work_unit_id: ReferenceId,
    /// The labels.
    pub labels: Vec<String>,
}
