//! Extensions and their commands. What they ask of people is heard on the stream that belongs to no session.

use loggia_protocol_agent_server::{
    Extension, ExtensionList, ExtensionLog, ExtensionParams, ExtensionRun, RunExtensionParams, WorkspaceId,
};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// A workspace's extensions. None is started.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn extensions(&self, workspace: &WorkspaceId) -> Result<ExtensionList, Error> {
        self.ask(Ask::get(&["v1", "extensions"]).query("workspace_id", Some(&workspace.0))).await
    }

    /// Starts those that are to run and do not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn start_extensions(&self, params: &ExtensionParams) -> Result<ExtensionList, Error> {
        self.ask(Ask::post(&["v1", "extensions", "start"]).json(params)).await
    }

    /// One of them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn extension(&self, name: &str, workspace: &WorkspaceId) -> Result<Extension, Error> {
        self.ask(Ask::get(&["v1", "extensions", name]).query("workspace_id", Some(&workspace.0))).await
    }

    /// What an extension said last, and what happened to it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn extension_log(&self, name: &str, workspace: &WorkspaceId) -> Result<ExtensionLog, Error> {
        self.ask(Ask::get(&["v1", "extensions", name, "logs"]).query("workspace_id", Some(&workspace.0)))
            .await
    }

    /// Stops an extension and starts it again.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn restart_extension(&self, name: &str, params: &ExtensionParams) -> Result<Extension, Error> {
        self.ask(Ask::post(&["v1", "extensions", name, "restart"]).json(params)).await
    }

    /// Stops an extension.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stop_extension(&self, name: &str, params: &ExtensionParams) -> Result<Extension, Error> {
        self.ask(Ask::post(&["v1", "extensions", name, "stop"]).json(params)).await
    }

    /// Runs a command of an extension, until that has gone quiet or the time is up.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run_extension(
        &self,
        name: &str,
        params: &RunExtensionParams,
    ) -> Result<ExtensionRun, Error> {
        self.ask_long(Ask::post(&["v1", "extensions", name, "run"]).json(params)).await
    }
}
