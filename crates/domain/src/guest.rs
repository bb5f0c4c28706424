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

use crate::{BoxFuture, TaskAgents, TaskNames, Workspace};

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
    /// Places that tasks come from that are there and may not run.
    pub barred_providers: Vec<BarredProvider>,
    /// Those of the agents that the workspace's own files name for the steps of tasks.
    pub named: TaskAgents,
    /// How the workspace's own files call what belongs to tasks.
    pub names: TaskNames,
}

/// An agent that is there and may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarredAgent {
    /// The agent's name.
    pub name: String,
    /// Why, and what lets it, in words.
    pub why: String,
}

/// A place that tasks come from that is there and may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarredProvider {
    /// What people enable it by.
    pub plugin: String,
    /// Schemes of its references.
    pub schemes: Vec<String>,
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
            .field("barred_providers", &self.barred_providers)
            .field("named", &self.named)
            .field("names", &self.names)
            .finish()
    }
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
