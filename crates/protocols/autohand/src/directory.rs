//! Questions about directories outside the workspace. Beyond the specification.

use loggia_jsonrpc::{Method, Notification, Order};
use serde::{Deserialize, Serialize};

use crate::{PermissionRequestId, SuccessResult, Timestamp};

/// Asks the user to let the agent into a directory.
#[derive(Debug)]
pub struct DirectoryAccessRequest;

impl Notification for DirectoryAccessRequest {
    const NAME: &'static str = "autohand.directoryAccessRequest";
    type Params = DirectoryAccessRequestParams;
}

/// Which directory, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryAccessRequestParams {
    /// To be named in the answer.
    pub request_id: PermissionRequestId,
    /// The directory.
    pub path: String,
    /// What the agent wants there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was asked.
    pub timestamp: Timestamp,
}

/// Answers a question about a directory.
#[derive(Debug)]
pub struct DirectoryAccessResponse;

impl Method for DirectoryAccessResponse {
    const NAME: &'static str = "autohand.directoryAccessResponse";
    const ORDER: Order = Order::Urgent;
    type Params = DirectoryAccessResponseParams;
    type Result = SuccessResult;
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryAccessResponseParams {
    /// The question.
    pub request_id: PermissionRequestId,
    /// Whether the agent may enter.
    pub granted: bool,
}

/// Tells the agent that a question about a directory has reached the user.
#[derive(Debug)]
pub struct DirectoryAccessAcknowledged;

impl Method for DirectoryAccessAcknowledged {
    const NAME: &'static str = "autohand.directoryAccessAcknowledged";
    const ORDER: Order = Order::Urgent;
    type Params = DirectoryAccessAcknowledgedParams;
    type Result = SuccessResult;
}

/// Which question was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryAccessAcknowledgedParams {
    /// The question.
    pub request_id: PermissionRequestId,
}
