//! What is done about tasks: the same as at every other door, in the words of the console.
//!
//! What only adds to the journal is done at once. What fetches, works or moves files goes on behind its command, and
//! whoever waits for it hears how it ended; that they leave stops nothing.

use std::sync::Arc;

use loggia_domain::{Actor, BoxFuture, JsonText, TaskId, WorkQuery};
use loggia_engine::Tasks;
use loggia_engine::tasks::{
    AbandonTask, AutoTask, FinishHow, FinishTask, StartTask, StepRequest, TaskError, TaskView,
};

use super::{BRIEF, named, one, phase};
use crate::commands::{Answer, sessions, steps};
use crate::complete::ENDINGS;
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief};
use crate::read::Given;
use crate::table::TaskVerb;
use crate::voice::{Refused, Status, Voice};

/// Items that are listed of a provider.
const ITEMS: usize = 50;

/// Something that is done about a task, to its end.
type Work = BoxFuture<'static, Result<TaskView, TaskError>>;

/// Does something about a task.
pub(in crate::commands) async fn act(
    door: &Arc<Inner>,
    guest: &Arc<Guest>,
    verb: TaskVerb,
    given: &Given,
    voice: Voice,
) {
    match begin(door, guest, verb, given).await {
        Ok(Begun::Told(text)) => voice.end(Ok(text)).await,
        Ok(Begun::Behind(work)) => {
            door.spawn(async move { voice.end(work.await).await });
        }
        Err(refused) => voice.end(Err(refused)).await,
    }
}

/// What a command has begun.
enum Begun {
    /// All of it, and what it says.
    Told(Painted),
    /// What goes on.
    Behind(BoxFuture<'static, Answer>),
}

async fn begin(
    door: &Arc<Inner>,
    guest: &Arc<Guest>,
    verb: TaskVerb,
    given: &Given,
) -> Result<Begun, Refused> {
    let id = match given.value("TASK") {
        Some(typed) => named(door, typed).await?,
        None => return begin_anew(door, guest, verb, given).await,
    };
    if verb == TaskVerb::Status {
        return Ok(Begun::Told(one(door, id).await?));
    }
    let work = work(door.parts.engine.tasks(), id, verb, given, Actor::from(&guest.client))?;
    let done = async move { Ok::<Painted, Refused>(told(&work.await?)) };
    match verb {
        TaskVerb::Note | TaskVerb::Answer | TaskVerb::Set | TaskVerb::Override => {
            Ok(Begun::Told(done.await?))
        }
        _ => Ok(Begun::Behind(Box::pin(done))),
    }
}

/// What begins without a task.
async fn begin_anew(
    door: &Arc<Inner>,
    guest: &Arc<Guest>,
    verb: TaskVerb,
    given: &Given,
) -> Result<Begun, Refused> {
    let workspace = sessions::usual(door, guest).await?;
    let (tasks, by) = (door.parts.engine.tasks(), Actor::from(&guest.client));
    if verb == TaskVerb::Browse {
        let scheme = given.value("SCHEME").unwrap_or_default().trim_end_matches(':').to_owned();
        return Ok(Begun::Behind(Box::pin(async move {
            let query = WorkQuery { limit: ITEMS, ..WorkQuery::default() };
            let page = tasks.browse(workspace, &scheme, query).await?;
            let mut text = Painted::new();
            for item in &page.items {
                let reference = brief(&format!("{scheme}:{}", item.key), BRIEF);
                let status = item.status.as_deref().map(|status| format!("  {}", brief(status, BRIEF)));
                let line = Painted::of(Style::Name, reference)
                    .with(Style::Aside, status.unwrap_or_default())
                    .plain(format!("  {}", brief(&item.title, BRIEF)));
                text.append(line.line());
            }
            if page.items.is_empty() {
                text.append(Painted::of(Style::Aside, "there is nothing to do there").line());
            }
            if page.next.is_some() {
                text.append(Painted::of(Style::Aside, "… there is more: `loggia task browse` has it").line());
            }
            Ok(text)
        })));
    }
    let start = StartTask::new(workspace, given.value("REFERENCE").unwrap_or_default());
    let (door, guest) = (Arc::clone(door), Arc::clone(guest));
    if verb == TaskVerb::Start {
        return Ok(Begun::Behind(Box::pin(async move {
            let view = tasks.start(start, by).await?;
            let mut text = told(&view);
            text.append(sessions::take(&door, &guest, &view.session.to_string()).await?);
            Ok(text)
        })));
    }
    let request = AutoTask { start, finish: ending(given.value("HOW"))?, tries: None };
    Ok(Begun::Behind(Box::pin(async move {
        let run = tasks.auto(request, by).await?;
        sessions::take(&door, &guest, &run.session.to_string()).await?;
        Ok(told(&run.wait().await?))
    })))
}

fn work(tasks: Tasks, id: TaskId, verb: TaskVerb, given: &Given, by: Actor) -> Result<Work, Refused> {
    let value = |name: &str| given.value(name).unwrap_or_default().to_owned();
    let step = StepRequest { agent: given.value("AGENT").map(str::to_owned) };
    let (text, count) = (value("TEXT"), steps(given));
    Ok(match verb {
        TaskVerb::Plan => Box::pin(async move { tasks.plan(id, step, by).await?.wait().await }),
        TaskVerb::Implement => Box::pin(async move { tasks.implement(id, step, by).await?.wait().await }),
        TaskVerb::Review => Box::pin(async move { tasks.review(id, step, by).await?.wait().await }),
        TaskVerb::Resume => Box::pin(async move { tasks.resume(id, by).await?.wait().await }),
        TaskVerb::Finish => {
            let request = ending(given.value("HOW"))?;
            Box::pin(async move { tasks.finish(id, request, by).await?.wait().await })
        }
        TaskVerb::Note => Box::pin(async move { tasks.note(id, text, by).await }),
        TaskVerb::Answer => Box::pin(async move { tasks.answer(id, text, by).await }),
        TaskVerb::Undo => Box::pin(async move { tasks.undo(id, count, by).await }),
        TaskVerb::Redo => Box::pin(async move { tasks.redo(id, count, by).await }),
        TaskVerb::Set => {
            let (name, fact) = (value("NAME"), given.value("VALUE").map(fact));
            Box::pin(async move { tasks.set_metadata(id, name, fact, by).await })
        }
        TaskVerb::Override => Box::pin(async move { tasks.override_guard(id, by).await }),
        TaskVerb::Abandon => Box::pin(async move { tasks.abandon(id, AbandonTask::default(), by).await }),
        TaskVerb::Browse | TaskVerb::Start | TaskVerb::Status | TaskVerb::Auto => {
            Box::pin(async move { tasks.status(id).await })
        }
    })
}

/// How a task is to end.
fn ending(typed: Option<&str>) -> Result<FinishTask, Refused> {
    let how = match typed {
        None | Some("keep") => FinishHow::Keep,
        Some("merge") => FinishHow::Merge { squash: false },
        Some("squash") => FinishHow::Merge { squash: true },
        Some("propose") => FinishHow::Propose { title: None, description: None, draft: false },
        Some(other) => {
            let what = format!("`{}` is no way to end a task", brief(other, BRIEF));
            let known: Vec<&str> = ENDINGS.iter().map(|(word, _)| *word).collect();
            return Err(Refused::new(Status::Usage, what).hint(format!("there are {}", known.join(", "))));
        }
    };
    Ok(FinishTask::new(how))
}

/// What somebody states: JSON if it is some, else the words as they are.
fn fact(text: &str) -> JsonText {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => JsonText(text.to_owned()),
        Err(_) => JsonText(serde_json::Value::String(text.to_owned()).to_string()),
    }
}

