//! Agents that plugins bring, chosen like models.
//!
//! Knows how one is found by its name in a workspace. Refuses to know what becomes of it: turns use it.

use std::sync::Arc;

use loggia_domain::{
    AgentBackend, BarredAgent, GuestError, Guests, ModelName, StoreError, Workspace, WorkspaceId,
};

use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::session::State;

/// Why there is no such agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// It is there and may not run.
    #[error("the agent `{name}` cannot be used: {why}")]
    Barred {
        /// The name.
        name: String,
        /// Why, and what lets it.
        why: String,
    },
    /// Nobody has that name.
    #[error("there is no agent `{name}` in this workspace; {}", those(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The names of those there are.
        known: Vec<String>,
    },
    /// Nobody knows which there are.
    #[error("agents of plugins cannot be looked for: {0}")]
    Unsearchable(GuestError),
}

fn those(known: &[String]) -> String {
    if known.is_empty() {
        return "no plugin that is one is enabled and trusted".to_owned();
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{}`", ModelName::of_guest(name).0)).collect();
    format!("there are {}", names.join(", "))
}

impl Shared {
    /// The workspace whose guests a session has: its own; a task's home, since the tree that a task works in is nobody's
    /// to bring plugins to, or to switch them on in.
    pub(crate) async fn home_of(&self, state: &State, own: &Workspace) -> Result<Workspace, StoreError> {
        match state.task.as_ref().map(|task| task.start.home).filter(|home| *home != own.id) {
            Some(home) => self.parts.store.workspace(home).await,
            None => Ok(own.clone()),
        }
    }

    async fn guests_of(&self, workspace: Workspace) -> Result<Guests, AgentError> {
        self.parts.guests.guests(workspace).await.map_err(AgentError::Unsearchable)
    }

    /// The agent of this name. Of two the first counts.
    pub(crate) async fn agent(
        &self,
        workspace: Workspace,
        name: &str,
    ) -> Result<Arc<dyn AgentBackend>, AgentError> {
        let Guests { agents, barred, .. } = self.guests_of(workspace).await?;
        let mut known = Vec::new();
        for agent in agents {
            match agent.name() {
                its if its == name => return Ok(agent),
                its => known.push(its),
            }
        }
        let name = name.to_owned();
        Err(match barred.into_iter().find(|agent| agent.name == name) {
            Some(BarredAgent { why, .. }) => AgentError::Barred { name, why },
            None => AgentError::Unknown { name, known },
        })
    }

    /// Whether a name that is chosen as a model's can be: an agent must be there. Who else there is, models know.
    pub(crate) async fn check_model(
        &self,
        workspace: Workspace,
        model: Option<&ModelName>,
    ) -> Result<(), AgentError> {
        match model.and_then(ModelName::guest) {
            Some(name) => self.agent(workspace, name).await.map(drop),
            None => Ok(()),
        }
    }
}

impl Engine {
    /// The agents that plugins bring to a workspace, by the names under which they are chosen like models.
    ///
    /// # Errors
    /// If there is no such workspace, or nobody can say.
    pub async fn agents(&self, workspace: WorkspaceId) -> Result<Vec<ModelName>, EngineError> {
        let workspace = self.workspace(workspace).await?;
        let agents = self.shared().guests_of(workspace).await?.agents;
        let mut names: Vec<ModelName> = Vec::new();
        for name in agents.iter().map(|agent| ModelName::of_guest(&agent.name())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }
}
