//! Taking changes back, and making them again.

use std::path::PathBuf;

use loggia_client::{Client, Page};
use loggia_protocol_agent_server::{Session, SessionId, SessionPage, UndoParams, UndoResult};
use serde::Serialize;

use super::{choose, confirm, say, say_json};
use crate::ask::{SessionChoice, workspace};
use crate::paint::printable;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// How many sessions are looked at together.
const PAGE: u32 = 100;

/// How many sessions are looked at: whoever means an older one names it.
const MAX_SESSIONS: usize = 1_000;

/// What to take back, or to make again.
#[derive(Debug, Clone)]
pub struct Undo {
    /// Of which session. [`SessionChoice::Latest`] is the newest one that has something to take back, or to make again.
    pub session: SessionChoice,
    /// Where the latest one is looked for.
    pub workspace: PathBuf,
    /// How many steps; one when absent.
    pub steps: Option<u32>,
    /// Without asking.
    pub yes: bool,
    /// As JSON.
    pub json: bool,
}

/// Takes a session's last changes back.
///
/// # Errors
/// See [`CliError`]; files that changed since are told and left alone.
pub async fn undo(
    client: &Client,
    options: Undo,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    step(client, options, terminal, interrupts, Way::Back).await
}

/// Makes changes again that were taken back.
///
/// # Errors
/// See [`CliError`]; files that changed since are told and left alone.
pub async fn redo(
    client: &Client,
    options: Undo,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    step(client, options, terminal, interrupts, Way::Again).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    Again,
}

async fn step(
    client: &Client,
    options: Undo,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
    way: Way,
) -> Result<Outcome, CliError> {
    let session = way.find(client, &options).await?;
    let steps = match options.steps.unwrap_or(1) {
        1 => "the last change".to_owned(),
        steps => format!("the last {steps} changes"),
    };
    let verb = if way == Way::Back { "Undo" } else { "Redo" };
    let what = format!("{verb} {steps} of \"{}\"?", session.title);
    if !options.yes && !confirm(terminal, &what, interrupts).await? {
        return Ok(Outcome::Refused);
    }
    let params = UndoParams { steps: options.steps };
    // Whoever chose the session knows which it is.
    let is_found = options.session == SessionChoice::Latest;
    let named = is_found.then(|| format!(" of \"{}\" ({})", printable(&session.title), session.session_id.0));
    let result = match way {
        Way::Back => client.undo(&session.session_id, &params).await?,
        Way::Again => client.redo(&session.session_id, &params).await?,
    };
    match options.json {
        true => say_json(terminal, &Stepped { session_id: &session.session_id, result: &result })?,
        false => say(terminal, &told(&result, named.as_deref(), way))?,
    }
    Ok(Outcome::Done)
}

/// What the server said, and of which session.
#[derive(Debug, Serialize)]
struct Stepped<'r> {
    session_id: &'r SessionId,
    #[serde(flatten)]
    result: &'r UndoResult,
}

impl Way {
    fn verb(self) -> &'static str {
        match self {
            Self::Back => "undo",
            Self::Again => "redo",
        }
    }

    /// How many steps a session has this way.
    fn steps(self, session: &Session) -> u32 {
        match self {
            Self::Back => session.can_undo,
            Self::Again => session.can_redo,
        }
    }

    /// The session that is meant: the one that was named, else the newest one with something to do.
    async fn find(self, client: &Client, options: &Undo) -> Result<Session, CliError> {
        let verb = self.verb();
        let SessionChoice::Latest = options.session else {
            let session = choose(client, &options.session, &options.workspace).await?;
            if self.steps(&session) > 0 {
                return Ok(session);
            }
            let (title, session) = (session.title, session.session_id.0);
            return Err(CliError::NothingToStep { verb, title, session });
        };
        let workspace = workspace(client, &options.workspace).await?;
        let mut page = Page { limit: Some(PAGE), cursor: None };
        let mut seen = 0;
        while seen < MAX_SESSIONS {
            let SessionPage { sessions, next_cursor, .. } =
                client.sessions(Some(&workspace.workspace_id), &page).await?;
            seen += sessions.len();
            if let Some(found) = sessions.into_iter().find(|session| self.steps(session) > 0) {
                return Ok(found);
            }
            page.cursor = next_cursor;
            if page.cursor.is_none() {
                break;
            }
        }
        if seen == 0 { Err(CliError::NoSession) } else { Err(CliError::NothingToStepHere { verb }) }
    }
}

fn told(result: &UndoResult, named: Option<&str>, way: Way) -> String {
    let verb = if way == Way::Back { "Took back" } else { "Made again" };
    let steps = if result.steps == 1 { "1 step".to_owned() } else { format!("{} steps", result.steps) };
    let mut lines = vec![format!("{verb} {steps}{}.", named.unwrap_or_default())];
    lines.extend(result.files.iter().map(|file| format!("  {}", printable(file))));
    if !result.out_of_reach.is_empty() {
        lines.push("What these commands did in a terminal is out of reach:".to_owned());
        lines.extend(result.out_of_reach.iter().map(|command| format!("  {}", printable(command))));
    }
    lines.join("\n")
}
