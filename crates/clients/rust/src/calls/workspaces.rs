//! Workspaces and their policies.

use hyper::header::{HeaderValue, IF_MATCH};
use loggia_protocol_agent_server::{
    Policy, PolicyCheckParams, PolicyCheckResult, RegisterWorkspaceParams, Workspace, WorkspaceId,
    WorkspacePage,
};

use crate::client::Ask;
use crate::{Client, Error, Page};

impl Client {
    /// Lists the workspaces.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn workspaces(&self, page: &Page) -> Result<WorkspacePage, Error> {
        let ask =
            Ask::get(&["v1", "workspaces"]).query("limit", page.limit).query("cursor", page.cursor.as_ref());
        self.ask(ask).await
    }

    /// Registers a directory; one that is registered already is answered as it is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn register_workspace(&self, params: &RegisterWorkspaceParams) -> Result<Workspace, Error> {
        self.ask(Ask::post(&["v1", "workspaces", "register"]).json(params)).await
    }

    /// One workspace.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<Workspace, Error> {
        self.ask(Ask::get(&["v1", "workspaces", &id.0])).await
    }

    /// The workspace's policy.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn policy(&self, id: &WorkspaceId) -> Result<Policy, Error> {
        self.ask(Ask::get(&["v1", "workspaces", &id.0, "policy"])).await
    }

    /// Puts a changed policy back, if nobody else changed it since: its `revision` is the one that was read.
    ///
    /// # Errors
    /// See [`Error`]; a problem of type `stale-revision` means that somebody did.
    pub async fn put_policy(&self, id: &WorkspaceId, policy: &Policy) -> Result<Policy, Error> {
        let revision =
            HeaderValue::from_str(&format!("\"{}\"", policy.revision)).expect("a number in quotes");
        self.ask(Ask::put(&["v1", "workspaces", &id.0, "policy"]).header(IF_MATCH, revision).json(policy))
            .await
    }

    /// What the policy, or another one, says to a call.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn check_policy(
        &self,
        id: &WorkspaceId,
        params: &PolicyCheckParams,
    ) -> Result<PolicyCheckResult, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "policy", "check"]).json(params)).await
    }
}
