//! The steps of a task, one after the other: what is due before one, its work, and what follows it.
//!
//! A step's parts are done in order, and each is in the journal before the next begins: guards, entering, effects, the
//! agent's turn, what it said, a checkpoint, effects, leaving. Whoever goes on after a crash skips what is there.

use loggia_domain::{Occasion, RepositoryError, StepEnd, TaskCommit, TaskEvent, TurnEnd, TurnFailure};

use super::driver::Driver;
use super::error::TaskError;
use super::fold::{StepTurn, Task};
use super::hooks::Workflow;
use super::line::{DONE, IDLE, IMPLEMENTING, PLANNING, REVIEWING, START};
use super::machine::{PhaseKind, Refusal, TaskPhase, Trigger, allowed};
use super::names;
use super::render::{self, Company};

impl Driver {
    /// Whether a step may be taken now.
    pub(super) async fn check_step(&self, step: &str) -> Result<(), TaskError> {
        let task = self.task().await?;
        let trigger = trigger_of(step);
        match &task.open {
            Some(open) if open.name == step => Ok(()),
            // Setting up and steps of hooks are gone on with on the way.
            Some(open) if !is_own(&open.name) => may(&task, PhaseKind::Idle, trigger),
            Some(_) if task.phase == TaskPhase::Paused => may(&task, PhaseKind::Paused, trigger),
            _ => may(&task, task.phase.kind(), trigger),
        }
    }

    /// Takes a step: what is due before it, the step itself, and the steps of hooks that follow it.
    pub(super) async fn step(
        &self,
        step: &str,
        agent: Option<&str>,
        company: Company,
    ) -> Result<(), TaskError> {
        self.check_step(step).await?;
        self.check_agent(step, agent).await?;
        let workflow = self.workflow().await?;
        self.settle(&workflow, step).await?;
        self.go_on_branch().await?;
        self.enter(&workflow, step).await?;
        match self.do_step(step, agent, company).await? {
            Outcome::Done => {}
            Outcome::Asked => return Ok(()),
        }
        self.leave(&workflow, step).await?;
        self.follow(&workflow, step).await
    }

    /// Goes on with whatever was cut, or asks again whoever holds the task back.
    pub(super) async fn resume(&self) -> Result<(), TaskError> {
        let task = self.task().await?;
        let own = |name: &str| [PLANNING, IMPLEMENTING, REVIEWING].into_iter().find(|own| *own == name);
        match task.open.as_ref().map(|open| open.name.as_str()) {
            Some(DONE) => self.finish_on().await,
            Some(name) if own(name).is_some() => {
                let step = own(name).unwrap_or(PLANNING);
                self.step(step, None, Company::People).await
            }
            _ => {
                may(
                    &task,
                    if task.open.is_some() { PhaseKind::Idle } else { task.phase.kind() },
                    Trigger::Plan,
                )?;
                let workflow = self.workflow().await?;
                self.settle(&workflow, IDLE).await?;
                self.ask_again(&workflow).await
            }
        }
    }

    /// Asks again whoever holds the task back, and passes what follows where it is.
    async fn ask_again(&self, workflow: &Workflow) -> Result<(), TaskError> {
        let held = self.task().await?.held.as_ref().map(|held| held.by.step.clone());
        if let Some(step) = held {
            if step == DONE {
                return self.pass_guards(workflow, DONE).await;
            }
            let position = self.position(workflow).await?;
            for due in workflow.line.between(&position, &step) {
                self.pass(workflow, &due.name).await?;
            }
            if workflow.line.place_of(&step).is_some() {
                self.pass(workflow, &step).await?;
            }
        }
        let position = self.position(workflow).await?;
        self.follow(workflow, &position).await
    }

