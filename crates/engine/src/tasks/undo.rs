//! Going back and forth between checkpoints: files, conversation and step together.
//!
//! With a branch, the branch and its files are moved by the repository, and the session is told what that undid. Without
//! one, the session undoes its own changes. Nothing but the task's branch is moved, and only from where we left it.

use std::sync::Arc;

use loggia_domain::{Commit, EventBody, FileChange, Intent, RepositoryError, TaskEvent};

use super::driver::Driver;
use super::error::TaskError;
use super::fold::{Task, TaskCheckpoint};
use super::machine::{Trigger, follow};
use super::record;
use super::request::Uncommitted;
use super::steps::may;
use crate::error::IntentError;
use crate::session::{State, Undoable};

impl Driver {
    /// Goes back by some checkpoints. Where uncommitted changes are thrown away, also by none: back to the last one.
    pub(super) async fn undo(&self, steps: usize, uncommitted: Uncommitted) -> Result<(), TaskError> {
        let task = self.task().await?;
        let discards = uncommitted == Uncommitted::Discard;
        if discards && task.start.branch.is_none() {
            return Err(TaskError::NoBranch("throw away from it"));
        }
        let kind = task.phase.kind();
        match discards && steps == 0 && follow(kind, Trigger::Undo).is_some() {
            true => {}
            false => may(&task, kind, Trigger::Undo)?,
        }
        let at = task.at.unwrap_or(0);
        match at.checked_sub(steps).filter(|_| steps > 0 || discards) {
            Some(to) => self.go(&task, to, uncommitted).await.map_err(TaskError::discardable),
            None => Err(IntentError::NothingToUndo { available: at }.into()),
        }
    }

    pub(super) async fn redo(&self, steps: usize) -> Result<(), TaskError> {
        let task = self.task().await?;
        may(&task, task.phase.kind(), Trigger::Redo)?;
        let available = task.facts().later;
        match steps > 0 && steps <= available {
            true => self.go(&task, task.at.unwrap_or(0) + steps, Uncommitted::Keep).await,
            false => Err(IntentError::NothingToRedo { available }.into()),
        }
    }

    async fn go(&self, task: &Task, to: usize, uncommitted: Uncommitted) -> Result<(), TaskError> {
        let state = self.state().await?;
        if state.turn.is_some() {
            return Err(IntentError::Busy.into());
        }
        let (from, target) = match (task.checkpoint(), task.checkpoints.get(to)) {
            (Some(from), Some(target)) => (from, target),
            _ => return Err(IntentError::NothingToUndo { available: 0 }.into()),
        };
        let moved = EventBody::Task(TaskEvent::Moved { to: target.number, by: self.by.clone() });
        match &task.start.branch {
            Some(branch) => {
                if uncommitted == Uncommitted::Discard {
                    self.go_on_branch().await?;
                    self.repository.discard(&self.tree(task), branch.name.clone()).await?;
                }
                self.move_branch(task, &branch.name, from, target).await?;
                let mut events = self.told(&state, target.depth);
                events.push(moved);
                record(&self.engine, self.session, events).await
            }
            None => {
                self.move_session(&state, target.depth).await?;
                record(&self.engine, self.session, vec![moved]).await
            }
        }
    }

    async fn move_branch(
        &self,
        task: &Task,
        branch: &str,
        from: &TaskCheckpoint,
        to: &TaskCheckpoint,
    ) -> Result<(), TaskError> {
        let commit = |checkpoint: &TaskCheckpoint| -> Result<Commit, TaskError> {
            let commit = checkpoint.commit.as_ref().map(|commit| commit.commit.clone());
            commit.ok_or_else(|| TaskError::Bad(format!("checkpoint {} has no commit", checkpoint.number)))
        };
        let (from, to) = (commit(from)?, commit(to)?);
        self.go_on_branch().await?;
        let tree = self.tree(task);
        let standing = self.repository.standing(&tree).await?;
        if !standing.changed.is_empty() {
            // Also where both are the same commit: what was written since would be taken for undone.
            return Err(RepositoryError::Dirty(standing.changed).into());
        }
        // Nothing changed between the two, or a crash came after the branch had been moved.
        if from != to && standing.commit.as_ref() != Some(&to) {
            self.repository.move_to(&tree, branch.to_owned(), from, to).await?;
        }
        Ok(())
    }

    /// What the session has to know when its files were put back, or forth, by somebody else.
    fn told(&self, state: &State, depth: usize) -> Vec<EventBody> {
        let done = state.undo.done();
        let undone = done.get(depth..).unwrap_or_default().iter().rev().map(|entry| EventBody::Undone {
            checkpoint: entry.checkpoint,
            files: entry.changes.iter().rev().map(reversed).collect(),
            by: self.by.clone(),
        });
        let again: Vec<&Arc<Undoable>> =
            state.undo.undone().rev().take(depth.saturating_sub(done.len())).collect();
        let redone = again.into_iter().map(|entry| EventBody::Redone {
            checkpoint: entry.checkpoint,
            files: entry.changes.clone(),
            by: self.by.clone(),
        });
        undone.chain(redone).collect()
    }

    async fn move_session(&self, state: &State, depth: usize) -> Result<(), TaskError> {
        let done = state.undo.done().len();
        if depth < done {
            self.seat.intend(Intent::Undo { steps: done - depth }).await?;
        } else if depth > done {
            self.seat.intend(Intent::Redo { steps: depth - done }).await?;
        }
        Ok(())
    }
}

/// A change as undoing it is one.
fn reversed(change: &FileChange) -> FileChange {
    FileChange { path: change.path.clone(), before: change.after, after: change.before }
}
