//! How a task begins: what it is, where its work goes, and its session.
//!
//! Nothing is left behind by one that does not come to be. What comes after its session is there is gone on with.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{
    Actor, EventBody, NewEvent, Occasion, RepositoryError, SessionId, Standing, StepEnd, TaskBranch,
    TaskEvent, TaskId, TaskNames, TaskStart, Timestamp, Workspace,
};

use super::driver::Driver;
use super::error::TaskError;
use super::hooks::Workflow;
use super::line::START;
use super::machine::TaskPhase;
use super::names::{self, Words};
use super::reference::{self, Found, Sources};
use super::request::{StartTask, TaskPlace, TaskView};
use super::tree::{self, NewTree};
use super::{Tasks, agents};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::mask::masked;
use crate::workspace::blocking;

/// What git is not to see of ours: readable files, and plugins that were installed here.
const EXCLUDED: [&str; 2] = [".loggia/tasks/", ".loggia/plugins/"];

/// Said where a file of a workspace that nobody trusts has variables for agents.
const UNTRUSTED_ENVIRONMENT: &str =
    "`agent_env` is left out while the workspace is not trusted; `loggia trust` changes that";

/// How much is kept of an item's text.
const MAX_SOURCE: usize = 1 << 20;

/// The longest reference.
const MAX_REFERENCE: usize = 4 << 10;

pub(super) async fn start(tasks: &Tasks, request: StartTask, by: Actor) -> Result<TaskView, TaskError> {
    let engine = &tasks.engine;
    let home = engine.workspace(request.workspace).await?;
    let reference = request.reference.trim();
    if reference.is_empty() || reference.len() > MAX_REFERENCE {
        return Err(TaskError::Bad(format!("a reference has 1 to {MAX_REFERENCE} bytes")));
    }
    let Sources { providers, barred, names: of_workspace } = tasks.sources(&home).await?;
    let called = engine.shared.settings.tasks.names.clone().or(of_workspace);
    let default = called.scheme.as_deref().unwrap_or(names::SCHEME);
    let found = reference::fetch(&providers, reference, &barred, default).await?;
    let notice = found.notice.clone();
    let held = engine.shared.desk.nobody_starts().await;
    tree::clear(engine).await;
    let session = free_session(tasks).await?;
    let id = TaskId::of(session);
    let (begun, new_tree) = begin(tasks, &request, &home, found, called, session, by.clone()).await?;
    let workspace = match &new_tree {
        Some(new) => tree::make(engine, &home, session, new).await?,
        None => home.clone(),
    };
    let opened = open(tasks, &request, &begun, &workspace, session).await;
    match (&opened, &new_tree) {
        (Err(_), Some(new)) => tree::take_back(engine, session, new).await,
        (Ok(()), Some(_)) => tree::settled(engine, session).await,
        (_, None) => {}
    }
    opened?;
    drop(held);
    let held = tasks.hold(id, session)?;
    let driver = Driver::new(engine, id, session, by, held).await?;
    // A name that is taken, for one: the task never was.
    if let Err(error) = driver.take_branch().await {
        drop(driver);
        engine.delete_session(session).await?;
        forget(tasks, session).await;
        return Err(error);
    }
    let untrusted = match begun.environment.is_empty() || is_trusted(engine, &home).await {
        true => None,
        false => Some(UNTRUSTED_ENVIRONMENT.to_owned()),
    };
    for text in notice.into_iter().chain(untrusted) {
        driver.record(vec![TaskEvent::Noted { text, by: Actor::Engine }]).await?;
    }
    let workflow = driver.workflow().await?;
    match driver.set_up(&workflow).await {
        // It is there, and says what holds it back.
        Ok(()) | Err(TaskError::Held(_)) => driver.ended().await,
        Err(error) => Err(error),
    }
}

