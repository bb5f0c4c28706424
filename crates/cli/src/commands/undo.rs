//! Taking changes back, and making them again.

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{ProblemType, Session, UndoParams, UndoResult};

use super::{choose, confirm, say, say_json};
use crate::ask::SessionChoice;
use crate::paint::printable;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// What to take back, or to make again.
#[derive(Debug, Clone)]
pub struct Undo {
    /// Of which session.
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
    let session = choose(client, &options.session, &options.workspace).await?;
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
    let result = match way {
        Way::Back => client.undo(&session.session_id, &params).await,
        Way::Again => client.redo(&session.session_id, &params).await,
    };
    let result = result.map_err(|error| refused(error, &session, way))?;
    match options.json {
        true => say_json(terminal, &result)?,
        false => say(terminal, &told(&result, way))?,
    }
    Ok(Outcome::Done)
}

/// Why nothing was done: a session without a change is told by its name. The server only says so in words.
fn refused(error: loggia_client::Error, session: &Session, way: Way) -> CliError {
    let verb = if way == Way::Back { "undo" } else { "redo" };
    let words = format!("there is nothing to {verb}");
    match error.problem() {
        Some(problem)
            if problem.kind == ProblemType::Conflict && problem.detail.as_deref() == Some(&*words) =>
        {
            CliError::NothingToStep {
                verb,
                title: session.title.clone(),
                session: session.session_id.0.clone(),
            }
        }
        _ => error.into(),
    }
}

fn told(result: &UndoResult, way: Way) -> String {
    let verb = if way == Way::Back { "Took back" } else { "Made again" };
    let steps = if result.steps == 1 { "1 step".to_owned() } else { format!("{} steps", result.steps) };
    let mut lines = vec![format!("{verb} {steps}.")];
    lines.extend(result.files.iter().map(|file| format!("  {}", printable(file))));
    if !result.out_of_reach.is_empty() {
        lines.push("What these commands did in a terminal is out of reach:".to_owned());
        lines.extend(result.out_of_reach.iter().map(|command| format!("  {}", printable(command))));
    }
    lines.join("\n")
}