    /// Brings a step that is open to its end if it is not the one wanted, and passes what lies before that one.
    pub(super) async fn settle(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        let task = self.task().await?;
        // What a step that was cut has left is gone on with; everything else must be the task's.
        if task.open.as_ref().is_none_or(|open| open.name != step && is_of_ours(&open.name)) {
            self.check_tree().await?;
        }
        match task.open.as_ref().map(|open| open.name.clone()) {
            Some(open) if open == step => return Ok(()),
            Some(open) if open == START => self.set_up(workflow).await?,
            Some(open) if is_own(&open) => {
                // Only one that an effect holds back comes here: it is given up for another.
                let end = StepEnd::Failed(format!("given up for {step}"));
                self.record(vec![TaskEvent::Left { step: open, end }]).await?;
            }
            Some(open) => {
                self.enter(workflow, &open).await?;
                self.leave(workflow, &open).await?;
            }
            None => {}
        }
        let position = self.position(workflow).await?;
        for due in workflow.line.between(&position, step).into_iter().filter(|_| step != IDLE) {
            self.pass(workflow, &due.name).await?;
        }
        Ok(())
    }

    /// Where the task is on the line; a step that is there no more counts as the last one of ours.
    async fn position(&self, workflow: &Workflow) -> Result<String, TaskError> {
        let task = self.task().await?;
        Ok(match workflow.line.place_of(&task.position) {
            Some(_) => task.position.clone(),
            None => task.own_position.clone(),
        })
    }

    /// Passes a step that a hook added.
    async fn pass(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        self.pass_guards(workflow, step).await?;
        self.enter(workflow, step).await?;
        self.leave(workflow, step).await
    }

