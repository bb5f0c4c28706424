//! What must hold before a step begins: somebody is there to do it, and its checkpoint will hold the task's own work.
//!
//! Both are looked at before anything happens to the task, so that whoever is refused finds it where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use loggia_domain::{ContentHash, EventBody, FileState, ModelError, ModelName, Seq};

use super::agents;
use super::driver::Driver;
use super::error::TaskError;
use super::fold::Task;
use crate::session::State;
use crate::workspace::blocking;

impl Driver {
    /// Whether somebody is there to do a step that is about to begin. One whose turn has begun is theirs who has it.
    pub(super) async fn check_agent(&self, step: &str, with_step: Option<&str>) -> Result<(), TaskError> {
        let state = self.state().await?;
        let task = state.task.as_ref().ok_or(TaskError::NotFound(self.id))?;
        let open = task.open.as_ref().filter(|open| open.name == step);
        if open.is_some_and(|open| open.turn.is_some() || open.said || open.checkpoint) {
            return Ok(());
        }
        self.agent_of(&state, task, step, with_step).await.map(drop)
    }

    /// The model or the agent that is to do a step; nothing if the session, which has none of its own, uses the default.
    pub(super) async fn agent_of(
        &self,
        state: &State,
        task: &Task,
        step: &str,
        with_step: Option<&str>,
    ) -> Result<Option<ModelName>, TaskError> {
        let settings = &self.engine.shared.settings.tasks.agents;
        if let Some(agent) = agents::chosen(step, with_step, &task.start.agents, settings) {
            return self.named_agent(agent).await.map(Some);
        }
        let named = self.engine.shared.parts.guests.guests(self.home.clone()).await?.named;
        if let Some(agent) = agents::of_workspace(step, &named) {
            return self.able(ModelName::of_guest(agent)).await.map(Some);
        }
        let chosen = self.first_model().await?.or_else(|| self.engine.default_model());
        match chosen {
            Some(name) => self.able(name).await.map(Some),
            None => {
                let default = self.engine.shared.parts.models.find_for_work(None).await.map_err(no_model)?;
                Ok(state.model.is_some().then(|| default.info().name))
            }
        }
    }

    /// Who is called so: an agent of a plugin, by its name alone or in full, or a model.
    async fn named_agent(&self, agent: &str) -> Result<ModelName, TaskError> {
        let shared = &self.engine.shared;
        let guests = shared.parts.guests.guests(self.home.clone()).await?.agents;
        let names: Vec<String> = guests.iter().map(|guest| guest.name()).collect();
        let name = agents::model(agent, &names);
        match self.able(name).await {
            // What is not written like a model's name was probably meant for an agent's.
            Err(TaskError::NoModel(_)) if !agent.contains(':') => {
                shared.agent(self.home.clone(), agent).await?;
                Ok(ModelName::of_guest(agent))
            }
            able => able,
        }
    }

    /// The name, if whoever has it can work.
    async fn able(&self, name: ModelName) -> Result<ModelName, TaskError> {
        let shared = &self.engine.shared;
        match name.guest() {
            Some(agent) => drop(shared.agent(self.home.clone(), agent).await?),
            None => drop(shared.parts.models.find_for_work(Some(&name)).await.map_err(no_model)?),
        }
        Ok(name)
    }

    /// The model that the session began with.
    async fn first_model(&self) -> Result<Option<ModelName>, TaskError> {
        let opening = self.engine.events(self.session, Seq(0), 1).await?;
        Ok(opening.into_iter().find_map(|event| match event.body {
            EventBody::SessionOpened { model, .. } => model,
            _ => None,
        }))
    }

    /// Whether the tree holds nothing uncommitted but what the task itself left there: a checkpoint takes all there is,
    /// and what somebody else is working on is not the task's to commit.
    pub(super) async fn check_tree(&self) -> Result<(), TaskError> {
        let state = self.state().await?;
        let task = state.task.as_ref().ok_or(TaskError::NotFound(self.id))?;
        if task.start.branch.is_none() {
            return Ok(());
        }
        let mut changed = self.changed(task).await?;
        if !changed.is_empty() {
            let own = self.own_changes(&state, task).await?;
            let left = self.left_by_check();
            changed.retain(|path| !own.contains(path) && !left.contains(path));
        }
        if changed.is_empty() { Ok(()) } else { Err(TaskError::NotCommitted(changed)) }
    }

    /// What no commit holds in the task's tree.
    pub(super) async fn changed(&self, task: &Task) -> Result<Vec<String>, TaskError> {
        Ok(self.repository.standing(&self.tree(task)).await?.changed)
    }

    /// Files that are as turns of the task since its last checkpoint left them, such as those of a step that failed, as
    /// paths of the repository.
    async fn own_changes(&self, state: &State, task: &Task) -> Result<BTreeSet<String>, TaskError> {
        let depth = task.checkpoint().map_or(0, |checkpoint| checkpoint.depth);
        let entries = state.undo.done().get(depth..).unwrap_or_default();
        let changes = entries.iter().flat_map(|entry| &entry.changes);
        // The last change of a file is what it was left with.
        let last: BTreeMap<String, Option<FileState>> =
            changes.map(|change| (change.path.clone(), change.after)).collect();
        if last.is_empty() {
            return Ok(BTreeSet::new());
        }
        let root = self.engine.workspace(state.opened.workspace).await?.root;
        let top = match task.start.branch.as_ref().and_then(|branch| branch.tree.clone()) {
            Some(tree) => tree,
            None => self.repository.standing(&root).await?.main,
        };
        let part = root.strip_prefix(&top).map(PathBuf::from).unwrap_or_default();
        Ok(blocking(move || {
            let is_as_left = |path: &str, left: Option<&FileState>| state_of(&root.join(path)) == hash(left);
            let own = last.iter().filter(|(path, left)| is_as_left(path, left.as_ref()));
            own.map(|(path, _)| part.join(path).to_string_lossy().into_owned()).collect()
        })
        .await)
    }
}

fn hash(state: Option<&FileState>) -> Option<ContentHash> {
    state.map(|state| state.hash)
}

/// What a file holds, or where a link points; nothing if it is not there or cannot be read.
fn state_of(path: &Path) -> Option<ContentHash> {
    match fs::symlink_metadata(path).ok()?.is_symlink() {
        true => fs::read_link(path).ok().map(|target| ContentHash::of(target.as_os_str().as_encoded_bytes())),
        false => fs::read(path).ok().map(|bytes| ContentHash::of(&bytes)),
    }
}

fn no_model(error: ModelError) -> TaskError {
    TaskError::NoModel(error.message)
}
