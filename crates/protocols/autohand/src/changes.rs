//! Changes shown before they are written: the batch as it grows, and the user's choice.

use loggia_jsonrpc::{FieldError, Method, Notification, Order};
use serde::{Deserialize, Serialize};

use crate::{BatchId, ChangeId, Timestamp, ToolId, TurnId};

/// Accepts or rejects a batch.
#[derive(Debug)]
pub struct ChangesDecision;

impl Method for ChangesDecision {
    const NAME: &'static str = "autohand.changesDecision";
    const ORDER: Order = Order::Ordered;
    type Params = ChangesDecisionParams;
    type Result = ChangesDecisionResult;
}

/// A decision as clients write it; [`ChangesDecisionParams::choice`] checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesDecisionParams {
    /// The batch.
    pub batch_id: BatchId,
    /// What to do with it. An unknown word is refused: guessing here would write files.
    pub action: ChangesAction,
    /// The changes that `accept_selected` takes whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_change_ids: Option<Vec<ChangeId>>,
    /// The changes that `accept_selected` takes in part. Our addition to the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_hunks: Option<Vec<SelectedHunks>>,
}

/// What to do with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangesAction {
    /// Write all of it.
    AcceptAll,
    /// Write nothing.
    RejectAll,
    /// Write what is listed.
    AcceptSelected,
}

/// Some hunks of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectedHunks {
    /// The change.
    pub change_id: ChangeId,
    /// Which of its hunks, counted from 0 in the order of the file.
    pub hunks: Vec<u64>,
}

/// A checked decision about a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangesChoice {
    /// Write all of it.
    AcceptAll,
    /// Write nothing.
    RejectAll,
    /// Write these; at least one of the two lists has a member.
    AcceptSelected {
        /// Changes to take whole.
        changes: Vec<ChangeId>,
        /// Changes to take in part; for a change in both lists, the part counts.
        hunks: Vec<SelectedHunks>,
    },
}

impl ChangesDecisionParams {
    /// What the client chose.
    ///
    /// # Errors
    /// [`FieldError`] when `accept_selected` selects nothing, or a change is to be taken in part but no part is
    /// named. Taking everything instead would write what nobody asked for.
    pub fn choice(&self) -> Result<ChangesChoice, FieldError> {
        match self.action {
            ChangesAction::AcceptAll => Ok(ChangesChoice::AcceptAll),
            ChangesAction::RejectAll => Ok(ChangesChoice::RejectAll),
            ChangesAction::AcceptSelected => self.selected(),
        }
    }

    fn selected(&self) -> Result<ChangesChoice, FieldError> {
        let changes = self.selected_change_ids.clone().unwrap_or_default();
        let hunks = self.selected_hunks.clone().unwrap_or_default();
        if changes.is_empty() && hunks.is_empty() {
            return Err(FieldError::at("selectedChangeIds", "`accept_selected` needs at least one change"));
        }
        if let Some(index) = hunks.iter().position(|selected| selected.hunks.is_empty()) {
            return Err(FieldError::at("hunks", "at least one hunk is needed")
                .inside_array(index)
                .inside("selectedHunks"));
        }
        Ok(ChangesChoice::AcceptSelected { changes, hunks })
    }
}

/// What came of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesDecisionResult {
    /// Whether everything that was accepted is written.
    pub success: bool,
    /// Changes written.
    pub applied_count: u64,
    /// Changes left out.
    pub skipped_count: u64,
    /// What could not be written; left out when there is nothing to list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<ApplyError>>,
}

impl ChangesDecisionResult {
    /// The answer for a batch that is unknown or already decided.
    pub fn stale(reason: impl Into<String>) -> Self {
        // Clients expect this word where no change can be named.
        let error = ApplyError { change_id: ChangeId::from("unknown"), error: reason.into() };
        Self { success: false, applied_count: 0, skipped_count: 0, errors: Some(vec![error]) }
    }
}

/// One change that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyError {
    /// The change.
    pub change_id: ChangeId,
    /// Why.
    pub error: String,
}

/// Says that changes will be collected, not written.
#[derive(Debug)]
pub struct ChangesBatchStart;

impl Notification for ChangesBatchStart {
    const NAME: &'static str = "autohand.changesBatchStart";
    type Params = ChangesBatchStartParams;
}

/// The batch that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesBatchStartParams {
    /// The batch.
    pub batch_id: BatchId,
    /// The turn that makes it.
    pub turn_id: TurnId,
    /// When it began.
    pub timestamp: Timestamp,
}

/// Adds a change to the batch.
#[derive(Debug)]
pub struct ChangesBatchUpdate;

impl Notification for ChangesBatchUpdate {
    const NAME: &'static str = "autohand.changesBatchUpdate";
    type Params = ChangesBatchUpdateParams;
}

/// One more change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesBatchUpdateParams {
    /// The batch.
    pub batch_id: BatchId,
    /// The change.
    pub change: ProposedChange,
    /// When it was made.
    pub timestamp: Timestamp,
}

/// A change of one file that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedChange {
    /// Its id.
    pub id: ChangeId,
    /// The file.
    pub file_path: String,
    /// What would happen to it.
    pub change_type: ChangeType,
    /// Its text before; empty when it is to be created.
    pub original_content: String,
    /// Its text after; empty when it is to be deleted.
    pub proposed_content: String,
    /// The change in words.
    pub description: String,
    /// The tool call that made it.
    pub tool_id: ToolId,
    /// The tool.
    pub tool_name: String,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeType {
    /// It comes into being.
    Create,
    /// Its text changes.
    Modify,
    /// It goes.
    Delete,
}

/// Says that the batch is complete and may be decided.
#[derive(Debug)]
pub struct ChangesBatchEnd;

impl Notification for ChangesBatchEnd {
    const NAME: &'static str = "autohand.changesBatchEnd";
    type Params = ChangesBatchEndParams;
}

/// The batch that is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangesBatchEndParams {
    /// The batch.
    pub batch_id: BatchId,
    /// How many changes it holds.
    pub change_count: u64,
    /// When it was complete.
    pub timestamp: Timestamp,
}
