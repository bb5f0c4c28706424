//! Looking from outside of any session: journals, what a policy would say, and tools that only read.
//!
//! Nothing here changes anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use loggia_domain::{
    ArgumentError, Client, Decision, Demand, Event, JsonText, Policy, Seq, SessionId, ToolContext,
    ToolEffect, ToolError, ToolSpec, WorkspaceId,
};

use crate::counts::Counts;
use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::policy::Verdict;
use crate::session::{Command, SessionHandle, State};

/// How many events are read at a time.
const PAGE: usize = 512;

/// Why looking came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The workspace cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no tool with this name, or it does more than look.
    #[error("{0}")]
    NoSuchTool(String),
    /// The arguments make no sense to the tool.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// The policy does not allow it without asking, and nobody is there to ask.
    #[error("{0}")]
    Refused(String),
    /// The tool could not.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Engine {
    /// Up to `limit` of a session's events after a number.
    ///
    /// # Errors
    /// If there is no such session, or the store cannot.
    pub async fn events(&self, id: SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, EngineError> {
        Ok(self.shared.parts.store.events(id, after, limit).await?)
    }

    /// How a session is by its journal alone. Nothing is brought into memory and nothing is settled, so this also works
    /// where its workspace cannot be opened; a turn that seems to run may have been cut.
    ///
    /// # Errors
    /// If there is no such session, or the store cannot.
    pub async fn peek(&self, id: SessionId) -> Result<State, EngineError> {
        let mut state: Option<State> = None;
        let mut after = Seq(0);
        loop {
            let events = self.shared.parts.store.events(id, after, PAGE).await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for event in &events {
                match &mut state {
                    Some(state) => state.apply(event),
                    None => state = State::begin(event),
                }
            }
        }
        state.ok_or(EngineError::BadJournal(id))
    }

    /// How a session is now, if it is in memory. If it is not, nothing runs there, whatever its journal says.
    pub async fn live(&self, id: SessionId) -> Option<Arc<State>> {
        if let Some(handle) = self.shared.if_loaded(id).await
            && let Some(state) = handle.state().await
        {
            return Some(state);
        }
        self.shared.forget_empty(id);
        None
    }

    /// Who is on a session now; nobody if it is not in memory.
    pub async fn clients(&self, id: SessionId) -> Vec<Client> {
        match self.shared.if_loaded(id).await {
            Some(handle) => handle.ask(|answer| Command::Clients { answer }).await.unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// Opens a workspace, to see whether that can be done.
    ///
    /// # Errors
    /// If there is none, or its directory or its policy cannot be used.
    pub async fn try_workspace(&self, id: WorkspaceId) -> Result<(), EngineError> {
        self.shared.open_workspace(id).await.map(drop)
    }

    /// What models are told about a workspace's tools.
    ///
    /// # Errors
    /// If there is none, or its directory or its policy cannot be used.
    pub async fn tools(&self, id: WorkspaceId) -> Result<Arc<[ToolSpec]>, EngineError> {
        Ok(self.shared.open_workspace(id).await?.offered().await)
    }

    /// What a workspace's policy, or a draft of one, says to a call outside of any session.
    ///
    /// # Errors
    /// If there is no such workspace, it cannot be opened, or a rule cannot be read.
    pub async fn judge(
        &self,
        workspace: WorkspaceId,
        draft: Option<Policy>,
        tool: &str,
        demand: Demand,
    ) -> Result<Verdict, EngineError> {
        let open = self.shared.open_workspace(workspace).await?;
        Ok(match draft {
            Some(draft) => open.judge_draft(&self.shared, draft).await?.judge(tool, &demand),
            None => open.judge_alone(&self.shared).await?.judge(tool, &demand),
        })
    }

    /// Whether the agent has a tool of this name there; if not, which it has.
    ///
    /// # Errors
    /// If the workspace cannot be opened.
    pub async fn has_tool(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Result<(), String>, EngineError> {
        let open = self.shared.open_workspace(workspace).await?;
        Ok(open.tool(name).map(drop))
    }

    /// Calls a tool that only reads, under the workspace's policy; what it tells is masked. Dropping the future ends it.
    ///
    /// # Errors
    /// Why it came to nothing.
    pub async fn look(
        &self,
        workspace: WorkspaceId,
        tool: &str,
        arguments: &JsonText,
    ) -> Result<String, LookError> {
        let open = self.shared.open_workspace(workspace).await?;
        let call = open.tool(tool).map_err(LookError::NoSuchTool)?.prepare(arguments)?;
        let demand = call.demand();
        if !demand.only_reads() {
            return Err(LookError::NoSuchTool(format!("`{tool}` does more than look")));
        }
        let judge = open.judge_alone(&self.shared).await?;
        let verdict = judge.judge(tool, &demand);
        if verdict.decision != Decision::Allow {
            return Err(LookError::Refused(verdict.reason));
        }
        let context = ToolContext {
            may_read: Arc::new(move |path| judge.may_read(path)),
            overlay: Arc::new(BTreeMap::new()),
        };
        match call.run(context).await? {
            ToolEffect::Output(output) => Ok(self.shared.masker.mask(&output).into_owned()),
            ToolEffect::Edits(_)
            | ToolEffect::Command(_)
            | ToolEffect::GuestCommand(_)
            | ToolEffect::Plan(_) => Err(LookError::NoSuchTool(format!("`{tool}` does more than look"))),
        }
    }

    /// What has happened since the engine started.
    pub fn counts(&self) -> Counts {
        self.shared.counters.counts()
    }
}

impl Shared {
    /// A session's task, if it has one. Waits for one that is being loaded; begins none.
    async fn if_loaded(&self, id: SessionId) -> Option<SessionHandle> {
        let slot = Arc::clone(self.sessions().get(&id)?);
        let handle = slot.lock().await.clone();
        handle.filter(|handle| !handle.commands.is_closed())
    }

    /// Takes an empty slot off the map. A session that leaves memory does that itself, unless somebody looks into its
    /// slot just then.
    fn forget_empty(&self, id: SessionId) {
        let mut sessions = self.sessions();
        let is_empty = sessions.get(&id).is_some_and(|slot| {
            Arc::strong_count(slot) == 1
                && slot
                    .try_lock()
                    .is_ok_and(|place| place.as_ref().is_none_or(|handle| handle.commands.is_closed()))
        });
        if is_empty {
            sessions.remove(&id);
        }
    }
}
