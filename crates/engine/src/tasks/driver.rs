//! Whoever does something about a task: a place on its session, and what is needed around it.
//!
//! Knows how turns are begun, gone on with and waited for. Refuses to know which come when. Holds the task's lock, so that
//! nobody else does something about it; dropping it lets go.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door, Event, EventBody, Instruction, Intent, Repository, Restraint,
    Role, SessionId, TaskEvent, TaskId, TurnEnd, TurnId, Workspace,
};
use tokio::sync::OwnedMutexGuard;

use super::error::TaskError;
use super::fold::{StepTurn, Task};
use super::line::IMPLEMENTING;
use super::request::TaskView;
use super::{files, record};
use crate::engine::Engine;
use crate::error::IntentError;
use crate::session::{Command, FeedClosed, OnLeave, Seat, State, Told};

/// How many events are read at a time.
pub(super) const PAGE: usize = 256;

/// Whoever does something about a task.
pub(super) struct Driver {
    pub(super) engine: Engine,
    pub(super) id: TaskId,
    pub(super) session: SessionId,
    pub(super) by: Actor,
    pub(super) home: Workspace,
    pub(super) repository: Arc<dyn Repository>,
    pub(super) seat: Seat,
    /// Paths that our own checks of the work left uncommitted.
    left: Mutex<BTreeSet<String>>,
    _held: OwnedMutexGuard<()>,
}

/// What was said in a turn.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The last reply with words.
    pub(super) text: String,
    /// The arguments of the last call of a tool.
    pub(super) call: Option<String>,
}

impl Driver {
    pub(super) async fn new(
        engine: &Engine,
        id: TaskId,
        session: SessionId,
        by: Actor,
        held: OwnedMutexGuard<()>,
    ) -> Result<Self, TaskError> {
        let (seat, state) = engine.join(session, client(format!("task {id}")), OnLeave::Keep).await?;
        let task = state.task.clone().ok_or(TaskError::NotFound(id))?;
        let home = engine.workspace(task.start.home).await?;
        let repository = (engine.shared.parts.repositories)(&home.root);
        Ok(Self {
            engine: engine.clone(),
            id,
            session,
            by,
            home,
            repository,
            seat,
            left: Mutex::default(),
            _held: held,
        })
    }

    pub(super) async fn state(&self) -> Result<Arc<State>, TaskError> {
        self.seat.state().await.map_err(|_gone| self.gone())
    }

    /// The task as it is now.
    pub(super) async fn task(&self) -> Result<Arc<Task>, TaskError> {
        self.state().await?.task.clone().ok_or(TaskError::NotFound(self.id))
    }

    /// The session has left: everything stops, or somebody deleted it.
    fn gone(&self) -> TaskError {
        match self.engine.shared.stop.is_cancelled() {
            true => TaskError::Stopping,
            false => TaskError::Intent(IntentError::Gone),
        }
    }

    /// Stores what happened, all or nothing.
    pub(super) async fn record(&self, events: Vec<TaskEvent>) -> Result<(), TaskError> {
        record(&self.engine, self.session, events.into_iter().map(EventBody::Task).collect()).await
    }

    /// The task when everything is done about it, with its files as they should be.
    pub(super) async fn ended(self) -> Result<TaskView, TaskError> {
        let task = self.task().await?;
        files::write_or_warn(&self.engine, self.id, &task).await;
        Ok(TaskView { id: self.id, session: self.session, task, running: false })
    }

    /// The working tree that the task's branch is in.
    pub(super) fn tree(&self, task: &Task) -> PathBuf {
        let own = task.start.branch.as_ref().and_then(|branch| branch.tree.clone());
        own.unwrap_or_else(|| self.home.root.clone())
    }

    /// Has the session's agent do the work of the step that is open, or go on with it; gives how that ended.
    pub(super) async fn work(
        &self,
        agent: Option<&str>,
        text: impl FnOnce(&Task) -> String,
    ) -> Result<(TurnEnd, StepTurn), TaskError> {
        let state = self.state().await?;
        let task = state.task.as_ref().ok_or(TaskError::NotFound(self.id))?;
        let Some(open) = &task.open else { return Err(TaskError::Bad("the task is in no step".to_owned())) };
        let turn = match &open.turn {
            Some(turn @ StepTurn { end: None, .. }) => turn.id,
            Some(StepTurn { id, end: Some(TurnEnd::Interrupted), .. })
                if state.cut.as_ref().is_some_and(|(cut, _)| cut.id == *id) =>
            {
                self.seat.intend(Intent::Continue).await?;
                *id
            }
            Some(StepTurn { end: Some(TurnEnd::Interrupted), .. }) | None => {
                self.choose_agent(&state, task, &open.name, agent).await?;
                self.begin_turn(&open.name, text(task)).await?
            }
            Some(turn @ StepTurn { end: Some(end), .. }) => return Ok((end.clone(), turn.clone())),
        };
        self.wait_for(turn).await
    }