/// What the task begins with, and the tree of its own that is to be made for it.
async fn begin(
    tasks: &Tasks,
    request: &StartTask,
    home: &Workspace,
    found: Found,
    called: TaskNames,
    session: SessionId,
    by: Actor,
) -> Result<(TaskStart, Option<NewTree>), TaskError> {
    let Found { provider, key, mut item, mut source, notice: _ } = found;
    source.truncate(source.floor_char_boundary(MAX_SOURCE));
    if let Some(title) = request.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
        item.title = title.to_owned();
    }
    if item.title.trim().is_empty() {
        item.title = request.reference.trim().to_owned();
    }
    // Only a file that somebody wrote for us says who is to do it: whoever files an issue somewhere does not.
    let more = if provider.is_own { item.more.0.as_str() } else { "{}" };
    let words = Words::new(
        TaskId::of(session),
        &item,
        request.key.as_deref(),
        request.title.as_deref(),
        request.slug.as_deref(),
    );
    let pattern = request.branch_pattern.clone().or(called.branch);
    let pattern = pattern.as_deref().unwrap_or(names::BRANCH_PATTERN);
    let prefix = request.commit_prefix.clone().or(called.commit_prefix);
    let prefix = prefix.as_deref().unwrap_or(names::COMMIT_PREFIX);
    let name = words.branch(pattern);
    if name.is_empty() && request.place != TaskPlace::Here {
        return Err(TaskError::Bad(format!("`{pattern}` makes no branch's name of this task")));
    }
    let (branch, tree) = place(tasks, request, home, TaskId::of(session), name).await?;
    let start = TaskStart {
        reference: request.reference.trim().to_owned(),
        provider: provider.provider.name(),
        key,
        source,
        home: home.id,
        branch,
        commit_prefix: words.prefix(prefix),
        agents: agents::with_file(request.agents.clone(), more),
        environment: agents::environment(more),
        item,
        by,
    };
    Ok((start, tree))
}

/// Where the work goes. Nothing is made here.
async fn place(
    tasks: &Tasks,
    request: &StartTask,
    home: &Workspace,
    id: TaskId,
    name: String,
) -> Result<(Option<TaskBranch>, Option<NewTree>), TaskError> {
    if request.place != TaskPlace::Tree {
        check_tree_is_free(tasks, home).await?;
    }
    let repository = (tasks.engine.shared.parts.repositories)(&home.root);
    // First of all: what is excluded is no change.
    let mut excluded = Ok(());
    for pattern in EXCLUDED {
        excluded = excluded.and(repository.exclude(pattern.to_owned()).await);
    }
    if request.place == TaskPlace::Here {
        // Without a branch there need be no repository; where there is one, our files only show in it.
        if let Err(error) = excluded {
            tracing::debug!(%error, "readable files of tasks are not excluded");
        }
        return Ok((None, None));
    }
    excluded?;
    let standing = repository.standing(&home.root).await?;
    check_standing(&standing, request.place)?;
    // Before anything is written down: a branch that is somebody's own must never be taken for the task's.
    if repository.newest(name.clone()).await?.is_some() {
        return Err(RepositoryError::BranchExists(name).into());
    }
    let base = repository.base().await?;
    let from = repository.beginning(base.clone()).await?;
    if request.place != TaskPlace::Tree {
        return Ok((Some(TaskBranch { name, base, from: Some(from), tree: None }), None));
    }
    let beside = names::tree(&standing.main, id).filter(|tree| tree.to_str().is_some());
    let nowhere = || TaskError::Bad(format!("there is no place beside `{}`", standing.main.display()));
    let beside = beside.ok_or_else(nowhere)?;
    // The same part of the repository as the workspace is.
    let part = home.root.strip_prefix(&standing.main).unwrap_or(Path::new(""));
    let new = NewTree {
        home: home.root.clone(),
        tree: beside.clone(),
        root: beside.join(part),
        branch: name.clone(),
        base: base.clone(),
        from: from.0.clone(),
    };
    Ok((Some(TaskBranch { name, base, from: Some(from), tree: Some(beside) }), Some(new)))
}

fn check_standing(standing: &Standing, place: TaskPlace) -> Result<(), TaskError> {
    if standing.is_linked {
        let main = standing.main.display();
        return Err(TaskError::Bad(format!("this is a tree beside `{main}`: start tasks there")));
    }
    if standing.commit.is_none() {
        return Err(RepositoryError::Empty.into());
    }
    match place == TaskPlace::Branch && !standing.changed.is_empty() {
        true => Err(RepositoryError::Dirty(standing.changed.clone()).into()),
        false => Ok(()),
    }
}

/// Only one task at a time works in the workspace itself.
async fn check_tree_is_free(tasks: &Tasks, home: &Workspace) -> Result<(), TaskError> {
    let has_own_tree =
        |view: &TaskView| view.task.start.branch.as_ref().is_some_and(|branch| branch.tree.is_some());
    let views = tasks.list(Some(home.id)).await?;
    match views.iter().find(|view| !view.task.phase.is_over() && !has_own_tree(view)) {
        Some(view) => Err(TaskError::TreeTaken { task: view.id, title: view.task.start.item.title.clone() }),
        None => Ok(()),
    }
}

