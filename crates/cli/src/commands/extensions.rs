//! Extensions: which there are, how they are, what they said, and their commands.

mod answers;
mod dialogs;
mod run;

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{
    Extension, ExtensionList, ExtensionLogEntry, ExtensionParams, ExtensionState, LogLevel, WorkspaceId,
};

pub use answers::Prepared;
pub use run::{ExtensionRun, extension_run};

use super::table::table;
use super::{say, say_json};
use crate::ask::workspace;
use crate::paint::{ASIDE, ERROR, SUBJECT, WARNING, first_line, printable};
use crate::{CliError, Outcome, Terminal};

/// What is said of a workspace's extensions that may not run.
const TRUST_HINT: &str = "`loggia trust` shows what would run, and lets it";

/// The extensions of a workspace.
#[derive(Debug, Clone)]
pub struct ExtensionsOf {
    /// The workspace's directory.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// What to do with an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionChange {
    /// Stop it and start it again.
    Restart,
    /// Stop it.
    Stop,
}

/// Lists extensions in the order in which they are configured. None is started.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_list(
    client: &Client,
    options: ExtensionsOf,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = place(client, &options).await?;
    let listing = client.extensions(&place).await?;
    told(&listing, &options, terminal)?;
    Ok(Outcome::Done)
}

/// Starts all that are to run and do not; whether none of them failed.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_start(
    client: &Client,
    options: ExtensionsOf,
    terminal: &mut Terminal,
) -> Result<bool, CliError> {
    let place = place(client, &options).await?;
    let listing = client.start_extensions(&ExtensionParams { workspace_id: place }).await?;
    told(&listing, &options, terminal)?;
    let stays =
        |extension: &&Extension| matches!(extension.state, ExtensionState::Stopped | ExtensionState::Failed);
    for extension in listing.extensions.iter().filter(stays) {
        let (name, state) = (&extension.name, state(&extension.state));
        warn(terminal, &format!("{name} stays {state}; `loggia ext restart {name}` starts it again"))?;
    }
    Ok(listing.extensions.iter().all(|extension| extension.state != ExtensionState::Failed))
}

/// Shows all there is to know about an extension. It is not started.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_info(
    client: &Client,
    name: String,
    options: ExtensionsOf,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = place(client, &options).await?;
    let extension = client.extension(&name, &place).await?;
    match options.json {
        true => say_json(terminal, &extension)?,
        false => say(terminal, &facts(&extension, terminal))?,
    }
    Ok(Outcome::Done)
}

/// Shows what an extension said last, and what happened to it.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_logs(
    client: &Client,
    name: String,
    options: ExtensionsOf,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let place = place(client, &options).await?;
    let log = client.extension_log(&name, &place).await?;
    if options.json {
        say_json(terminal, &log)?;
        return Ok(Outcome::Done);
    }
    let paint = terminal.paint_out();
    for entry in &log.entries {
        let (word, style) = level(&entry.level);
        let (time, word) = (paint.text(ASIDE, entry.at.0.as_str()), paint.text(style, format!("{word:<7}")));
        say(terminal, &format!("{time} {word} {}", printable(&entry.message)))?;
    }
    if log.entries.is_empty() {
        terminal.err("Nothing was said or happened yet.\n").map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

/// Starts an extension anew, or stops it.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_change(
    client: &Client,
    name: String,
    change: ExtensionChange,
    options: ExtensionsOf,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let params = ExtensionParams { workspace_id: place(client, &options).await? };
    let extension = match change {
        ExtensionChange::Restart => client.restart_extension(&name, &params).await?,
        ExtensionChange::Stop => client.stop_extension(&name, &params).await?,
    };
    if options.json {
        say_json(terminal, &extension)?;
    } else {
        say(terminal, &format!("{} is {}", printable(&extension.name), state(&extension.state)))?;
    }
    Ok(Outcome::Done)
}

async fn place(client: &Client, options: &ExtensionsOf) -> Result<WorkspaceId, CliError> {
    Ok(workspace(client, &options.workspace).await?.workspace_id)
}

