//! What a provider may do with branches, proposals to merge them, and attachments. Beyond the specification.

use loggia_jsonrpc::{Method, NoParams, Order};
use serde::{Deserialize, Serialize};

use crate::lenient::{number, text};
use crate::{AttachmentId, ReferenceId};

/// Ties a task to a branch.
#[derive(Debug)]
pub struct LinkBranch;

impl Method for LinkBranch {
    const NAME: &'static str = "provider.linkBranch";
    const ORDER: Order = Order::Ordered;
    type Params = BranchParams;
    type Result = NoParams;
}

/// Unties a task from a branch.
#[derive(Debug)]
pub struct UnlinkBranch;

impl Method for UnlinkBranch {
    const NAME: &'static str = "provider.unlinkBranch";
    const ORDER: Order = Order::Ordered;
    type Params = BranchParams;
    type Result = NoParams;
}

/// Which task and which branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchParams {
    /// The task.
    pub work_unit_id: ReferenceId,
    /// The branch.
    pub branch: String,
}

/// Asks which branch a task is tied to.
#[derive(Debug)]
pub struct GetLinkedBranch;

impl Method for GetLinkedBranch {
    const NAME: &'static str = "provider.getLinkedBranch";
    const ORDER: Order = Order::Ordered;
    type Params = GetLinkedBranchParams;
    type Result = GetLinkedBranchResult;
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetLinkedBranchParams {
    /// The task.
    pub work_unit_id: ReferenceId,
}

/// Its branch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetLinkedBranchResult {
    /// The branch, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// Proposes a branch for merging.
#[derive(Debug)]
pub struct CreatePr;

impl Method for CreatePr {
    const NAME: &'static str = "provider.createPR";
    const ORDER: Order = Order::Ordered;
    type Params = CreatePrParams;
    type Result = CreatePrResult;
}

/// The proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatePrParams {
    /// The task; existing hosts leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_unit_id: Option<ReferenceId>,
    /// The proposal in one line.
    pub title: String,
    /// The proposal in full.
    pub description: String,
    /// The branch with the work.
    pub source_branch: String,
    /// The branch it should go to.
    pub target_branch: String,
    /// Whether it is still being worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<bool>,
}

/// The proposal as it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatePrResult {
    /// The provider's name of it.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its address, for people.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// How it stands, in the provider's words.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Its number.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
}

/// Fetches an attachment.
#[derive(Debug)]
pub struct DownloadAttachment;

impl Method for DownloadAttachment {
    const NAME: &'static str = "provider.downloadAttachment";
    const ORDER: Order = Order::Ordered;
    type Params = DownloadAttachmentParams;
    type Result = DownloadAttachmentResult;
}

/// Which attachment of which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownloadAttachmentParams {
    /// The task.
    pub work_unit_id: ReferenceId,
    /// The attachment.
    pub attachment_id: AttachmentId,
}

/// The attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownloadAttachmentResult {
    /// Its bytes in base64.
    pub content: String,
}
