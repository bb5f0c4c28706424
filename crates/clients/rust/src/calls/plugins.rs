//! Plugins, and the trust that those of a workspace need.

use loggia_protocol_agent_server::{
    InstallPluginParams, Plugin, PluginList, PluginParams, PluginValidation, TrustParams, TrustReport,
    Workspace, WorkspaceId,
};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// The plugins a workspace has, with those of the user; without a workspace, the latter alone. None is started.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn plugins(&self, workspace: Option<&WorkspaceId>) -> Result<PluginList, Error> {
        self.ask(Ask::get(&["v1", "plugins"]).query("workspace_id", workspace.map(|id| &id.0))).await
    }

    /// One of them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn plugin(&self, name: &str, workspace: Option<&WorkspaceId>) -> Result<Plugin, Error> {
        self.ask(Ask::get(&["v1", "plugins", name]).query("workspace_id", workspace.map(|id| &id.0))).await
    }

    /// Lets a plugin run in a workspace; without one, everywhere.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn enable_plugin(&self, name: &str, params: &PluginParams) -> Result<Plugin, Error> {
        self.ask(Ask::post(&["v1", "plugins", name, "enable"]).json(params)).await
    }

    /// Lets a plugin run no longer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn disable_plugin(&self, name: &str, params: &PluginParams) -> Result<Plugin, Error> {
        self.ask(Ask::post(&["v1", "plugins", name, "disable"]).json(params)).await
    }

    /// Tries whether a plugin starts and answers.
    ///
    /// # Errors
    /// See [`Error`]; that the plugin does not work is an answer.
    pub async fn validate_plugin(
        &self,
        name: &str,
        params: &PluginParams,
    ) -> Result<PluginValidation, Error> {
        self.ask(Ask::post(&["v1", "plugins", name, "validate"]).json(params)).await
    }

    /// Fetches a plugin, without enabling it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn install_plugin(&self, params: &InstallPluginParams) -> Result<Plugin, Error> {
        self.ask(Ask::post(&["v1", "plugins", "install"]).json(params)).await
    }

    /// Deletes the directory of a workspace's plugin; without a workspace, of one of the user's.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_plugin(&self, name: &str, workspace: Option<&WorkspaceId>) -> Result<(), Error> {
        let ask = Ask::delete(&["v1", "plugins", name]).query("workspace_id", workspace.map(|id| &id.0));
        self.tell(ask).await
    }

    /// What trusting a workspace would mean.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn trust_report(&self, id: &WorkspaceId) -> Result<TrustReport, Error> {
        self.ask(Ask::get(&["v1", "workspaces", &id.0, "trust"])).await
    }

    /// Lets the workspace's own files loosen the policy and name programs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn trust_workspace(&self, id: &WorkspaceId) -> Result<Workspace, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "trust"])).await
    }

    /// The same for one run: as long as the parameters say, to be renewed or ended.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn trust_for_run(&self, id: &WorkspaceId, params: &TrustParams) -> Result<Workspace, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "trust"]).json(params)).await
    }

    /// Trusts the workspace no longer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn distrust_workspace(&self, id: &WorkspaceId) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "workspaces", &id.0, "trust"])).await
    }
}
