//! The handle on tasks: what can be asked of them, and who may.
//!
//! Knows who may ask what and when. Refuses to know how it is done: a driver does that, in the background, one for a task
//! at a time.

use std::sync::Arc;

use loggia_domain::{
    Actor, EventBody, GuardWord, Guests, JsonText, Page, ProviderAbility, Role, SessionId, StoreError,
    TaskEvent, TaskId, WorkItem, WorkQuery, Workspace, WorkspaceId,
};
use tokio::sync::OwnedMutexGuard;

use super::driver::{self, Driver};
use super::error::{LIST, TaskError};
use super::fold::{GuardName, Task};
use super::line::{IMPLEMENTING, Line, PLANNING, REVIEWING};
use super::reference::{self, Provider, Sources};
use super::render::Company;
use super::request::{
    AbandonTask, AutoTask, FinishTask, StartTask, StepRequest, TaskRun, TaskView, Uncommitted,
};
use super::{files, hooks, machine, record, start};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::workspace::blocking;

/// The longest note, answer or fact. A model reads them all with each step.
const MAX_NOTE: usize = 64 << 10;

/// The longest name of a fact, and how many there may be.
const MAX_FACT_NAME: usize = 200;
const MAX_FACTS: usize = 200;

/// Tasks of an engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tasks {
    pub(super) engine: Engine,
}

impl Engine {
    /// Its tasks.
    pub fn tasks(&self) -> Tasks {
        Tasks { engine: self.clone() }
    }
}

