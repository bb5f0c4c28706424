//! Tasks: a piece of work from anywhere becomes a branch, a plan, an implementation, a review and a finished change.
//!
//! Knows the order of these things, whom to ask before each and whom to tell after it. Refuses to know git, plugins and
//! agents: they fill the domain's traits. One session per task; what happens to the task is in that session's journal,
//! and its state is a fold over it, so that after a crash the task is where it was and the same command goes on there.
//!
//! What always holds:
//! - one thing is done about a task at a time; whoever asks meanwhile is told so;
//! - what a step has behind it is in the journal before the next part begins, and is not done again;
//! - guards are asked before anything changes; one that fails to answer does not allow;
//! - nothing outside of a task's branch, marks and tree is changed in a repository, except by a merge that was asked for;
//!   nothing is sent anywhere unless that was asked for.

mod agents;
mod auto;
mod catalogue;
mod driver;
mod error;
mod files;
mod finish;
pub(crate) mod fold;
mod handle;
mod hooks;
pub mod line;
pub mod machine;
pub mod names;
mod ready;
mod reference;
mod refused;
mod render;
mod repository;
mod request;
mod start;
mod steps;
mod tree;
mod undo;
mod words;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{EventBody, SessionId, WorkspaceId};

pub use error::TaskError;
pub(crate) use fold::Moment;
pub use fold::{GuardName, Held, OpenStep, StepCost, StepTurn, Task, TaskCheckpoint, TaskNote};
pub use handle::Tasks;
pub use machine::TaskPhase;
pub use repository::NoRepository;
pub use request::{
    AbandonTask, AutoTask, FinishHow, FinishTask, Quality, StartTask, StepRequest, TaskPlace, TaskRun,
    TaskSettings, TaskView, Uncommitted,
};
pub use words::task_line;

use crate::engine::Engine;
use crate::session::Command;
use crate::tasks::catalogue::Catalogue;
use crate::tasks::line::Line;
use crate::tasks::tree::TreeNotes;

/// What the engine keeps for tasks while it runs.
#[derive(Debug)]
pub(crate) struct Desk {
    catalogue: Catalogue,
    trees: TreeNotes,
    /// The lines of workspaces as their hooks said last, so that looking at a task starts nobody.
    lines: Mutex<HashMap<WorkspaceId, Arc<Line>>>,
    /// Held by whoever does something about a task.
    held: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
    /// Held while a task begins: two must not take the same tree.
    starting: Arc<tokio::sync::Mutex<()>>,
}

impl Desk {
    pub(crate) fn new(data: &Path) -> Self {
        let (catalogue, trees) = (Catalogue::new(data), TreeNotes::new(data));
        let (held, lines) = (Mutex::default(), Mutex::default());
        Self { catalogue, trees, lines, held, starting: Arc::default() }
    }

    fn lock_of(&self, session: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds or waits for are made again when they are needed.
        held.retain(|known, lock| *known == session || Arc::strong_count(lock) > 1);
        Arc::clone(held.entry(session).or_default())
    }

    /// Waits until no task begins, and keeps others from beginning.
    async fn nobody_starts(&self) -> tokio::sync::OwnedMutexGuard<()> {
        Arc::clone(&self.starting).lock_owned().await
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_held(&self, session: SessionId) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(&session).is_some_and(|lock| lock.try_lock().is_err())
    }
}

/// Takes away what a crash left of tasks that did not come to be.
pub(crate) async fn clear_leftovers(engine: &Engine) {
    let _alone = engine.shared.desk.nobody_starts().await;
    tree::clear(engine).await;
}

/// Records facts of a task's session.
async fn record(engine: &Engine, session: SessionId, bodies: Vec<EventBody>) -> Result<(), TaskError> {
    let handle = engine.shared.loaded(session).await?;
    let answer = handle.ask(|answer| Command::Record { bodies, answer }).await;
    Ok(answer.ok_or(TaskError::Stopping)??)
}
