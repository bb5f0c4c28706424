//! The rules of a workspace as they are written down: its policy, and what it suggests for it.
//!
//! Knows where they are. Refuses to know the store: whoever waits for a slow disk here must not keep a store open
//! that has been closed everywhere else.

use std::sync::Arc;

use loggia_domain::{Policy, WorkspaceId};
use loggia_tree::Root;

use crate::error::EngineError;
use crate::policies::Policies;
use crate::policy::Suggestion;
use crate::trust::TrustStore;
use crate::workspace::instructions::suggestion_text;

/// The rules of a workspace.
pub(super) struct Rules {
    /// Its policy.
    pub(super) policy: Arc<Policy>,
    /// What it suggests.
    pub(super) suggestion: Option<Suggestion>,
    /// The policy with what the suggestion makes of it.
    pub(super) effective: Arc<Policy>,
}

/// Where the rules of a workspace are.
pub(super) struct RuleFiles {
    pub(super) workspace: WorkspaceId,
    pub(super) root: Arc<Root>,
    pub(super) policies: Arc<Policies>,
    pub(super) trust: Arc<TrustStore>,
}

impl RuleFiles {
    /// Reads them. Touches disks: call it where that may block.
    pub(super) fn read(&self) -> Result<Rules, EngineError> {
        let policy = self.policies.get(self.workspace)?;
        let suggestion = self.suggestion()?;
        let effective = match &suggestion {
            Some(suggestion) => Arc::new(suggestion.over(&policy)),
            None => Arc::clone(&policy),
        };
        Ok(Rules { policy, suggestion, effective })
    }

    fn suggestion(&self) -> Result<Option<Suggestion>, EngineError> {
        let refused = |error: &dyn std::fmt::Display| EngineError::Workspace {
            workspace: self.workspace,
            reason: format!("its suggestion for a policy cannot be used: {error}"),
        };
        let text = suggestion_text(&self.root).map_err(|error| refused(&error))?;
        let Some(text) = text else { return Ok(None) };
        let trusted = self.trust.is_trusted(self.root.path());
        Suggestion::parse(&text, trusted).map(Some).map_err(|error| refused(&error))
    }
}