impl Tasks {
    /// Starts a task, and waits until it is set up. No agent runs.
    ///
    /// # Errors
    /// Why there is none: nothing has changed then.
    pub async fn start(&self, request: StartTask, by: Actor) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Drive)?;
        let (tasks, stop) = (self.clone(), self.engine.shared.stop.clone());
        // To its end, also if whoever asked has gone.
        let done = self.engine.shared.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Err(TaskError::Stopping),
                done = start::start(&tasks, request, by) => done,
            }
        });
        match done.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(TaskError::Stopping),
            },
        }
    }

    /// Lists tasks, the newest first; only those of a workspace, if one is given.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn list(&self, workspace: Option<WorkspaceId>) -> Result<Vec<TaskView>, TaskError> {
        let mut views = Vec::new();
        for session in self.sessions().await? {
            let view = match self.view(session).await {
                Ok(view) => view,
                // It was deleted, or never came to be.
                Err(TaskError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            if workspace.is_none_or(|workspace| view.task.start.home == workspace) {
                views.push(view);
            }
        }
        Ok(views)
    }

    /// One task.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub async fn status(&self, id: TaskId) -> Result<TaskView, TaskError> {
        self.view(self.session_of(id).await?).await
    }

    /// The line of steps that a task goes along, as its workspace's guests say now. This may start them.
    ///
    /// # Errors
    /// If there is none, or the guests cannot be found.
    pub async fn line(&self, id: TaskId) -> Result<Line, TaskError> {
        let home = self.status(id).await?.task.start.home;
        let home = self.engine.workspace(home).await?;
        Ok(hooks::Workflow::of(&self.engine, home).await?.line)
    }

    /// The line of steps as the guests of a task's workspace said last; nothing if nobody has asked them yet. Starts
    /// nobody.
    pub fn known_line(&self, view: &TaskView) -> Option<Arc<Line>> {
        self.engine.shared.desk.lines().get(&view.task.start.home).map(Arc::clone)
    }

    /// Items of the provider with this scheme.
    ///
    /// # Errors
    /// If there is none, it cannot list, or fails.
    pub async fn browse(
        &self,
        workspace: WorkspaceId,
        scheme: &str,
        query: WorkQuery,
    ) -> Result<Page<WorkItem>, TaskError> {
        let workspace = self.engine.workspace(workspace).await?;
        let Sources { providers, barred, .. } = self.sources(&workspace).await?;
        let has = |provider: &&Provider| provider.provider.schemes().iter().any(|known| known == scheme);
        let found = providers.iter().find(has).map(|found| Arc::clone(&found.provider));
        let found = found.ok_or_else(|| reference::unknown(scheme, &providers, &barred))?;
        // One that has not been started yet may say only then what it can do.
        found.ready().await?;
        match found.can(ProviderAbility::List) {
            true => Ok(found.list(query).await?),
            false => Err(TaskError::ProviderCannot { provider: found.name(), what: LIST }),
        }
    }

    /// Has an agent write the next specification.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn plan(&self, id: TaskId, request: StepRequest, by: Actor) -> Result<TaskRun, TaskError> {
        self.step(id, PLANNING, request, by).await
    }

    /// Has an agent do what the last specification says.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn implement(&self, id: TaskId, request: StepRequest, by: Actor) -> Result<TaskRun, TaskError> {
        self.step(id, IMPLEMENTING, request, by).await
    }

    /// Has an agent look at what was done.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn review(&self, id: TaskId, request: StepRequest, by: Actor) -> Result<TaskRun, TaskError> {
        self.step(id, REVIEWING, request, by).await
    }

    async fn step(
        &self,
        id: TaskId,
        step: &'static str,
        request: StepRequest,
        by: Actor,
    ) -> Result<TaskRun, TaskError> {
        let driver = self.drive(id, by, Role::Drive).await?;
        driver.check_step(step).await?;
        driver.check_agent(step, request.agent.as_deref()).await?;
        Ok(self.run(driver, move |driver| async move {
            driver.step(step, request.agent.as_deref(), Company::People).await?;
            driver.ended().await
        }))
    }

    /// Goes on with what was cut, or asks again whoever holds the task back.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn resume(&self, id: TaskId, by: Actor) -> Result<TaskRun, TaskError> {
        let driver = self.drive(id, by, Role::Drive).await?;
        Ok(self.run(driver, |driver| async move {
            driver.resume().await?;
            driver.ended().await
        }))
    }

    /// Checks the work, brings it where it belongs, and ends the task.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn finish(&self, id: TaskId, request: FinishTask, by: Actor) -> Result<TaskRun, TaskError> {
        let driver = self.drive(id, by, Role::Drive).await?;
        driver.check_finish(&request).await?;
        Ok(self.run(driver, |driver| async move {
            driver.finish(request).await?;
            driver.ended().await
        }))
    }

    /// Starts a task and does it from beginning to end. One with the same reference that is under way is gone on with.
    ///
    /// # Errors
    /// Why it does not even begin.
    pub async fn auto(&self, request: AutoTask, by: Actor) -> Result<TaskRun, TaskError> {
        check_role(&by, Role::Drive)?;
        let id = match self.under_way(&request.start).await? {
            Some(id) => id,
            None => self.start(request.start, by.clone()).await?.id,
        };
        let (finish, tries) =
            (request.finish, request.tries.unwrap_or(self.engine.shared.settings.tasks.tries));
        let driver = self.drive(id, by, Role::Drive).await?;
        Ok(self.run(driver, move |driver| async move {
            driver.auto(finish, tries).await?;
            driver.ended().await
        }))
    }

    /// Adds a note, which agents read in the next steps.
    ///
    /// # Errors
    /// If there is no such task, or it cannot be kept.
    pub async fn note(&self, id: TaskId, text: String, by: Actor) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Drive)?;
        check_text("the note", &text)?;
        self.tell(id, |_| Ok(TaskEvent::Noted { text, by })).await
    }

    /// Answers the question of the task.
    ///
    /// # Errors
    /// If there is no such task or no question, or it cannot be kept.
    pub async fn answer(&self, id: TaskId, text: String, by: Actor) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Drive)?;
        check_text("the answer", &text)?;
        let session = self.session_of(id).await?;
        // The first answer counts: the next one finds no question.
        let _held = self.hold(id, session)?;
        let answer = |task: &Task| {
            machine::allowed(task.phase.kind(), machine::Trigger::Answer, task.facts())?;
            Ok(TaskEvent::Answered { text, by })
        };
        self.tell(id, answer).await
    }

    /// States a fact that guards may look for, or takes it back.
    ///
    /// # Errors
    /// If there is no such task, the fact is no JSON, or it cannot be kept.
    pub async fn set_metadata(
        &self,
        id: TaskId,
        name: String,
        value: Option<JsonText>,
        by: Actor,
    ) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Drive)?;
        if name.trim().is_empty() || name.len() > MAX_FACT_NAME {
            return Err(TaskError::Bad(format!("a fact's name has 1 to {MAX_FACT_NAME} bytes")));
        }
        if let Some(JsonText(text)) = &value {
            check_text("the fact", text)?;
            if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
                return Err(TaskError::Bad(format!("the fact is no JSON: {error}; words need quotes")));
            }
        }
        let set = |task: &Task| match task.metadata.len() >= MAX_FACTS && !task.metadata.contains_key(&name) {
            true => Err(TaskError::Bad(format!("a task has at most {MAX_FACTS} facts"))),
            false => Ok(TaskEvent::MetadataSet { name, value, by }),
        };
        self.tell(id, set).await
    }

    /// Goes past the guard that holds the task back. The next command then goes on.
    ///
    /// # Errors
    /// If whoever asks is no admin, or no guard holds it back.
    pub async fn override_guard(&self, id: TaskId, by: Actor) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Admin)?;
        let goes_past = |task: &Task| {
            let held = task.held.as_ref().filter(|held| held.is_guard).ok_or(TaskError::NotHeld)?;
            let GuardName { hook, name, step } = held.by.clone();
            Ok(TaskEvent::Guarded { step, hook, guard: name, word: GuardWord::Overridden(by) })
        };
        self.tell(id, goes_past).await
    }

    /// Goes back by some checkpoints: files, conversation and step.
    ///
    /// # Errors
    /// If there are not so many, or files changed since.
    pub async fn undo(&self, id: TaskId, steps: usize, by: Actor) -> Result<TaskView, TaskError> {
        self.go_back(id, steps, Uncommitted::Keep, by).await
    }

    /// As [`undo`](Self::undo), and throws away what no commit holds on the task's branch. By no checkpoint at all it
    /// goes back to the last one.
    ///
    /// # Errors
    /// If there are not so many, or the task has no branch.
    pub async fn undo_and_discard(&self, id: TaskId, steps: usize, by: Actor) -> Result<TaskView, TaskError> {
        self.go_back(id, steps, Uncommitted::Discard, by).await
    }

    async fn go_back(
        &self,
        id: TaskId,
        steps: usize,
        uncommitted: Uncommitted,
        by: Actor,
    ) -> Result<TaskView, TaskError> {
        let driver = self.drive(id, by, Role::Drive).await?;
        let run = self.run(driver, move |driver| async move {
            driver.undo(steps, uncommitted).await?;
            driver.ended().await
        });
        run.wait().await
    }

    /// Goes forth again.
    ///
    /// # Errors
    /// If there are not so many, or files changed since.
    pub async fn redo(&self, id: TaskId, steps: usize, by: Actor) -> Result<TaskView, TaskError> {
        let driver = self.drive(id, by, Role::Drive).await?;
        let run = self.run(driver, move |driver| async move {
            driver.redo(steps).await?;
            driver.ended().await
        });
        run.wait().await
    }

    /// Gives a task up. What is being done about it is cancelled first.
    ///
    /// # Errors
    /// If there is no such task, it is over, or work that no commit holds would be lost.
    pub async fn abandon(&self, id: TaskId, request: AbandonTask, by: Actor) -> Result<TaskView, TaskError> {
        check_role(&by, Role::Drive)?;
        let session = self.session_of(id).await?;
        let lock = self.engine.shared.desk.lock_of(session);
        let held = match Arc::clone(&lock).try_lock_owned() {
            Ok(held) => held,
            Err(_) => {
                driver::cancel(&self.engine, session, &by).await?;
                lock.lock_owned().await
            }
        };
        let driver = Driver::new(&self.engine, id, session, by, held).await?;
        let run = self.run(driver, move |driver| async move {
            driver.abandon(request).await?;
            driver.ended().await
        });
        run.wait().await
    }

    /// Writes a task's readable files again.
    ///
    /// # Errors
    /// If there is no such task, or they cannot be written.
    pub async fn write_files(&self, id: TaskId) -> Result<(), TaskError> {
        let view = self.status(id).await?;
        files::write(&self.engine, id, &view.task).await
    }

    /// Does something about a task in the background.
    fn run<F>(&self, driver: Driver, work: impl FnOnce(Driver) -> F + Send + 'static) -> TaskRun
    where
        F: Future<Output = Result<TaskView, TaskError>> + Send + 'static,
    {
        let (task, session) = (driver.id, driver.session);
        let stop = self.engine.shared.stop.clone();
        let done = self.engine.shared.tasks.spawn(async move {
            tokio::select! {
                biased;
                // As after a crash: what is in the journal is there, and the rest is done when somebody asks again.
                () = stop.cancelled() => Err(TaskError::Stopping),
                done = work(driver) => done,
            }
        });
        TaskRun { task, session, done }
    }

    async fn drive(&self, id: TaskId, by: Actor, needs: Role) -> Result<Driver, TaskError> {
        check_role(&by, needs)?;
        let session = self.session_of(id).await?;
        let held = self.hold(id, session)?;
        Driver::new(&self.engine, id, session, by, held).await
    }

    pub(super) fn hold(&self, id: TaskId, session: SessionId) -> Result<OwnedMutexGuard<()>, TaskError> {
        let lock = self.engine.shared.desk.lock_of(session);
        lock.try_lock_owned().map_err(|_| TaskError::Busy(id))
    }

    /// Records one thing about a task that is not over.
    async fn tell(
        &self,
        id: TaskId,
        event: impl FnOnce(&Task) -> Result<TaskEvent, TaskError>,
    ) -> Result<TaskView, TaskError> {
        let session = self.session_of(id).await?;
        let view = self.view(session).await?;
        if view.task.phase.is_over() {
            return Err(TaskError::Over(id));
        }
        let event = EventBody::Task(event(&view.task)?);
        record(&self.engine, session, vec![event]).await?;
        let view = self.view(session).await?;
        files::write_or_warn(&self.engine, id, &view.task).await;
        Ok(view)
    }

    async fn view(&self, session: SessionId) -> Result<TaskView, TaskError> {
        let id = TaskId::of(session);
        let running = self.engine.shared.desk.is_held(session);
        let task = match self.engine.live(session).await {
            Some(state) => state.task.clone(),
            None => match self.engine.peek(session).await {
                Ok(state) => state.task,
                Err(EngineError::Store(StoreError::NoSuchSession(_)) | EngineError::BadJournal(_)) => None,
                Err(error) => return Err(error.into()),
            },
        };
        let task = task.ok_or(TaskError::NotFound(id))?;
        Ok(TaskView { id, session, task, running })
    }

    pub(super) async fn sessions(&self) -> Result<Vec<SessionId>, TaskError> {
        let catalogue = self.engine.shared.desk.catalogue.clone();
        let listed = blocking(move || catalogue.sessions()).await;
        listed.map_err(|error| EngineError::Tasks(error.to_string()).into())
    }

    async fn session_of(&self, id: TaskId) -> Result<SessionId, TaskError> {
        let found = self.sessions().await?.into_iter().find(|session| TaskId::of(*session) == id);
        found.ok_or(TaskError::NotFound(id))
    }

    /// Where tasks of a workspace may come from.
    pub(super) async fn sources(&self, workspace: &Workspace) -> Result<Sources, TaskError> {
        let parts = &self.engine.shared.parts;
        let Guests { providers: guests, barred_providers: barred, names, .. } =
            parts.guests.guests(workspace.clone()).await?;
        let guests = guests.into_iter().map(|provider| Provider { provider, is_own: false });
        let own = (parts.sources)(workspace).into_iter().map(|provider| Provider { provider, is_own: true });
        Ok(Sources { providers: guests.chain(own).collect(), barred, names })
    }

    /// The task with the same reference that is under way in a workspace.
    async fn under_way(&self, request: &StartTask) -> Result<Option<TaskId>, TaskError> {
        let views = self.list(Some(request.workspace)).await?;
        let same =
            |view: &&TaskView| !view.task.phase.is_over() && view.task.start.reference == request.reference;
        Ok(views.iter().find(same).map(|view| view.id))
    }
}

/// Whether somebody may do that.
fn check_role(by: &Actor, needs: Role) -> Result<(), TaskError> {
    match by {
        Actor::Client { role, .. } if *role < needs => Err(TaskError::Forbidden { needs }),
        // The engine decides nothing that needs a person.
        Actor::Engine | Actor::Policy if needs == Role::Admin => Err(TaskError::Forbidden { needs }),
        _ => Ok(()),
    }
}

fn check_text(what: &str, text: &str) -> Result<(), TaskError> {
    match text.trim().is_empty() {
        true => Err(TaskError::Bad(format!("{what} is empty"))),
        false if text.len() > MAX_NOTE => {
            Err(TaskError::Bad(format!("{what} is longer than {MAX_NOTE} bytes")))
        }
        false => Ok(()),
    }
}
