//! Looking after plugins, for people: which there are, whether they may run, and how they come and go.
//!
//! Whoever has the plugins fills [`PluginDesk`]; doors ask it and show what it says. What plugins do for the engine is
//! another trait's affair. Looking starts no plugin.

use std::path::PathBuf;
use std::time::Duration;

use crate::{BoxFuture, Workspace};

/// Looks after the plugins of workspaces. Where no workspace is named, those are meant that the user has for all of them.
pub trait PluginDesk: Send + Sync + 'static {
    /// All there are, by name. Starts none.
    fn list(&self, workspace: Option<Workspace>) -> BoxFuture<'_, Result<PluginListing, PluginDeskError>>;

    /// Lets a plugin run in a workspace, or everywhere; or no longer.
    fn set_enabled(
        &self,
        name: String,
        workspace: Option<Workspace>,
        enabled: bool,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>>;

    /// Tries whether a plugin starts, takes its configuration and gives a sign of life; then stops it. What is wrong with
    /// it, in words; nothing if it is well.
    fn validate(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<Option<String>, PluginDeskError>>;

    /// Fetches a plugin and puts it beside the workspace's, or the user's. It is not enabled by that.
    fn install(
        &self,
        source: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>>;

    /// Deletes the directory of a workspace's plugin, or of one of the user's. The directory that is no more.
    fn remove(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PathBuf, PluginDeskError>>;

    /// What trusting a workspace means: what would run, and what would hold.
    fn consequences(&self, workspace: Workspace)
    -> BoxFuture<'_, Result<TrustConsequences, PluginDeskError>>;

    /// A workspace is trusted now, or no longer; or for so long only. What may no longer run is stopped.
    fn trust_changed(&self, workspace: Workspace, lapses: Option<Duration>) -> BoxFuture<'_, ()>;
}

/// The plugins of a workspace, or those of the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginListing {
    /// By name.
    pub plugins: Vec<PluginSummary>,
    /// Names that are enabled and that no plugin has.
    pub unknown: Vec<String>,
    /// What keeps settings from being read, in words.
    pub problems: Vec<String>,
}

/// A plugin as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginSummary {
    /// Its name, or its directory's if nobody can read its manifest.
    pub name: String,
    /// What it is; nothing if nobody can read its manifest.
    pub kind: Option<PluginKind>,
    /// Whether a workspace brought it; the user has it otherwise.
    pub of_workspace: bool,
    /// Whether somebody enabled it.
    pub enabled: bool,
    /// Whether it can be used.
    pub standing: PluginStanding,
    /// Where it lies.
    pub directory: PathBuf,
    /// What its manifest says besides; nothing if nobody can read it.
    pub about: Option<PluginAbout>,
    /// What to mind.
    pub warnings: Vec<String>,
}

/// The three kinds of plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PluginKind {
    /// Brings tasks.
    Provider,
    /// Does the work.
    Agent,
    /// Has a say in how it goes.
    Workflow,
}

impl PluginKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Agent => "agent",
            Self::Workflow => "workflow",
        }
    }
}

/// Whether a plugin can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginStanding {
    /// Its manifest is no good, for this reason.
    Broken(String),
    /// A workspace brought it, and nobody trusts that workspace.
    Untrusted,
    /// Nobody enabled it.
    Disabled,
    /// It is started when it is needed.
    Ready,
    /// It runs, as this process.
    Running(i32),
    /// It failed too often, the last time so.
    GivenUp(String),
}

/// What a plugin says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginAbout {
    /// What it is.
    pub description: Option<String>,
    /// Its version.
    pub version: String,
    /// The version of the protocol it speaks.
    pub protocol: String,
    /// Who made it.
    pub author: Option<String>,
    /// Where people read about it.
    pub homepage: Option<String>,
    /// What is started, as its manifest has it.
    pub command: Vec<String>,
    /// What references to its tasks begin with.
    pub schemes: Vec<String>,
    /// What it says it can do, or adds.
    pub capabilities: Vec<String>,
    /// Variables it reads.
    pub variables: Vec<PluginVariable>,
}

/// A variable that a plugin reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginVariable {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the plugin is of little use without it.
    pub required: bool,
    /// Whether it is set.
    pub set: bool,
}

/// What trusting a workspace means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustConsequences {
    /// Plugins that the workspace brings; those that are enabled would run.
    pub plugins: Vec<PluginSummary>,
    /// What files of the workspace say and would then hold.
    pub settings: Vec<TrustedSetting>,
    /// What keeps this from being known, in words.
    pub problems: Vec<String>,
}

/// What a file of a workspace says and only counts if the workspace is trusted. Never a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedSetting {
    /// The file, relative to the root.
    pub file: String,
    /// What would hold, in words.
    pub effect: String,
}

/// Why something was not done with a plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PluginDeskError {
    /// There is no such plugin there.
    #[error("{0}")]
    NotFound(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// What is there already is in the way.
    #[error("{0}")]
    Conflict(String),
    /// A disk, a network or a program did not do its part.
    #[error("{0}")]
    Unavailable(String),
}

/// A desk where there are no plugins.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPlugins;

impl NoPlugins {
    fn none<T: Send + 'static>(name: &str) -> BoxFuture<'static, Result<T, PluginDeskError>> {
        let error = PluginDeskError::NotFound(format!("there is no plugin `{name}`; there are none here"));
        Box::pin(std::future::ready(Err(error)))
    }
}

impl PluginDesk for NoPlugins {
    fn list(&self, _: Option<Workspace>) -> BoxFuture<'_, Result<PluginListing, PluginDeskError>> {
        Box::pin(std::future::ready(Ok(PluginListing::default())))
    }

    fn set_enabled(
        &self,
        name: String,
        _: Option<Workspace>,
        _: bool,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        Self::none(&name)
    }

    fn validate(
        &self,
        name: String,
        _: Option<Workspace>,
    ) -> BoxFuture<'_, Result<Option<String>, PluginDeskError>> {
        Self::none(&name)
    }

    fn install(
        &self,
        _: String,
        _: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        let error = PluginDeskError::Unavailable("plugins cannot be installed here".to_owned());
        Box::pin(std::future::ready(Err(error)))
    }

    fn remove(&self, name: String, _: Option<Workspace>) -> BoxFuture<'_, Result<PathBuf, PluginDeskError>> {
        Self::none(&name)
    }

    fn consequences(&self, _: Workspace) -> BoxFuture<'_, Result<TrustConsequences, PluginDeskError>> {
        Box::pin(std::future::ready(Ok(TrustConsequences::default())))
    }

    fn trust_changed(&self, _: Workspace, _: Option<Duration>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
