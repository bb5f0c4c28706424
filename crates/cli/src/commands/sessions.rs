//! Sessions: which there are, what was said in them, and what they are called.

use std::path::PathBuf;

use loggia_client::{Client, Page};
use loggia_protocol_agent_server::{
    ForkSessionParams, RenameSessionParams, ServerMessage, Session, SessionId, Timestamp,
};
use serde_json::json;

use super::table::table;
use super::{choose, confirm, say, say_json};
use crate::ask::{SessionChoice, View, workspace};
use crate::paint::{ASIDE, SUBJECT};
use crate::{CliError, Interrupts, Outcome, Terminal, session_id};

/// The most sessions of one page.
const PAGE: u32 = 100;

/// Which sessions there are.
#[derive(Debug, Clone)]
pub struct SessionsList {
    /// Of this directory; of all otherwise.
    pub workspace: Option<PathBuf>,
    /// At most so many, the newest.
    pub limit: usize,
    /// As JSON.
    pub json: bool,
}

/// Lists sessions, newest first.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_list(
    client: &Client,
    options: SessionsList,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let workspace = match &options.workspace {
        Some(directory) => Some(workspace(client, directory).await?.workspace_id),
        None => None,
    };
    let mut sessions: Vec<Session> = Vec::new();
    let mut cursor = None;
    while sessions.len() < options.limit {
        let limit = u32::try_from(options.limit - sessions.len()).unwrap_or(PAGE).min(PAGE);
        let page = client.sessions(workspace.as_ref(), &Page { limit: Some(limit), cursor }).await?;
        let ended = page.sessions.is_empty();
        sessions.extend(page.sessions);
        cursor = page.next_cursor;
        if ended || cursor.is_none() {
            break;
        }
    }
    if options.json {
        say_json(terminal, &json!({"sessions": sessions}))?;
        return Ok(Outcome::Done);
    }
    if sessions.is_empty() {
        terminal.err("There are no sessions yet.\n").map_err(CliError::Output)?;
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<String>> = sessions.iter().map(row).collect();
    let width = terminal.stdout_is_terminal().then(|| terminal.width());
    let text = table(&["SESSION", "CHANGED", "STATUS", "TITLE"], &rows, terminal.paint_out(), width);
    terminal.out(&text).map_err(CliError::Output)?;
    Ok(Outcome::Done)
}

/// What was said and done in a session.
#[derive(Debug, Clone)]
pub struct SessionShow {
    /// Which.
    pub session: SessionChoice,
    /// Where the latest one is looked for.
    pub workspace: PathBuf,
    /// As JSON Lines.
    pub json: bool,
}

/// Shows a session from its beginning.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_show(
    client: &Client,
    options: SessionShow,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let session = choose(client, &options.session, &options.workspace).await?;
    if options.json {
        say_json(terminal, &session)?;
    } else {
        let (title, about) = (terminal.paint_err().foreign(SUBJECT, &session.title), about(&session));
        let about = terminal.paint_err().foreign(ASIDE, &about);
        terminal.err(&format!("{title}\n{about}\n")).map_err(CliError::Output)?;
    }
    let mut after = Some(0);
    while let Some(from) = after {
        let page = client.events(&session.session_id, from, None).await?;
        for event in &page.events {
            if options.json {
                say(terminal, event.as_str())?;
                continue;
            }
            // One that is too new spoils only itself.
            let Ok(message) = event.decode() else { continue };
            show(terminal, &message)?;
        }
        after = page.next_after.filter(|next| *next > from);
    }
    Ok(Outcome::Done)
}

fn show(terminal: &mut Terminal, message: &ServerMessage) -> Result<(), CliError> {
    let mut view = View::new(terminal, false);
    view.message(message)
}

/// A session's new title.
#[derive(Debug, Clone)]
pub struct SessionRename {
    /// Which, by its id or the beginning of it.
    pub session: SessionId,
    /// What to call it.
    pub title: String,
    /// As JSON.
    pub json: bool,
}

/// Calls a session something else.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_rename(
    client: &Client,
    options: SessionRename,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let id = session_id::find(client, &options.session).await?.session_id;
    let session = client.rename_session(&id, &RenameSessionParams { title: options.title }).await?;
    tell(terminal, &session, options.json, "is now called")
}

/// A new session with the past of another.
#[derive(Debug, Clone)]
pub struct SessionFork {
    /// Which past, by the id of its session or the beginning of it.
    pub session: SessionId,
    /// Up to this event; all of it otherwise.
    pub seq: Option<u64>,
    /// What to call it.
    pub title: Option<String>,
    /// As JSON.
    pub json: bool,
}

/// Begins a session where another one is, or was.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_fork(
    client: &Client,
    options: SessionFork,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let params = ForkSessionParams { seq: options.seq, title: options.title };
    let id = session_id::find(client, &options.session).await?.session_id;
    let session = client.fork_session(&id, &params).await?;
    tell(terminal, &session, options.json, "is new:")
}

/// A session to delete.
#[derive(Debug, Clone)]
pub struct SessionDelete {
    /// Which, by its id or the beginning of it.
    pub session: SessionId,
    /// Without asking.
    pub yes: bool,
    /// As JSON.
    pub json: bool,
}

/// Deletes a session, with all that was said in it. Files stay as they are.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_delete(
    client: &Client,
    options: SessionDelete,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let session = session_id::find(client, &options.session).await?;
    let what = format!("Delete \"{}\" and all that was said in it?", session.title);
    if !options.yes && !confirm(terminal, &what, interrupts).await? {
        return Ok(Outcome::Refused);
    }
    let id = session.session_id;
    client.delete_session(&id).await?;
    match options.json {
        true => say_json(terminal, &json!({"deleted": id}))?,
        false => say(terminal, &format!("{} is deleted.", id.0))?,
    }
    Ok(Outcome::Done)
}

/// Tells what a session is now.
pub(super) fn tell(
    terminal: &mut Terminal,
    session: &Session,
    json: bool,
    what: &str,
) -> Result<Outcome, CliError> {
    match json {
        true => say_json(terminal, session)?,
        false => {
            let title = crate::paint::printable(&session.title).into_owned();
            say(terminal, &format!("{} {what} {title}", session.session_id.0))?;
        }
    }
    Ok(Outcome::Done)
}

fn row(session: &Session) -> Vec<String> {
    let status = session.status.as_str().replace('_', " ");
    vec![session.session_id.0.clone(), moment(&session.updated_at), status, session.title.clone()]
}

fn about(session: &Session) -> String {
    let model = session.model.as_ref();
    let model = model.map(|model| format!(" · {}:{}", model.provider, model.model_name)).unwrap_or_default();
    format!("{} · {}{model}", session.session_id.0, moment(&session.updated_at))
}

/// A moment to the minute, in UTC as the server told it.
fn moment(at: &Timestamp) -> String {
    at.0.get(..16).unwrap_or(&at.0).replace('T', " ")
}