fn told(listing: &ExtensionList, options: &ExtensionsOf, terminal: &mut Terminal) -> Result<(), CliError> {
    if options.json {
        return say_json(terminal, listing);
    }
    if listing.extensions.is_empty() {
        let text = "No extension is configured; `loggia ext new NAME` writes one to start from.\n";
        terminal.err(text).map_err(CliError::Output)?;
    } else {
        let rows: Vec<Vec<String>> = listing.extensions.iter().map(row).collect();
        let width = terminal.stdout_is_terminal().then(|| terminal.width());
        let text = table(&["NAME", "SCOPE", "STATE", "ABOUT"], &rows, terminal.paint_out(), width);
        terminal.out(&text).map_err(CliError::Output)?;
    }
    if listing.extensions.iter().any(|extension| extension.state == ExtensionState::Untrusted) {
        warn(terminal, &format!("extensions of this workspace are not trusted; {TRUST_HINT}"))?;
    }
    listing.problems.iter().try_for_each(|problem| warn(terminal, problem))
}

fn row(extension: &Extension) -> Vec<String> {
    let described = extension.about.as_ref().map(|about| match &about.description {
        Some(description) => format!("{} {}: {description}", about.name, about.version),
        None => format!("{} {}", about.name, about.version),
    });
    let about = extension.problem.clone().or(described).unwrap_or_else(|| extension.command_line.join(" "));
    vec![
        extension.name.clone(),
        extension.scope.to_string(),
        state(&extension.state).to_owned(),
        first_line(&about).into_owned(),
    ]
}

/// How it is, for people.
fn state(state: &ExtensionState) -> &str {
    match state {
        ExtensionState::Untrusted => "not trusted",
        ExtensionState::Disabled => "off",
        ExtensionState::Idle => "ready",
        ExtensionState::ShuttingDown => "leaving",
        state => state.as_str(),
    }
}

fn facts(extension: &Extension, terminal: &Terminal) -> String {
    let paint = terminal.paint_out();
    let mut lines = vec![paint.text(SUBJECT, printable(&extension.name)).into_owned()];
    let mut fact = |name: &str, value: &str| {
        let name = paint.text(ASIDE, format!("{name:<12}"));
        lines.push(format!("  {name} {}", printable(value)));
    };
    let pid = extension.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    fact("state", &format!("{}{pid}", state(&extension.state)));
    extension.problem.iter().for_each(|problem| fact("problem", problem));
    fact("scope", extension.scope.as_str());
    fact("started as", &extension.command_line.join(" "));
    if let Some(about) = &extension.about {
        fact("calls itself", &format!("{} {}", about.name, about.version));
        about.description.iter().for_each(|text| fact("about", text));
        if !about.authors.is_empty() {
            fact("authors", &about.authors.join(", "));
        }
        about.homepage.iter().for_each(|text| fact("homepage", text));
    }
    for command in &extension.commands {
        let title = if command.title == command.id { String::new() } else { format!(": {}", command.title) };
        fact("command", &format!("{}{title}", command.id));
    }
    if !extension.events.is_empty() {
        fact("hears", &extension.events.join(", "));
    }
    if extension.has_schema {
        fact("schema", "it lays something over the schema of messages");
    }
    if extension.commands.is_empty() && extension.state == ExtensionState::Idle {
        fact("commands", "known once it runs; `loggia ext start` starts it");
    }
    lines.join("\n")
}

/// Says what an extension said, where people look.
fn said(entries: &[ExtensionLogEntry], name: &str, terminal: &mut Terminal) -> Result<(), CliError> {
    let paint = terminal.paint_err();
    for entry in entries {
        let (word, style) = level(&entry.level);
        let mark = match entry.level {
            LogLevel::Warning | LogLevel::Error => format!("{} ", paint.text(style, format!("{word}:"))),
            _ => String::new(),
        };
        let name = paint.text(ASIDE, printable(name));
        let line = format!("{name}: {mark}{}\n", printable(&entry.message));
        terminal.err(&line).map_err(CliError::Output)?;
    }
    Ok(())
}

fn level(level: &LogLevel) -> (&str, anstyle::Style) {
    let style = match level {
        LogLevel::Error => ERROR,
        LogLevel::Warning => WARNING,
        _ => anstyle::Style::new(),
    };
    (level.as_str(), style)
}

/// Says something to look at.
fn warn(terminal: &mut Terminal, text: &str) -> Result<(), CliError> {
    let word = terminal.paint_err().text(WARNING, "warning:").into_owned();
    let line = text.lines().map(printable).collect::<Vec<_>>().join("\n  ");
    terminal.err(&format!("{word} {line}\n")).map_err(CliError::Output)
}
