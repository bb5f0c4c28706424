//! The open message of a workspace: opened, looked at, changed by paths, saved.

use std::borrow::Cow;
use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{
    FindingSeverity, MessageFormat, MessagePatch, OpenMessage, OpenMessageParams, RefusedPatch,
    SaveMessageParams, SetMessageParams,
};
use serde_json::json;

use super::{say, say_json};
use crate::ask::workspace;
use crate::paint::{ERROR, SUBJECT, WARNING, printable};
use crate::{CliError, Outcome, Terminal};

/// How many findings a server tells at most; with so many, there may be others.
const MOST_FINDINGS: usize = 1_000;

/// Where the message is, and how it is told.
#[derive(Debug, Clone)]
pub struct MessageAt {
    /// The workspace's directory.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// What to open.
#[derive(Debug, Clone)]
pub enum MessageOpening {
    /// A file, relative to the workspace.
    File(String),
    /// A new message with this text.
    New {
        /// The text.
        text: String,
        /// What it is written in.
        format: MessageFormat,
    },
}

/// Something to do with the open message that needs nothing more said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStep {
    /// Take the last step back.
    Undo,
    /// Make it again.
    Redo,
}

/// Changes of single places.
#[derive(Debug, Clone)]
pub struct MessagePatches {
    /// In order.
    pub patches: Vec<MessagePatch>,
    /// Save it afterwards, if all applied.
    pub save: bool,
}

/// Tells what is open.
///
/// # Errors
/// See [`CliError`].
pub async fn message_status(
    client: &Client,
    at: MessageAt,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    match find(client, &at).await {
        Ok(message) => told(&message, &at, &described(&message), terminal)?,
        Err(CliError::NoMessage) if at.json => say(terminal, "null")?,
        Err(CliError::NoMessage) => {
            let text = "No message is open; `loggia message open FILE` opens one.\n";
            terminal.err(text).map_err(CliError::Output)?;
        }
        Err(error) => return Err(error),
    }
    Ok(Outcome::Done)
}

/// Opens a message in the place of the one that is open.
///
/// # Errors
/// See [`CliError`].
pub async fn message_open(
    client: &Client,
    at: MessageAt,
    opening: MessageOpening,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = open(client, &at, opening).await?;
    told(&message, &at, &described(&message), terminal)?;
    Ok(Outcome::Done)
}

/// Opens a message, and says nothing.
pub(super) async fn open(
    client: &Client,
    at: &MessageAt,
    opening: MessageOpening,
) -> Result<OpenMessage, CliError> {
    let workspace_id = workspace(client, &at.workspace).await?.workspace_id;
    let params = match opening {
        MessageOpening::File(path) => {
            OpenMessageParams { workspace_id, path: Some(path), text: None, format: None }
        }
        MessageOpening::New { text, format } => {
            OpenMessageParams { workspace_id, path: None, text: Some(text), format: Some(format) }
        }
    };
    Ok(client.open_message(&params).await?)
}

/// Prints the whole message: one segment a line, or byte by byte if a format is named and nobody looks at it.
///
/// # Errors
/// See [`CliError`].
pub async fn message_show(
    client: &Client,
    at: MessageAt,
    format: Option<MessageFormat>,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = find(client, &at).await?;
    let content = client.message_text(&message.message_id, format.as_ref()).await?;
    if at.json {
        say_json(terminal, &content)?;
    } else if format.is_some() && !terminal.stdout_is_terminal() {
        terminal.out(&content.text).map_err(CliError::Output)?;
    } else {
        let lines = content.text.replace("\r\n", "\n").replace('\r', "\n");
        let shown = |line| if terminal.stdout_is_terminal() { printable(line) } else { Cow::Borrowed(line) };
        let lines: Vec<Cow<'_, str>> = lines.lines().map(shown).collect();
        lines.iter().try_for_each(|line| say(terminal, line))?;
    }
    Ok(Outcome::Done)
}

/// Prints what stands at a path; whether something does.
///
/// # Errors
/// See [`CliError`].
pub async fn message_get(
    client: &Client,
    at: MessageAt,
    path: String,
    terminal: &mut Terminal,
) -> Result<bool, CliError> {
    let message = find(client, &at).await?;
    let value = client.message_value(&message.message_id, &path).await?;
    match &value.value {
        _ if at.json => say_json(terminal, &value)?,
        Some(text) if terminal.stdout_is_terminal() => say(terminal, &printable(text))?,
        Some(text) => say(terminal, text)?,
        None => warn(terminal, &format!("`{path}` leads nowhere in this message"))?,
    }
    Ok(value.value.is_some())
}

/// Changes single places; whether all of them changed.
///
/// # Errors
/// See [`CliError`].
pub async fn message_patch(
    client: &Client,
    at: MessageAt,
    patches: MessagePatches,
    terminal: &mut Terminal,
) -> Result<bool, CliError> {
    let message = find(client, &at).await?;
    let MessagePatches { patches, save } = patches;
    let id = &message.message_id;
    let mut patched = client.patch_message(id, patches).await?;
    let well = patched.refused.is_empty();
    if save && well {
        patched.message = client.save_message(id, &SaveMessageParams::default()).await?;
    }
    if at.json {
        say_json(terminal, &patched)?;
        return Ok(well);
    }
    let places = if patched.applied == 1 { "1 place" } else { &format!("{} places", patched.applied) };
    say(terminal, &format!("{places} changed; {}", described(&patched.message)))?;
    for RefusedPatch { path, message, .. } in &patched.refused {
        warn(terminal, &format!("`{path}` did not change: {message}"))?;
    }
    if save && !well {
        warn(terminal, "it is not saved, since not all changed")?;
    }
    Ok(well)
}

