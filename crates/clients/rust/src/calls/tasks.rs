//! Tasks. What happens to one is told by its session's stream.

use loggia_protocol_agent_server::{
    AbandonTaskParams, AutoTaskParams, FinishTaskParams, StartTaskParams, Task, TaskList, TaskMetadataParams,
    TaskStepParams, TaskTextParams, UndoParams, UndoTaskParams, WorkItemPage, WorkspaceId,
};

use crate::calls::Page;
use crate::client::Ask;
use crate::{Client, Error};

/// Which items of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Browse {
    /// The provider's scheme, as in `link` or `link:`.
    pub reference: String,
    /// Only with this status.
    pub status: Option<String>,
    /// Only with all of these words, with commas between them.
    pub tag: Option<String>,
    /// Which part.
    pub page: Page,
}

impl Client {
    /// Tasks, the newest first; only those of a workspace, if one is given.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn tasks(&self, workspace: Option<&WorkspaceId>) -> Result<TaskList, Error> {
        self.ask(Ask::get(&["v1", "tasks"]).query("workspace_id", workspace.map(|id| &id.0))).await
    }

    /// One task.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn task(&self, id: &str) -> Result<Task, Error> {
        self.ask(Ask::get(&["v1", "tasks", id])).await
    }

    /// What there is to do.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn browse_tasks(
        &self,
        workspace: &WorkspaceId,
        browse: &Browse,
    ) -> Result<WorkItemPage, Error> {
        let ask = Ask::get(&["v1", "tasks", "browse"])
            .query("workspace_id", Some(&workspace.0))
            .query("reference", Some(&browse.reference))
            .query("status", browse.status.as_ref())
            .query("tag", browse.tag.as_ref())
            .query("limit", browse.page.limit)
            .query("cursor", browse.page.cursor.as_ref());
        self.ask(ask).await
    }

    /// Starts a task. No agent runs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn start_task(&self, params: &StartTaskParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks"]).json(params)).await
    }

    /// Does a task from beginning to end, or goes on with it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn auto_task(&self, params: &AutoTaskParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", "auto"]).json(params)).await
    }

    /// Has an agent write the next specification.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn plan_task(&self, id: &str, params: &TaskStepParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", id, "plan"]).json(params)).await
    }

    /// Has an agent do what the last specification says.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn implement_task(&self, id: &str, params: &TaskStepParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", id, "implement"]).json(params)).await
    }

    /// Has an agent look at what was done.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn review_task(&self, id: &str, params: &TaskStepParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", id, "review"]).json(params)).await
    }

    /// Goes on with what was cut, or asks again whoever holds the task back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn resume_task(&self, id: &str, params: &TaskStepParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", id, "resume"]).json(params)).await
    }

    /// Checks the work, brings it where it belongs, and ends the task.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn finish_task(&self, id: &str, params: &FinishTaskParams) -> Result<Task, Error> {
        self.ask_long(Ask::post(&["v1", "tasks", id, "finish"]).json(params)).await
    }

    /// Gives a task up.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn abandon_task(&self, id: &str, params: &AbandonTaskParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "abandon"]).json(params)).await
    }

    /// Adds a note.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn note_task(&self, id: &str, params: &TaskTextParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "note"]).json(params)).await
    }

    /// Answers the question of a task.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn answer_task(&self, id: &str, params: &TaskTextParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "answer"]).json(params)).await
    }

    /// States a fact that guards may look for, or takes it back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_task_metadata(&self, id: &str, params: &TaskMetadataParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "metadata"]).json(params)).await
    }

    /// Goes back by some checkpoints.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn undo_task(&self, id: &str, params: &UndoTaskParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "undo"]).json(params)).await
    }

    /// Goes forth again.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn redo_task(&self, id: &str, params: &UndoParams) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "redo"]).json(params)).await
    }

    /// Goes past the guard that holds a task back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn override_task(&self, id: &str) -> Result<Task, Error> {
        self.ask(Ask::post(&["v1", "tasks", id, "override"])).await
    }
}