async fn is_trusted(engine: &Engine, home: &Workspace) -> bool {
    let (trust, root) = (Arc::clone(&engine.shared.trust), home.root.clone());
    blocking(move || trust.is_trusted(&root)).await
}

/// A session's id whose task has a name of its own.
async fn free_session(tasks: &Tasks) -> Result<SessionId, TaskError> {
    let taken: Vec<TaskId> = tasks.sessions().await?.into_iter().map(TaskId::of).collect();
    loop {
        let session = SessionId::new();
        if !taken.contains(&TaskId::of(session)) {
            return Ok(session);
        }
    }
}

/// Opens the session of a task: both begin together, or neither.
async fn open(
    tasks: &Tasks,
    request: &StartTask,
    start: &TaskStart,
    workspace: &Workspace,
    session: SessionId,
) -> Result<(), TaskError> {
    let engine = &tasks.engine;
    let shared = &engine.shared;
    let catalogue = shared.desk.catalogue.clone();
    let noted = blocking(move || catalogue.add(session)).await;
    noted.map_err(|error| EngineError::Tasks(error.to_string()))?;
    let opened = EventBody::SessionOpened {
        workspace: workspace.id,
        title: Some(start.item.title.chars().take(256).collect()),
        model: engine.default_model(),
        preset: request.preset,
        budget: request.budget,
        forked_from: None,
        by: start.by.clone(),
    };
    let started = EventBody::Task(TaskEvent::Started(Box::new(start.clone())));
    let at = Timestamp::now();
    let event = |body| NewEvent { at, turn: None, body: masked(&shared.masker, body) };
    let stored = shared.parts.store.append(session, [opened, started].map(event).to_vec()).await;
    if let Err(error) = stored {
        forget(tasks, session).await;
        return Err(error.into());
    }
    tracing::info!(task = %TaskId::of(session), %session, "task started");
    Ok(())
}

async fn forget(tasks: &Tasks, session: SessionId) {
    let catalogue = tasks.engine.shared.desk.catalogue.clone();
    if let Err(error) = blocking(move || catalogue.remove(session)).await {
        tracing::warn!(%error, %session, "a task that did not begin stays in the list");
    }
}

impl Driver {
    /// Begins the task's branch.
    async fn take_branch(&self) -> Result<(), TaskError> {
        let task = self.task().await?;
        let Some(branch) = task.start.branch.as_ref().filter(|branch| branch.tree.is_none()) else {
            return Ok(());
        };
        let (name, base) = (branch.name.clone(), branch.base.clone());
        Ok(self.repository.begin_branch(&self.home.root, name, base).await?)
    }

    /// Whether the branch is where it was made.
    pub(super) async fn is_untouched(&self, branch: &TaskBranch) -> Result<bool, TaskError> {
        Ok(tree::is_untouched(self.repository.as_ref(), &branch.name, branch.from.as_ref()).await?)
    }

    /// What is left of setting a task up once it is in the journal.
    pub(super) async fn set_up(&self, workflow: &Workflow) -> Result<(), TaskError> {
        let task = self.task().await?;
        if let Some(branch) = task.start.branch.as_ref().filter(|branch| branch.tree.is_none()) {
            let standing = self.repository.standing(&self.home.root).await?;
            if standing.branch.as_ref() != Some(&branch.name) {
                // A crash came before the branch, or between making it and going there. One that is elsewhere by now is
                // somebody's own.
                let taken = self.take_branch().await;
                let is_there =
                    matches!(&taken, Err(TaskError::Repository { error: RepositoryError::BranchExists(_) }));
                match is_there && self.is_untouched(branch).await? {
                    true => self.go_on_branch().await?,
                    false => taken?,
                }
            }
        }
        if task.phase == TaskPhase::Paused {
            let (step, by) = (START.to_owned(), self.by.clone());
            self.record(vec![TaskEvent::Entered { step, by }]).await?;
        }
        self.checkpoint(workflow, START).await?;
        self.run_effects(workflow, START, Occasion::TaskStarted).await?;
        self.record(vec![TaskEvent::Left { step: START.to_owned(), end: StepEnd::Done }]).await
    }
}
