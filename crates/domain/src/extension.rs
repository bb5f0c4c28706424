//! Extensions: programs of other people that add commands to a workspace and work on its open message.
//!
//! Whoever has them fills [`ExtensionDesk`] for doors and [`GuestCommands`] for the agent's tools. Looking starts none
//! unless that is said.

use std::sync::Arc;
use std::time::Duration;

use crate::{BoxFuture, GuestError, Timestamp, Workspace};

/// Looks after the extensions of workspaces.
pub trait ExtensionDesk: Send + Sync + 'static {
    /// All that are configured for a workspace, in that order. Starts none.
    fn list(&self, workspace: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>>;

    /// Starts those of a workspace that are to run and do not, and waits until each has begun or failed.
    fn start_all(&self, workspace: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>>;

    /// Stops one and starts it again; starts it if it does not run.
    fn restart(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>>;

    /// Stops one, until it is started again.
    fn stop(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>>;

    /// What one said last, and what happened to it.
    fn logs(
        &self,
        workspace: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<Vec<ExtensionLogEntry>, ExtensionDeskError>>;

    /// The commands of a workspace's extensions, and how they are run.
    fn commands(
        &self,
        workspace: Workspace,
    ) -> BoxFuture<'_, Result<Arc<dyn GuestCommands>, ExtensionDeskError>>;

    /// A workspace is trusted now, or no longer. What may no longer run is stopped.
    fn trust_changed(&self, workspace: Workspace) -> BoxFuture<'_, ()>;
}

/// Commands that the extensions of one workspace offer.
pub trait GuestCommands: Send + Sync + 'static {
    /// Those of all extensions that are to run, in the order in which these were configured. Starts them.
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>>;

    /// Runs a command to where its extension has gone quiet. Without an extension the first one is meant that has a
    /// command of that id.
    fn execute(
        &self,
        command: String,
        extension: Option<String>,
        limit: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>>;
}

/// A command that an extension offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCommand {
    /// What it is run with.
    pub id: String,
    /// The extension's name, as it is configured.
    pub extension: String,
    /// What people see; the id where nothing better is known.
    pub title: String,
    /// The extension's button for it, if it has one.
    pub button: Option<GuestButton>,
}

/// A button that an extension wants people to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestButton {
    /// Its id.
    pub id: String,
    /// What it shows, as SVG. Nobody has looked at it: whoever draws it takes out what could do harm.
    pub icon: String,
    /// With which others it belongs together.
    pub group: Option<String>,
}

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDone {
    /// The extension's name.
    pub extension: String,
    /// Whether it was still busy when the time was up.
    pub still_busy: bool,
    /// What the extension said meanwhile.
    pub said: Vec<ExtensionLogEntry>,
}

/// The extensions of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtensionListing {
    /// In the order in which they are configured.
    pub extensions: Vec<ExtensionSummary>,
    /// What keeps settings from being read, in words.
    pub problems: Vec<String>,
}

/// An extension as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionSummary {
    /// What it is called here: unique in its workspace, and the same after a restart.
    pub name: String,
    /// What is started.
    pub command: Vec<String>,
    /// Whether a workspace brought it; the user has it otherwise.
    pub of_workspace: bool,
    /// How it is.
    pub state: ExtensionState,
    /// What it says about itself, once it has.
    pub about: Option<ExtensionAbout>,
    /// What it offers; known once it runs.
    pub commands: Vec<GuestCommand>,
    /// What it wants to be told of; known once it runs.
    pub events: Vec<String>,
    /// Whether it lays something over the schema.
    pub has_schema: bool,
    /// Its process, while there is one.
    pub process: Option<i32>,
}

/// What an extension says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtensionAbout {
    /// Its name for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is.
    pub description: Option<String>,
    /// Who made it.
    pub authors: Vec<String>,
    /// Where people read about it.
    pub homepage: Option<String>,
}

/// How an extension is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtensionState {
    /// It is configured not to run.
    Disabled,
    /// A workspace brought it, and nobody trusts that workspace.
    Untrusted,
    /// It was never started.
    Idle,
    /// Its process is being started.
    Starting,
    /// It was greeted and has not answered yet.
    Initializing,
    /// It can be used.
    Running,
    /// It was told to leave.
    ShuttingDown,
    /// It left.
    Stopped,
    /// It could not be started, or ended by itself, for this reason.
    Failed(String),
}

/// Something an extension said, or that happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionLogEntry {
    /// When.
    pub at: Timestamp,
    /// How serious it is.
    pub level: ExtensionLogLevel,
    /// What.
    pub text: String,
}

/// How serious an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExtensionLogLevel {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}

/// Why something was not done with an extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionDeskError {
    /// There is no such extension.
    #[error("{0}")]
    NotFound(String),
    /// It may not run: it is disabled, or nobody trusts who brought it.
    #[error("{0}")]
    NotAllowed(String),
    /// It could not be started, or did not do its part.
    #[error("{0}")]
    Failed(String),
}

/// A desk where there are no extensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoExtensions;

impl NoExtensions {
    fn none<T: Send + 'static>(name: &str) -> BoxFuture<'static, Result<T, ExtensionDeskError>> {
        let error =
            ExtensionDeskError::NotFound(format!("there is no extension `{name}`; there are none here"));
        Box::pin(std::future::ready(Err(error)))
    }
}

impl ExtensionDesk for NoExtensions {
    fn list(&self, _: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        Box::pin(std::future::ready(Ok(ExtensionListing::default())))
    }

    fn start_all(&self, _: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        Box::pin(std::future::ready(Ok(ExtensionListing::default())))
    }

    fn restart(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        Self::none(&extension)
    }

    fn stop(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        Self::none(&extension)
    }

    fn logs(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<Vec<ExtensionLogEntry>, ExtensionDeskError>> {
        Self::none(&extension)
    }

    fn commands(&self, _: Workspace) -> BoxFuture<'_, Result<Arc<dyn GuestCommands>, ExtensionDeskError>> {
        let commands: Arc<dyn GuestCommands> = Arc::new(Self);
        Box::pin(std::future::ready(Ok(commands)))
    }

    fn trust_changed(&self, _: Workspace) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl GuestCommands for NoExtensions {
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn execute(
        &self,
        command: String,
        _: Option<String>,
        _: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>> {
        let error =
            GuestError::NotFound(format!("there is no command `{command}`: there are no extensions here"));
        Box::pin(std::future::ready(Err(error)))
    }
}
