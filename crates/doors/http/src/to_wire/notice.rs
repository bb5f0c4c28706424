//! `session.notice`: what happens to a session beside its turns, and who is there.

use loggia_domain::{Actor, EventBody, FileChange, ModelName, TaskEvent};
use loggia_engine::task_line;
use loggia_protocol_agent_server as wire;
use wire::{NoticeKind, ServerMessage, SessionNotice, Stamp};

use crate::to_wire::names::actor_name;

/// How many files are named: a screen's worth. The journal has the rest.
const MAX_FILES: usize = 256;

/// How much of what happened to a task is told, in bytes: texts of agents and plugins may be long, and are kept elsewhere.
const MAX_TASK_BYTES: usize = 2_000;

/// What an event is a notice of, if it is one.
pub(super) fn notice(body: &EventBody, stamp: Stamp) -> Option<ServerMessage> {
    let plain =
        |kind, by: &Actor, message: String| SessionNotice { stamp, ..bare(kind, actor_name(by), message) };
    let notice = match body {
        EventBody::SessionRenamed { title, by } => {
            let message = format!("{} renamed the session to \"{title}\"", actor_name(by));
            SessionNotice { title: Some(title.clone()), ..plain(NoticeKind::Renamed, by, message) }
        }
        EventBody::ModelChanged { model: ModelName(model), reason, by } => {
            let why = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let message = format!("{} changed the model to {model}{why}", actor_name(by));
            SessionNotice { model: Some(model.clone()), ..plain(NoticeKind::ModelChanged, by, message) }
        }
        EventBody::ModelSwitched { from: ModelName(from), to: ModelName(to), reason } => {
            let message = format!("{to} replies instead of {from}: {reason}");
            SessionNotice {
                model: Some(to.clone()),
                ..plain(NoticeKind::ModelSwitched, &Actor::Engine, message)
            }
        }
        EventBody::Undone { files, by, .. } => {
            let message = format!("{} undid a turn: {}", actor_name(by), count(files));
            SessionNotice { files: paths(files), ..plain(NoticeKind::Undone, by, message) }
        }
        EventBody::Redone { files, by, .. } => {
            let message = format!("{} redid a turn: {}", actor_name(by), count(files));
            SessionNotice { files: paths(files), ..plain(NoticeKind::Redone, by, message) }
        }
        EventBody::TurnContinued { by } => {
            plain(NoticeKind::Continued, by, format!("{} continued the turn", actor_name(by)))
        }
        EventBody::SessionClosed { by } => {
            plain(NoticeKind::Closed, by, format!("{} ended the session", actor_name(by)))
        }
        EventBody::Task(event) => plain(NoticeKind::Task, task_actor(event), task_words(event)?),
        _ => return None,
    };
    Some(ServerMessage::SessionNotice(notice))
}

/// What happened to a task, in words. That a turn belongs to a step is seen in what follows.
fn task_words(event: &TaskEvent) -> Option<String> {
    if matches!(event, TaskEvent::Working { .. }) {
        return None;
    }
    let mut line = format!("task: {}", task_line(event));
    if line.len() > MAX_TASK_BYTES {
        line.truncate(line.floor_char_boundary(MAX_TASK_BYTES));
        line.push('…');
    }
    Some(line)
}

/// Who did that to a task.
fn task_actor(event: &TaskEvent) -> &Actor {
    match event {
        TaskEvent::Started(start) => &start.by,
        TaskEvent::Entered { by, .. }
        | TaskEvent::Noted { by, .. }
        | TaskEvent::Answered { by, .. }
        | TaskEvent::Moved { by, .. }
        | TaskEvent::MetadataSet { by, .. }
        | TaskEvent::Finished { by }
        | TaskEvent::Abandoned { by } => by,
        _ => &Actor::Engine,
    }
}

/// Somebody came or went. It passes, so it has no place in the journal.
pub(crate) fn presence(name: &str, is_there: bool) -> SessionNotice {
    match is_there {
        true => bare(NoticeKind::Joined, name, format!("{name} is here")),
        false => bare(NoticeKind::Left, name, format!("{name} has gone")),
    }
}

fn bare(kind: NoticeKind, by: &str, message: String) -> SessionNotice {
    SessionNotice {
        kind,
        by: by.to_owned(),
        message,
        session_id: None,
        title: None,
        model: None,
        files: Vec::new(),
        stamp: Stamp::default(),
    }
}

fn paths(files: &[FileChange]) -> Vec<String> {
    files.iter().take(MAX_FILES).map(|change| change.path.clone()).collect()
}

fn count(files: &[FileChange]) -> String {
    match files.len() {
        1 => "1 file".to_owned(),
        number => format!("{number} files"),
    }
}