/// A task in a line, and what can be done next in another.
fn told(view: &TaskView) -> Painted {
    let title = brief(&view.task.start.item.title, BRIEF);
    let mut text =
        Painted::of(Style::Name, view.id.to_string()).plain(format!(" is {}: {title}", phase(view))).line();
    if let Some(next) = next(view) {
        text.append(Painted::of(Style::Aside, next).line());
    }
    text
}

fn next(view: &TaskView) -> Option<String> {
    let (id, task) = (view.id, &view.task);
    if let Some(question) = &task.question {
        let text = brief(&question.text, BRIEF * 2);
        let options: Vec<String> = question.options.iter().map(|option| brief(option, BRIEF)).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
        return Some(format!("it asks: {text}{options}; `task answer {id} TEXT` answers it"));
    }
    if let Some(held) = &task.held {
        let (name, hook, reason) = (&held.by.name, &held.by.hook, brief(&held.reason, BRIEF * 2));
        let past = if held.is_guard { format!(", `task override {id}` goes past it") } else { String::new() };
        return Some(format!(
            "{name} of {hook} holds it back: {reason}; `task resume {id}` asks again{past}"
        ));
    }
    let word = match (task.phase.is_over(), view.is_interrupted(), task.own_position.as_str()) {
        (true, ..) => return None,
        (_, true, _) => "resume",
        (_, _, "idle") => "plan",
        (_, _, "planning") => "implement",
        (_, _, "implementing") => "review",
        _ => "finish",
    };
    Some(format!("`task {word} {id}` comes next"))
}
