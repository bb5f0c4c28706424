//! Open messages and the commands of extensions, as the engine offers them.
//!
//! Knows whose desk is whose, and which of their tools a model is told of now. Refuses to know what a message or an
//! extension is inside.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CommandDone, Decision, Demand, ExtensionDesk, ExtensionDeskError, ExtensionState,
    GuestCommand, GuestCommands, GuestError, MessageDesk, Tool, ToolSpec, Workspace, WorkspaceId,
};
use loggia_tree::TreePath;

use crate::Engine;
use crate::engine::Shared;
use crate::error::EngineError;
use crate::policy::VerdictSource;
use crate::workspace::blocking;

impl Engine {
    /// The desk with a workspace's open message, if it has one.
    ///
    /// # Errors
    /// If there is no such workspace, or the store cannot say.
    pub async fn message_desk(&self, id: WorkspaceId) -> Result<Option<Arc<dyn MessageDesk>>, EngineError> {
        let workspace = self.workspace(id).await?;
        Ok((self.shared.parts.desks.messages)(&workspace))
    }

    /// Whether a file may be opened or saved as a message by people themselves. What is built in and what rules deny
    /// holds for them, too: there is no way around it through a message. Presets are about the agent.
    ///
    /// # Errors
    /// If there is no such workspace, or its policy cannot be read.
    pub async fn check_message_file(
        &self,
        workspace: WorkspaceId,
        access: MessageAccess,
        path: &str,
    ) -> Result<Result<(), String>, EngineError> {
        if let Err(why) = self.judge_message_file(workspace, access, path).await? {
            return Ok(Err(why));
        }
        // A link inside the workspace may lead to a file with rules of its own.
        let root = self.shared.open_workspace(workspace).await?.root();
        let typed = path.to_owned();
        let real = blocking(move || {
            let path = TreePath::parse(&typed).map_err(|error| error.to_string())?;
            root.real_path_of(&path).map_err(|error| error.to_string())
        });
        match real.await {
            Ok(real) => self.judge_message_file(workspace, access, real.as_str()).await,
            Err(why) => Ok(Err(why)),
        }
    }

    async fn judge_message_file(
        &self,
        workspace: WorkspaceId,
        access: MessageAccess,
        path: &str,
    ) -> Result<Result<(), String>, EngineError> {
        let paths = vec![path.to_owned()];
        let (tool, demand) = match access {
            MessageAccess::Reads => ("message_open", Demand { reads: paths, ..Demand::default() }),
            MessageAccess::Writes => ("message_save", Demand { writes: paths, ..Demand::default() }),
        };
        let verdict = self.judge(workspace, None, tool, demand).await?;
        Ok(match (verdict.decision, verdict.source) {
            (Decision::Deny, source) if source != VerdictSource::Preset => Err(verdict.reason),
            _ => Ok(()),
        })
    }

    /// Looks after extensions.
    pub fn extensions(&self) -> &Arc<dyn ExtensionDesk> {
        &self.shared.parts.desks.extensions
    }
}

/// What is done to a message's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageAccess {
    /// It is opened.
    Reads,
    /// It is saved to.
    Writes,
}

/// What a workspace has of desks, and the tools for it.
pub(crate) struct WorkspaceDesks {
    messages: Option<Arc<dyn MessageDesk>>,
    extensions: Arc<dyn ExtensionDesk>,
    commands: Arc<dyn GuestCommands>,
    workspace: Workspace,
    for_messages: Vec<Arc<dyn Tool>>,
    for_commands: Vec<Arc<dyn Tool>>,
}

impl WorkspaceDesks {
    pub(crate) fn of(shared: &Shared, workspace: &Workspace) -> Self {
        let desks = &shared.parts.desks;
        let messages = (desks.messages)(workspace);
        let extensions = Arc::clone(&desks.extensions);
        let commands =
            Arc::new(OfWorkspace { extensions: Arc::clone(&extensions), workspace: workspace.clone() });
        let tools = (desks.tools)(messages.clone(), Arc::clone(&commands) as Arc<dyn GuestCommands>);
        Self {
            messages,
            extensions,
            commands,
            workspace: workspace.clone(),
            for_messages: tools.messages,
            for_commands: tools.commands,
        }
    }

    /// The commands of the workspace's extensions.
    pub(crate) fn commands(&self) -> &Arc<dyn GuestCommands> {
        &self.commands
    }

    /// All tools for desks, whether a model is told of them or not.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.for_messages.iter().chain(&self.for_commands)
    }

    /// What models are told about the tools that have something to work on now.
    pub(crate) async fn offered(&self) -> Vec<ToolSpec> {
        let mut offered = Vec::new();
        let specs =
            |tools: &[Arc<dyn Tool>]| tools.iter().map(|tool| tool.spec().clone()).collect::<Vec<_>>();
        if let Some(desk) = self.messages.as_ref().filter(|_| !self.for_messages.is_empty())
            && desk.current().await.is_some()
        {
            offered.extend(specs(&self.for_messages));
        }
        if !self.for_commands.is_empty() && self.has_extensions().await {
            offered.extend(specs(&self.for_commands));
        }
        offered
    }

    /// Whether there is an extension that may run.
    async fn has_extensions(&self) -> bool {
        let may_run =
            |state: &ExtensionState| !matches!(state, ExtensionState::Disabled | ExtensionState::Untrusted);
        match self.extensions.list(self.workspace.clone()).await {
            Ok(listing) => listing.extensions.iter().any(|extension| may_run(&extension.state)),
            Err(error) => {
                tracing::warn!(workspace = %self.workspace.id, %error, "extensions cannot be listed");
                false
            }
        }
    }
}

/// The commands of whatever extensions a workspace has when it is asked.
struct OfWorkspace {
    extensions: Arc<dyn ExtensionDesk>,
    workspace: Workspace,
}

impl OfWorkspace {
    async fn now(&self) -> Result<Arc<dyn GuestCommands>, GuestError> {
        let commands = self.extensions.commands(self.workspace.clone()).await;
        commands.map_err(|error| match error {
            ExtensionDeskError::NotFound(why) => GuestError::NotFound(why),
            ExtensionDeskError::NotAllowed(why) => GuestError::Untrusted(why),
            ExtensionDeskError::Failed(why) => GuestError::Failed(why),
        })
    }
}

impl GuestCommands for OfWorkspace {
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>> {
        Box::pin(async move { self.now().await?.commands().await })
    }

    fn execute(
        &self,
        command: String,
        extension: Option<String>,
        limit: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>> {
        Box::pin(async move { self.now().await?.execute(command, extension, limit).await })
    }
}