    /// Passes the steps of hooks after one. What holds the task back there is no failure of that one.
    async fn follow(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        for next in workflow.line.following(step) {
            match self.pass(workflow, &next.name).await {
                Ok(()) => {}
                Err(TaskError::Held(held)) => {
                    tracing::info!(task = %self.id, step = held.by.step, guard = held.by.name, "a task is held back");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Enters a step, or goes on in it, and runs what follows that.
    pub(super) async fn enter(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        let task = self.task().await?;
        let is_in = task.open.as_ref().is_some_and(|open| open.name == step);
        if !is_in || task.phase == TaskPhase::Paused {
            let (step, by) = (step.to_owned(), self.by.clone());
            self.record(vec![TaskEvent::Entered { step, by }]).await?;
        }
        self.run_effects(workflow, step, Occasion::StepEntered).await
    }

    /// Makes a step's checkpoint, runs what follows, and leaves it.
    async fn leave(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        if is_own(step) || self.has_changes().await? {
            self.checkpoint(workflow, step).await?;
        }
        self.run_effects(workflow, step, Occasion::StepLeft).await?;
        self.record(vec![TaskEvent::Left { step: step.to_owned(), end: StepEnd::Done }]).await
    }

    /// The work of one of our steps.
    async fn do_step(&self, step: &str, agent: Option<&str>, company: Company) -> Result<Outcome, TaskError> {
        let task = self.task().await?;
        if task.open.as_ref().is_some_and(|open| open.said || open.checkpoint) {
            return Ok(Outcome::Done);
        }
        let diff = match step {
            REVIEWING => self.diff(&task).await?,
            _ => None,
        };
        let (end, turn) = self
            .work(agent, |task| match step {
                PLANNING => render::planning(task, company),
                IMPLEMENTING => render::implementing(task),
                _ => render::reviewing(task, diff.as_deref()),
            })
            .await?;
        if end != TurnEnd::Done {
            return Err(self.broke(step, &end).await?);
        }
        match step {
            PLANNING => self.planned(&turn, company).await,
            REVIEWING => self.reviewed(&turn).await,
            _ => self.implemented(&turn).await,
        }
    }

    /// Work of which nothing was let in is not done.
    async fn implemented(&self, turn: &StepTurn) -> Result<Outcome, TaskError> {
        let refused = self.refused_in(turn).await?;
        if refused.is_empty() {
            return Ok(Outcome::Done);
        }
        let error = TaskError::AllRefused(refused);
        self.fail(IMPLEMENTING, &error.to_string()).await?;
        Err(error)
    }

    /// A turn that did not come to its own end ends the step.
    async fn broke(&self, step: &str, end: &TurnEnd) -> Result<TaskError, TaskError> {
        // Stopping cuts turns, and they are gone on with.
        if self.engine.shared.stop.is_cancelled() {
            return Ok(TaskError::Stopping);
        }
        let reason = why(end);
        let end = match end {
            TurnEnd::Cancelled => StepEnd::Cancelled,
            _ => StepEnd::Failed(reason.clone()),
        };
        self.record(vec![TaskEvent::Left { step: step.to_owned(), end }]).await?;
        Ok(TaskError::Failed { step: step.to_owned(), reason })
    }

    async fn planned(&self, turn: &StepTurn, company: Company) -> Result<Outcome, TaskError> {
        let said = self.said_in(turn, render::ASK_TOOL).await?;
        let asked = match company {
            Company::People => {
                let called = said.call.as_deref().and_then(|call| render::question_called(call, &said.text));
                called.or_else(|| render::question_in(&said.text))
            }
            Company::Nobody => None,
        };
        if let Some(question) = asked {
            let left = TaskEvent::Left { step: PLANNING.to_owned(), end: StepEnd::Asked };
            self.record(vec![TaskEvent::Asked { question }, left]).await?;
            return Ok(Outcome::Asked);
        }
        if said.text.trim().is_empty() {
            return Err(self.fail(PLANNING, "the agent said nothing").await?);
        }
        let number = next(self.task().await?.specifications.len());
        self.record(vec![TaskEvent::Specified { number, text: said.text }]).await?;
        Ok(Outcome::Done)
    }

    async fn reviewed(&self, turn: &StepTurn) -> Result<Outcome, TaskError> {
        let said = self.said_in(turn, render::ASK_TOOL).await?;
        if said.text.trim().is_empty() {
            return Err(self.fail(REVIEWING, "the agent said nothing").await?);
        }
        let number = next(self.task().await?.reviews.len());
        self.record(vec![TaskEvent::Reviewed { number, text: said.text }]).await?;
        Ok(Outcome::Done)
    }

    /// Ends a step that failed.
    pub(super) async fn fail(&self, step: &str, reason: &str) -> Result<TaskError, TaskError> {
        let (step, reason) = (step.to_owned(), reason.to_owned());
        let end = StepEnd::Failed(reason.clone());
        self.record(vec![TaskEvent::Left { step: step.clone(), end }]).await?;
        Ok(TaskError::Failed { step, reason })
    }

    /// What has changed since the task began, if it has a branch.
    async fn diff(&self, task: &Task) -> Result<Option<String>, TaskError> {
        let commit = |checkpoint: Option<&super::fold::TaskCheckpoint>| {
            checkpoint.and_then(|checkpoint| checkpoint.commit.clone()).map(|commit| commit.commit)
        };
        let Some((from, to)) = commit(task.checkpoints.first()).zip(commit(task.checkpoint())) else {
            return Ok(None);
        };
        Ok(Some(self.repository.changes(from, to, render::MAX_DIFF).await?))
    }

    /// Whether the task's tree has changes that no commit holds.
    async fn has_changes(&self) -> Result<bool, TaskError> {
        let task = self.task().await?;
        match task.start.branch {
            Some(_) => Ok(!self.repository.standing(&self.tree(&task)).await?.changed.is_empty()),
            None => Ok(false),
        }
    }

    /// Brings the task's tree to its branch. Whoever left it with changes that no commit holds is told so.
    pub(super) async fn go_on_branch(&self) -> Result<(), TaskError> {
        let task = self.task().await?;
        let Some(branch) = &task.start.branch else { return Ok(()) };
        let tree = self.tree(&task);
        if self.repository.standing(&tree).await?.branch.as_ref() != Some(&branch.name) {
            self.repository.switch(&tree, branch.name.clone()).await?;
        }
        Ok(())
    }

    /// Keeps what there is, to go back to: a commit on the task's branch, if it has one.
    pub(super) async fn checkpoint(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        let task = self.task().await?;
        if !task.open.as_ref().is_some_and(|open| open.checkpoint) {
            let number = task.checkpoint().map_or(1, |at| at.number + 1);
            let commit = match &task.start.branch {
                None => None,
                Some(_) => Some(self.commit(&task, step, number).await?),
            };
            self.record(vec![TaskEvent::Checkpointed { number, step: step.to_owned(), commit }]).await?;
        }
        self.run_effects(workflow, step, Occasion::CheckpointMade).await
    }

    async fn commit(&self, task: &Task, step: &str, number: u32) -> Result<TaskCommit, TaskError> {
        let tree = self.tree(task);
        let branch = task.start.branch.as_ref().map(|branch| branch.name.clone()).unwrap_or_default();
        let standing = self.repository.standing(&tree).await?;
        if standing.branch.as_ref() != Some(&branch) {
            // Nothing is ever committed to another branch.
            let on = standing.branch.map_or_else(|| "on none".to_owned(), |other| format!("on `{other}`"));
            return Err(RepositoryError::Moved { branch, found: format!("the working tree is {on}") }.into());
        }
        let mark = names::mark(self.id, number);
        // Checkpoints that were undone are gone with a new one; and one that a crash left has no event.
        let later = task.checkpoints.iter().skip(task.at.map_or(0, |at| at + 1));
        let later =
            later.filter_map(|checkpoint| checkpoint.commit.as_ref()).map(|commit| commit.mark.clone());
        self.repository.unmark(later.chain([mark.clone()]).collect()).await?;
        let prefix = &task.start.commit_prefix;
        let message = format!("{prefix} checkpoint {number}: {step}").trim_start().to_owned();
        let commit = self.repository.checkpoint(&tree, message, mark.clone()).await?;
        Ok(TaskCommit { commit, mark })
    }
}

/// How one of our steps ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Asked,
}

/// Whether a step is ours or the setting up, and no hook's: hooks may leave files, and theirs go with their step.
fn is_of_ours(step: &str) -> bool {
    step == START || is_own(step)
}

/// Whether a step is one of ours.
fn is_own(step: &str) -> bool {
    matches!(step, PLANNING | IMPLEMENTING | REVIEWING | DONE)
}

pub(super) fn may(task: &Task, from: PhaseKind, on: Trigger) -> Result<(), TaskError> {
    // One that was cancelled may go on as if nothing had been.
    let from = if from == PhaseKind::Failed { PhaseKind::Idle } else { from };
    allowed(from, on, task.facts()).map(drop).map_err(|refusal: Refusal| refusal.into())
}

fn trigger_of(step: &str) -> Trigger {
    match step {
        PLANNING => Trigger::Plan,
        IMPLEMENTING => Trigger::Implement,
        REVIEWING => Trigger::Review,
        DONE => Trigger::Finish,
        _ => Trigger::Enter,
    }
}

/// The number of the next one.
fn next(there: usize) -> u32 {
    u32::try_from(there).unwrap_or(u32::MAX).saturating_add(1)
}

/// Why a turn did not come to its own end, in words.
fn why(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "it is done".to_owned(),
        TurnEnd::Cancelled => "it was cancelled".to_owned(),
        TurnEnd::Interrupted => "it was interrupted".to_owned(),
        TurnEnd::StepLimit => "it reached its step limit".to_owned(),
        TurnEnd::BudgetLimit => "it used up its budget".to_owned(),
        TurnEnd::Failed(
            TurnFailure::Model { message, .. }
            | TurnFailure::Retrieval { message }
            | TurnFailure::Policy { message }
            | TurnFailure::Internal { message },
        ) => message.clone(),
    }
}
