//! What hosts fill: programs of other people that the engine works with without knowing their protocols.
//!
//! A guest says what it can do; what it cannot is [`GuestError::Unsupported`], never silence. Dropping a future or a
//! stream tells the host to stop what it began. How long a guest may take is the host's affair.

mod agent;
mod provider;
mod workflow;

pub use agent::{AgentBackend, AgentPart, AgentRequest, AgentRun, AgentStream, CallResults, GuestCall};
pub use provider::{Proposal, Proposed, ProviderAbility, TaskProvider, WorkItem, WorkQuery};
pub use workflow::{
    Occasion, StepMoment, StepPlace, Verdict, WorkflowEffect, WorkflowGuard, WorkflowHook, WorkflowParts,
    WorkflowStep,
};

use std::sync::Arc;

use crate::{BoxFuture, JsonText, Workspace};

/// Finds the guests of workspaces. Finding starts none of them.
pub trait GuestFinder: Send + Sync + 'static {
    /// Those that may be used in a workspace now. What a workspace brings and nobody trusts is not among them.
    fn guests(&self, workspace: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>>;
}

/// The guests of one workspace, each kind in the order in which people enabled them.
#[derive(Clone, Default)]
pub struct Guests {
    /// Agents.
    pub agents: Vec<Arc<dyn AgentBackend>>,
    /// Where tasks come from.
    pub providers: Vec<Arc<dyn TaskProvider>>,
    /// Who has a say in how tasks go.
    pub hooks: Vec<Arc<dyn WorkflowHook>>,
    /// Agents that are there and may not run.
    pub barred: Vec<BarredAgent>,
}

/// An agent that is there and may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarredAgent {
    /// The agent's name.
    pub name: String,
    /// Why, and what lets it, in words.
    pub why: String,
}

impl std::fmt::Debug for Guests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guests")
            .field("agents", &self.agents.len())
            .field("providers", &self.providers.len())
            .field("hooks", &self.hooks.len())
            .field("barred", &self.barred)
            .finish()
    }
}

/// Commands that extensions offer.
pub trait GuestCommands: Send + Sync + 'static {
    /// The commands of all extensions that run, in the order in which these were configured.
    fn commands(&self) -> Vec<GuestCommand>;

    /// Runs a command. It ends when its extension has gone quiet.
    fn execute(&self, command: String, arguments: JsonText) -> BoxFuture<'_, Result<(), GuestError>>;
}

/// A command that an extension offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCommand {
    /// What it is run with.
    pub id: String,
    /// The extension.
    pub guest: String,
    /// What people see.
    pub title: String,
}

/// The open message of one workspace, which its extensions work on.
pub trait MessageDesk: Send + Sync + 'static {
    /// What is open, if anything is.
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>>;

    /// Opens a file, relative to the root; an empty message without one. What was open is closed.
    fn open(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// The message in a format.
    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<String, MessageError>>;

    /// Puts another message in its place.
    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Writes it to its file, or to another one.
    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;
}

/// A message that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMessage {
    /// Its file, relative to the root; nothing if it was never saved.
    pub path: Option<String>,
    /// Whether it differs from its file.
    pub unsaved: bool,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageFormat {
    /// As in its file.
    Plain,
    /// As JSON.
    Json,
    /// As YAML.
    Yaml,
    /// As TOML.
    Toml,
}

/// Why a message cannot be worked on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// None is open.
    #[error("no message is open")]
    NoneOpen,
    /// The text is no message in that format.
    #[error("the text is not a message: {0}")]
    BadText(String),
    /// Its file cannot be read or written.
    #[error("the message's file cannot be used: {0}")]
    BadFile(String),
}

/// Why a guest did not do what it was asked. The words name the guest and tell what it said last.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuestError {
    /// It cannot do this at all: do not ask again.
    #[error("{0}")]
    Unsupported(String),
    /// There is nothing of that name.
    #[error("{0}")]
    NotFound(String),
    /// It does not take what it was given.
    #[error("{0}")]
    Refused(String),
    /// It lacks a key or a password: somebody must give it one.
    #[error("{0}")]
    NoAccess(String),
    /// Somebody has to allow it first.
    #[error("{0}")]
    Untrusted(String),
    /// It did not answer in time.
    #[error("{0}")]
    TimedOut(String),
    /// It is not running, or not any more.
    #[error("{0}")]
    Gone(String),
    /// It answered that it failed, or nothing that can be understood.
    #[error("{0}")]
    Failed(String),
}
