//! The commands about tasks: which there are, and how one stands. What is done about them is a part of its own.

mod act;

use loggia_domain::{GuestError, RepositoryError, TaskId};
use loggia_engine::tasks::{TaskError, TaskView};

pub(super) use act::act;

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::ids::{self, Meant};
use crate::paint::{Painted, Style, brief};
use crate::voice::{Refused, Status};

/// Tasks that are listed, the newest.
const TASKS: usize = 100;

/// How much of a text is shown in a line.
const BRIEF: usize = 80;

/// Lists the tasks of the workspace of the session in use that are not over.
pub(super) async fn list(door: &Inner, guest: &Guest) -> Answer {
    let workspace = sessions::usual(door, guest).await?;
    let mut views = door.parts.engine.tasks().list(Some(workspace)).await?;
    views.retain(|view| !view.task.phase.is_over());
    let mut text = Painted::new();
    for view in views.iter().take(TASKS) {
        let line = Painted::of(Style::Name, view.id.to_string())
            .with(Style::Aside, format!("  {}  ", phase(view)))
            .plain(brief(&view.task.start.item.title, BRIEF));
        text.append(line.line());
    }
    if views.len() > TASKS {
        text.append(Painted::of(Style::Aside, format!("… {} more", views.len() - TASKS)).line());
    }
    if views.is_empty() {
        text.append(Painted::of(Style::Aside, "no tasks under way").line());
    }
    Ok(text)
}

/// Which task is meant.
async fn named(door: &Inner, typed: &str) -> Result<TaskId, Refused> {
    if let Ok(id) = typed.parse() {
        return Ok(id);
    }
    let known = door.parts.engine.tasks().list(None).await?;
    let shown = brief(typed, BRIEF);
    let refused =
        |status, what: String| Err(Refused::new(status, what).hint("`tasks` lists those that are under way"));
    match ids::meant(typed, known.iter().map(|view| view.id)) {
        Meant::One(id) => Ok(id),
        Meant::None => refused(Status::Unavailable, format!("there is no task `{shown}`")),
        Meant::Several(count) => refused(Status::Usage, format!("{count} tasks are called `{shown}`")),
        Meant::TooShort => refused(Status::Usage, format!("`{shown}` is too short for a task's name")),
    }
}

/// Shows how a task stands.
async fn one(door: &Inner, id: TaskId) -> Answer {
    let view = door.parts.engine.tasks().status(id).await?;
    let task = &view.task;
    let mut text = Painted::of(Style::Subject, view.id.to_string())
        .plain(format!(" {}", brief(&task.start.item.title, BRIEF)))
        .line();
    let mut fact = |name: &str, value: &str| {
        text.append(
            Painted::of(Style::Aside, format!("  {name:<10} ")).plain(brief(value, BRIEF * 2)).line(),
        );
    };
    fact("phase", &phase(&view));
    fact("from", &task.start.reference);
    if let Some(branch) = &task.start.branch {
        fact("branch", &format!("{} from {}", branch.name, branch.base));
    }
    task.trouble.iter().for_each(|trouble| fact("trouble", trouble));
    if let Some(held) = &task.held {
        fact("held by", &format!("{} of {}: {}", held.by.name, held.by.hook, held.reason));
    }
    task.question.iter().for_each(|question| fact("asks", &question.text));
    if let Some(at) = task.checkpoint() {
        fact("checkpoint", &format!("{} after {}", at.number, at.step));
    }
    fact("session", &view.session.to_string());
    Ok(text)
}

/// Where it is.
fn phase(view: &TaskView) -> String {
    if view.task.phase.is_over() {
        return view.task.phase.to_string();
    }
    let word = if view.is_interrupted() { " (cut off)" } else { "" };
    format!("{}{word}, after {}", view.task.phase, view.task.position)
}

impl From<TaskError> for Refused {
    fn from(error: TaskError) -> Self {
        let status = match &error {
            TaskError::NotFound(_) => {
                return Self::new(Status::Unavailable, error).hint("`tasks` lists those that are under way");
            }
            TaskError::Held(_) => {
                let hint = "`task resume TASK` asks again, `task override TASK` goes past a guard";
                return Self::new(Status::Refused, error).hint(hint);
            }
            TaskError::Bad(_) | TaskError::UnknownScheme { .. } | TaskError::NoProvider { .. } => {
                Status::Usage
            }
            TaskError::Guest(GuestError::NotFound(_) | GuestError::Refused(_)) => Status::Usage,
            TaskError::Stopping
            | TaskError::Guest(_)
            | TaskError::Repository { error: RepositoryError::TimedOut(_) } => Status::Unavailable,
            TaskError::Failed { .. } | TaskError::AllRefused(_) => Status::Failed,
            TaskError::Intent(_) | TaskError::Engine(_) => return Self::of_engine(error),
            TaskError::Forbidden { .. }
            | TaskError::Busy(_)
            | TaskError::Over(_)
            | TaskError::Refused(_)
            | TaskError::NotHeld
            | TaskError::TreeTaken { .. }
            | TaskError::NoModel(_)
            | TaskError::Agent(_)
            | TaskError::NotCommitted(_)
            | TaskError::Conflict { .. }
            | TaskError::ProviderCannot { .. }
            | TaskError::NoBranch(_)
            | TaskError::WouldLose { .. }
            | TaskError::Repository { .. } => Status::Refused,
        };
        match error.hint() {
            Some(hint) => Self::new(status, error).hint(hint),
            None => Self::new(status, error),
        }
    }
}

impl Refused {
    /// What the session or the engine says of a task.
    fn of_engine(error: TaskError) -> Self {
        match error {
            TaskError::Intent(error) => error.into(),
            TaskError::Engine(error) => error.into(),
            error => Self::new(Status::Failed, error),
        }
    }
}