/// Puts another text in the message's place.
///
/// # Errors
/// See [`CliError`].
pub async fn message_set(
    client: &Client,
    at: MessageAt,
    text: String,
    format: Option<MessageFormat>,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = find(client, &at).await?;
    let params = SetMessageParams { text, format };
    let message = client.set_message(&message.message_id, &params).await?;
    told(&message, &at, &described(&message), terminal)?;
    Ok(Outcome::Done)
}

/// Writes it to its file, or to another one, relative to the workspace.
///
/// # Errors
/// See [`CliError`].
pub async fn message_save(
    client: &Client,
    at: MessageAt,
    path: Option<String>,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = find(client, &at).await?;
    let message = client.save_message(&message.message_id, &SaveMessageParams { path }).await?;
    told(&message, &at, &format!("saved {}", named(&message)), terminal)?;
    Ok(Outcome::Done)
}

/// Takes a step back, or makes one again.
///
/// # Errors
/// See [`CliError`].
pub async fn message_step(
    client: &Client,
    at: MessageAt,
    step: MessageStep,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = find(client, &at).await?;
    let (message, text) = match step {
        MessageStep::Undo => (client.undo_message(&message.message_id).await?, "one step back"),
        MessageStep::Redo => (client.redo_message(&message.message_id).await?, "one step made again"),
    };
    told(&message, &at, &format!("{text}; {}", described(&message)), terminal)?;
    Ok(Outcome::Done)
}

/// Closes it. What is not saved is lost only if that is meant.
///
/// # Errors
/// See [`CliError`].
pub async fn message_close(
    client: &Client,
    at: MessageAt,
    discard: bool,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let message = find(client, &at).await?;
    match discard {
        true => client.discard_message(&message.message_id).await?,
        false => client.close_message(&message.message_id).await?,
    }
    match at.json {
        true => say_json(terminal, &json!({ "message_id": message.message_id, "closed": true }))?,
        false => say(terminal, &format!("closed {}", named(&message)))?,
    }
    Ok(Outcome::Done)
}

/// Tells what is doubtful about it; whether nothing is.
///
/// # Errors
/// See [`CliError`].
pub async fn message_validate(
    client: &Client,
    at: MessageAt,
    terminal: &mut Terminal,
) -> Result<bool, CliError> {
    let message = find(client, &at).await?;
    let validation = client.validate_message(&message.message_id).await?;
    let paint = terminal.paint_out();
    if at.json {
        say_json(terminal, &validation)?;
    } else if validation.findings.is_empty() {
        say(terminal, "nothing is doubtful")?;
    }
    for finding in validation.findings.iter().filter(|_| !at.json) {
        let style = if finding.severity == FindingSeverity::Error { ERROR } else { WARNING };
        let word = paint.text(style, format!("{:<7}", finding.severity.as_str()));
        let place = match finding.path.as_str() {
            "" => Cow::Borrowed(""),
            path => Cow::Owned(format!("{}: ", paint.text(SUBJECT, printable(path)))),
        };
        say(terminal, &format!("{word} {place}{}", printable(&finding.message)))?;
    }
    if validation.findings.len() >= MOST_FINDINGS && !at.json {
        warn(terminal, &format!("no more than {MOST_FINDINGS} findings are told, and there may be others"))?;
    }
    Ok(validation.findings.is_empty())
}

/// The message that is open in the workspace.
pub(super) async fn find(client: &Client, at: &MessageAt) -> Result<OpenMessage, CliError> {
    let id = workspace(client, &at.workspace).await?.workspace_id;
    let open = client.messages(Some(&id)).await?.messages;
    open.into_iter().find(|message| message.workspace_id == id).ok_or(CliError::NoMessage)
}

/// Says how the message is now.
fn told(message: &OpenMessage, at: &MessageAt, text: &str, terminal: &mut Terminal) -> Result<(), CliError> {
    if at.json { say_json(terminal, message) } else { say(terminal, text) }
}

/// What it is called, for people.
pub(super) fn named(message: &OpenMessage) -> String {
    let name = message.path.as_deref().or(message.file.as_deref()).unwrap_or("a message without a file");
    printable(name).into_owned()
}

/// It in a few words.
fn described(message: &OpenMessage) -> String {
    let unsaved = if message.unsaved { ", not saved" } else { "" };
    let (name, format) = (named(message), message.format.as_str());
    format!("{name}: {format}, {} bytes, revision {}{unsaved}", message.bytes, message.revision)
}

/// Says something to look at.
fn warn(terminal: &mut Terminal, text: &str) -> Result<(), CliError> {
    let word = terminal.paint_err().text(WARNING, "warning:").into_owned();
    terminal.err(&format!("{word} {}\n", printable(text))).map_err(CliError::Output)
}
