//! Tasks: which there are, how they stand, and what is done about them.
//!
//! What takes a step is followed like a question to the agent: what happens is shown, and what is asked is answered at the
//! keyboard.

mod show;
mod steps;

use std::path::{Path, PathBuf};

use loggia_client::{Browse, Client};
use loggia_protocol_agent_server::{
    AbandonTaskParams, Budget, PolicyPreset, StartTaskParams, Task, TaskAgents, TaskMetadataParams,
    TaskPlace, TaskTextParams, UndoParams, UndoTaskParams, WorkItem,
};
use serde_json::Value;

pub use steps::{TaskAuto, TaskStep, TaskSteps, task_auto, task_step};

use super::table::table;
use super::{confirm, say, say_json};
use crate::ask::workspace;
use crate::paint::first_line;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// How many tasks are named when it is not clear which is meant.
const NAMED: usize = 5;

/// Which tasks there are.
#[derive(Debug, Clone)]
pub struct TaskList {
    /// Of this directory; of all otherwise.
    pub workspace: Option<PathBuf>,
    /// Also those that are over.
    pub all: bool,
    /// As JSON.
    pub json: bool,
}

/// Lists tasks, newest first.
///
/// # Errors
/// See [`CliError`].
pub async fn task_list(
    client: &Client,
    options: TaskList,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = match &options.workspace {
        Some(directory) => Some(workspace(client, directory).await?.workspace_id),
        None => None,
    };
    let mut listing = client.tasks(place.as_ref()).await?;
    listing.tasks.retain(|task| options.all || !show::is_over(task));
    if options.json {
        say_json(terminal, &listing)?;
        return Ok(Outcome::Done);
    }
    if listing.tasks.is_empty() {
        let hint = "There are no tasks under way; `loggia task start REFERENCE` begins one.\n";
        terminal.err(hint).map_err(CliError::Output)?;
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<String>> = listing.tasks.iter().map(show::row).collect();
    let width = terminal.stdout_is_terminal().then(|| terminal.width());
    let text = table(&["TASK", "PHASE", "BRANCH", "TITLE"], &rows, terminal.paint_out(), width);
    terminal.out(&text).map_err(CliError::Output)?;
    Ok(Outcome::Done)
}

/// What there is to do somewhere.
#[derive(Debug, Clone)]
pub struct TaskBrowse {
    /// As this directory sees it.
    pub workspace: PathBuf,
    /// Where, and which.
    pub browse: Browse,
    /// As JSON.
    pub json: bool,
}

/// Lists what there is to do at a provider.
///
/// # Errors
/// See [`CliError`].
pub async fn task_browse(
    client: &Client,
    options: TaskBrowse,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = workspace(client, &options.workspace).await?.workspace_id;
    let page = client.browse_tasks(&place, &options.browse).await?;
    if options.json {
        say_json(terminal, &page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        terminal.err("There is nothing to do there.\n").map_err(CliError::Output)?;
        return Ok(Outcome::Done);
    }
    let row = |item: &WorkItem| {
        let status = item.status.clone().unwrap_or_else(|| "-".to_owned());
        vec![item.reference.clone(), status, item.tags.join(","), first_line(&item.title).into_owned()]
    };
    let rows: Vec<Vec<String>> = page.items.iter().map(row).collect();
    let width = terminal.stdout_is_terminal().then(|| terminal.width());
    let text = table(&["REFERENCE", "STATUS", "TAGS", "TITLE"], &rows, terminal.paint_out(), width);
    terminal.out(&text).map_err(CliError::Output)?;
    if let Some(cursor) = page.next_cursor {
        terminal.err(&format!("There is more: `--cursor {cursor}`.\n")).map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

/// A task to start.
#[derive(Debug, Clone)]
pub struct TaskStart {
    /// In this directory.
    pub workspace: PathBuf,
    /// What.
    pub reference: String,
    /// Where its work goes.
    pub place: Option<TaskPlace>,
    /// What it is called for short.
    pub key: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The title as a part of a name.
    pub slug: Option<String>,
    /// How the branch is called.
    pub branch_pattern: Option<String>,
    /// What commits begin with.
    pub commit_prefix: Option<String>,
    /// Which agents do the work.
    pub agents: TaskAgents,
    /// How much is allowed without asking.
    pub preset: Option<PolicyPreset>,
    /// What it may use up.
    pub budget: Option<Budget>,
    /// As JSON.
    pub json: bool,
}

impl TaskStart {
    async fn params(&self, client: &Client) -> Result<StartTaskParams, CliError> {
        Ok(StartTaskParams {
            workspace_id: workspace(client, &self.workspace).await?.workspace_id,
            reference: self.reference.trim().to_owned(),
            place: self.place.clone(),
            key: self.key.clone(),
            title: self.title.clone(),
            slug: self.slug.clone(),
            branch_pattern: self.branch_pattern.clone(),
            commit_prefix: self.commit_prefix.clone(),
            agents: (self.agents != TaskAgents::default()).then(|| self.agents.clone()),
            policy_preset: self.preset,
            budget: self.budget,
        })
    }
}

/// Starts a task. No agent runs.
///
/// # Errors
/// See [`CliError`].
pub async fn task_start(
    client: &Client,
    options: TaskStart,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let params = options.params(client).await?;
    let task = client.start_task(&params).await?;
    tell(terminal, &task, options.json)
}

/// A task that is there.
#[derive(Debug, Clone)]
pub struct TaskNamed {
    /// Which; the only one of the workspace that is under way otherwise.
    pub task: Option<String>,
    /// In this directory.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// Shows how a task stands.
///
/// # Errors
/// See [`CliError`].
pub async fn task_status(
    client: &Client,
    options: TaskNamed,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let task = named(client, options.task, &options.workspace).await?;
    match options.json {
        true => say_json(terminal, &task)?,
        false => say(terminal, &show::facts(&task, terminal))?,
    }
    Ok(Outcome::Done)
}

/// A single thing that is done about a task, without an agent.
#[derive(Debug, Clone)]
pub enum TaskAct {
    /// Add a note.
    Note(String),
    /// Answer its question.
    Answer(String),
    /// State a fact, as JSON or in plain words; without a value, take it back.
    Set {
        /// The fact.
        name: String,
        /// What.
        value: Option<String>,
    },
    /// Go back by so many checkpoints.
    Undo {
        /// How many; also none, if something is thrown away.
        steps: u32,
        /// Changes that no commit holds are thrown away.
        discard: bool,
    },
    /// Go forth again.
    Redo(u32),
    /// Go past the guard that holds it back.
    Override,
    /// Give it up.
    Abandon {
        /// Its branch stays.
        keep_branch: bool,
        /// Its readable files stay.
        keep_files: bool,
        /// Changes that no commit holds are thrown away.
        discard: bool,
        /// Without asking.
        yes: bool,
    },
}

/// Does a single thing about a task.
///
/// # Errors
/// See [`CliError`].
pub async fn task_act(
    client: &Client,
    options: TaskNamed,
    act: TaskAct,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let found = named(client, options.task, &options.workspace).await?;
    let id = found.task_id.as_str();
    let task = match act {
        TaskAct::Note(text) => client.note_task(id, &TaskTextParams { text }).await?,
        TaskAct::Answer(text) => client.answer_task(id, &TaskTextParams { text }).await?,
        TaskAct::Set { name, value } => {
            let value = value.map(|text| fact(&text).into());
            client.set_task_metadata(id, &TaskMetadataParams { name, value }).await?
        }
        TaskAct::Undo { steps, discard } => {
            client.undo_task(id, &UndoTaskParams { steps: Some(steps), discard }).await?
        }
        TaskAct::Redo(steps) => client.redo_task(id, &UndoParams { steps: Some(steps) }).await?,
        TaskAct::Override => client.override_task(id).await?,
        TaskAct::Abandon { keep_branch, keep_files, discard, yes } => {
            let branch = found.branch.as_ref().filter(|_| !keep_branch);
            let also = if discard { " and what is not committed" } else { "" };
            let gone =
                branch.map(|branch| format!(", with its branch {}{also}", branch.name)).unwrap_or_default();
            let what = format!("Give up {id}, \"{}\"{gone}?", first_line(&found.title));
            if !yes && !confirm(terminal, &what, interrupts).await? {
                return Ok(Outcome::Refused);
            }
            client.abandon_task(id, &AbandonTaskParams { keep_branch, keep_files, discard }).await?
        }
    };
    tell(terminal, &task, options.json)
}

/// What somebody states: JSON if it is some, else the words as they are.
fn fact(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Tells how a task is, in a line.
fn tell(terminal: &mut Terminal, task: &Task, json: bool) -> Result<Outcome, CliError> {
    match json {
        true => say_json(terminal, task)?,
        false => say(terminal, &show::line(task))?,
    }
    if let (false, Some(next)) = (json, show::next(task)) {
        terminal.err(&format!("{next}\n")).map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

/// The task that is meant.
async fn named(client: &Client, id: Option<String>, directory: &Path) -> Result<Task, CliError> {
    if let Some(id) = id {
        return Ok(client.task(&id).await?);
    }
    let place = workspace(client, directory).await?.workspace_id;
    let mut open = client.tasks(Some(&place)).await?.tasks;
    open.retain(|task| !show::is_over(task));
    match open.len() {
        0 => Err(CliError::NoTask),
        1 => Ok(open.swap_remove(0)),
        count => {
            let candidate = |task: &Task| format!("{} \"{}\"", task.task_id, first_line(&task.title));
            let candidates = open.iter().take(NAMED).map(candidate).collect();
            Err(CliError::SeveralTasks { count, candidates })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_json_or_plain_words() {
        assert_eq!(fact("true"), Value::Bool(true));
        assert_eq!(fact("{\"a\":1}"), serde_json::json!({"a": 1}));
        assert_eq!(fact("by alice"), Value::String("by alice".to_owned()));
        assert_eq!(fact("\"7\""), Value::String("7".to_owned()));
    }
}