    async fn begin_turn(&self, step: &str, text: String) -> Result<TurnId, TaskError> {
        let text = self.engine.shared.masker.mask(&text).into_owned();
        // Whoever plans or looks at the work changes nothing, whatever the policy would let them.
        let restraint = Restraint { reading_only: step != IMPLEMENTING, ..Restraint::default() };
        let instruction = Box::new(Instruction { text, restraint, ..Instruction::default() });
        let (step, by) = (step.to_owned(), self.by.clone());
        let handle = self.engine.shared.loaded(self.session).await?;
        let begun = handle.ask(|answer| Command::Work { instruction, step, by, answer }).await;
        Ok(begun.ok_or_else(|| self.gone())??)
    }

    /// Waits until a turn of the step has ended. It may wait for people meanwhile, for as long as they take.
    async fn wait_for(&self, turn: TurnId) -> Result<(TurnEnd, StepTurn), TaskError> {
        let ended = |task: &Task| {
            let ours = task.open.as_ref()?.turn.clone().filter(|ours| ours.id == turn)?;
            Some((ours.end.clone()?, ours))
        };
        let state = self.state().await?;
        let mut subscription = self.seat.subscribe(state.last_seq);
        if let Some(ended) = state.task.as_deref().and_then(ended) {
            return Ok(ended);
        }
        loop {
            match subscription.next().await {
                Ok(Told::Event(event)) if event.turn == Some(turn) && is_end(&event) => break,
                Ok(_) => {}
                Err(FeedClosed::Stopping) => return Err(TaskError::Stopping),
                Err(_) => return Err(self.gone()),
            }
        }
        // What was told is in the state.
        let task = self.task().await?;
        ended(&task).ok_or_else(|| TaskError::Bad("the step's turn is not known any more".to_owned()))
    }

    /// What was said in a turn, and with what a tool was called last.
    pub(super) async fn said_in(&self, turn: &StepTurn, tool: &str) -> Result<Said, TaskError> {
        let mut said = Said::default();
        let mut after = turn.began;
        loop {
            let events = self.engine.events(self.session, after, PAGE).await?;
            let Some(last) = events.last() else { return Ok(said) };
            after = last.seq;
            for event in events.into_iter().filter(|event| event.turn == Some(turn.id)) {
                match event.body {
                    EventBody::MessageEnded { message, cut: false, .. }
                        if !message.text.trim().is_empty() =>
                    {
                        said.text = message.text;
                    }
                    EventBody::ToolRequested { call } if call.tool == tool => {
                        said.call = Some(call.arguments.0);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Gives the session the agent of a step.
    async fn choose_agent(
        &self,
        state: &State,
        task: &Task,
        step: &str,
        with_step: Option<&str>,
    ) -> Result<(), TaskError> {
        let model = self.agent_of(state, task, step, with_step).await?;
        if let Some(model) = model.filter(|model| state.model.as_ref() != Some(model)) {
            self.seat.intend(Intent::SetModel { model }).await?;
        }
        Ok(())
    }

    /// Notes what a check of ours left uncommitted.
    pub(super) fn note_left(&self, paths: impl Iterator<Item = String>) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
    }

    /// What checks of ours left uncommitted.
    pub(super) fn left_by_check(&self) -> BTreeSet<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event.body, EventBody::TurnEnded { .. })
}

/// Ourselves on a session.
fn client(name: String) -> Client {
    let abilities = Abilities::default();
    Client { id: ClientId::new(), name, door: Door::Inside, role: Role::Drive, abilities }
}

/// Cancels the turn that runs in a session, if one does.
pub(super) async fn cancel(engine: &Engine, session: SessionId, by: &Actor) -> Result<(), TaskError> {
    let name = crate::session::chronicle::name(by).to_owned();
    let (seat, _) = engine.join(session, client(name), OnLeave::Keep).await?;
    match seat.intend(Intent::Cancel { reason: Some("the task was given up".to_owned()) }).await {
        Ok(_) | Err(IntentError::NothingRuns) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
