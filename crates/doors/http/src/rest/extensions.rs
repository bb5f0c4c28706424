//! `/v1/extensions`: which a workspace has, how they are, and their commands.
//!
//! The door knows no host: all of it is asked of the desk that the engine has. Looking starts none of them.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use loggia_domain::{
    CommandDone, ExtensionDeskError, ExtensionLogEntry, ExtensionLogLevel, ExtensionState, ExtensionSummary,
    GuestCommand, Workspace,
};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{ExtensionList, ExtensionLog, ExtensionParams, ExtensionRun, ProblemType, RunExtensionParams};

use crate::ask::Asked;
use crate::body::Body;
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::sessions::known_workspace;
use crate::rest::{Answer, Shared};
use crate::to_wire::moment::moment;

/// How long a command is waited for at most. Unless its asker says anything, whoever has the extensions decides.
const MAX_RUN_LIMIT: Duration = Duration::from_secs(60 * 60);

/// How long a command's id may be, in bytes.
const MAX_COMMAND_BYTES: usize = 1 << 10;

/// What to do about a workspace's extension.
const TRUST_HINT: &str = "its workspace is not trusted; `loggia trust` there shows what would run";

/// Which workspace is meant, in a query.
#[derive(Debug, Deserialize)]
pub(crate) struct Where {
    workspace_id: String,
}

/// The name in a path.
type Named = Result<Path<String>, axum::extract::rejection::PathRejection>;

pub(crate) async fn list(State(inner): Shared, Asked(place): Asked<Where>) -> Answer<Json<ExtensionList>> {
    let workspace = asked_workspace(&inner, place).await?;
    let listing = inner.parts.engine.extensions().list(workspace).await?;
    Ok(Json(listed(listing)))
}

pub(crate) async fn one(
    State(inner): Shared,
    name: Named,
    Asked(place): Asked<Where>,
) -> Answer<Json<wire::Extension>> {
    let name = named(name)?;
    let workspace = asked_workspace(&inner, place).await?;
    let listing = inner.parts.engine.extensions().list(workspace).await?;
    let found = listing.extensions.into_iter().find(|extension| extension.name == name);
    match found {
        Some(found) => Ok(Json(extension(found))),
        None => Err(unknown()),
    }
}

pub(crate) async fn logs(
    State(inner): Shared,
    name: Named,
    Asked(place): Asked<Where>,
) -> Answer<Json<ExtensionLog>> {
    let name = named(name)?;
    let workspace = asked_workspace(&inner, place).await?;
    let entries = inner.parts.engine.extensions().logs(workspace, name).await?;
    Ok(Json(ExtensionLog { entries: entries.into_iter().map(entry).collect() }))
}

pub(crate) async fn start(
    State(inner): Shared,
    Body(params): Body<ExtensionParams>,
) -> Answer<Json<ExtensionList>> {
    let workspace = sent_workspace(&inner, &params.workspace_id).await?;
    let listing = inner.parts.engine.extensions().start_all(workspace).await?;
    Ok(Json(listed(listing)))
}

pub(crate) async fn restart(
    State(inner): Shared,
    name: Named,
    Body(params): Body<ExtensionParams>,
) -> Answer<Json<wire::Extension>> {
    let name = named(name)?;
    let workspace = sent_workspace(&inner, &params.workspace_id).await?;
    Ok(Json(extension(inner.parts.engine.extensions().restart(workspace, name).await?)))
}

pub(crate) async fn stop(
    State(inner): Shared,
    name: Named,
    Body(params): Body<ExtensionParams>,
) -> Answer<Json<wire::Extension>> {
    let name = named(name)?;
    let workspace = sent_workspace(&inner, &params.workspace_id).await?;
    Ok(Json(extension(inner.parts.engine.extensions().stop(workspace, name).await?)))
}

pub(crate) async fn run(
    State(inner): Shared,
    name: Named,
    Body(params): Body<RunExtensionParams>,
) -> Answer<Json<ExtensionRun>> {
    let name = named(name)?;
    let RunExtensionParams { workspace_id, command, timeout_s } = params;
    if command.trim().is_empty() || command.len() > MAX_COMMAND_BYTES {
        let message = format!("must be a command's id of at most {MAX_COMMAND_BYTES} bytes");
        return Err(Problem::field("/command", message));
    }
    if timeout_s == Some(0) {
        return Err(Problem::field("/timeout_s", "must be at least 1"));
    }
    let limit = timeout_s.map(|seconds| Duration::from_secs(seconds).min(MAX_RUN_LIMIT));
    let workspace = sent_workspace(&inner, &workspace_id).await?;
    let commands = inner.parts.engine.extensions().commands(workspace).await?;
    Ok(Json(ran(commands.execute(command, Some(name), limit).await?)))
}

fn listed(listing: loggia_domain::ExtensionListing) -> ExtensionList {
    ExtensionList {
        extensions: listing.extensions.into_iter().map(extension).collect(),
        problems: listing.problems,
    }
}

/// An extension as clients see it.
fn extension(summary: ExtensionSummary) -> wire::Extension {
    let (state, problem) = match summary.state {
        ExtensionState::Disabled => (wire::ExtensionState::Disabled, None),
        ExtensionState::Untrusted => (wire::ExtensionState::Untrusted, Some(TRUST_HINT.to_owned())),
        ExtensionState::Idle => (wire::ExtensionState::Idle, None),
        ExtensionState::Starting => (wire::ExtensionState::Starting, None),
        ExtensionState::Initializing => (wire::ExtensionState::Initializing, None),
        ExtensionState::Running => (wire::ExtensionState::Running, None),
        ExtensionState::ShuttingDown => (wire::ExtensionState::ShuttingDown, None),
        ExtensionState::Stopped => (wire::ExtensionState::Stopped, None),
        ExtensionState::Failed(why) => (wire::ExtensionState::Failed, Some(why)),
    };
    let about = |about: loggia_domain::ExtensionAbout| wire::ExtensionAbout {
        name: about.name,
        version: about.version,
        description: about.description,
        authors: about.authors,
        homepage: about.homepage,
    };
    wire::Extension {
        name: summary.name,
        command_line: summary.command,
        scope: match summary.of_workspace {
            true => wire::ExtensionScope::Project,
            false => wire::ExtensionScope::Global,
        },
        state,
        problem,
        pid: summary.process,
        about: summary.about.map(about),
        commands: summary.commands.into_iter().map(command).collect(),
        events: summary.events,
        has_schema: summary.has_schema,
    }
}

fn command(command: GuestCommand) -> wire::ExtensionCommand {
    let button = |button: loggia_domain::GuestButton| wire::ExtensionButton {
        id: button.id,
        icon: button.icon,
        group: button.group,
    };
    wire::ExtensionCommand { id: command.id, title: command.title, button: command.button.map(button) }
}

fn ran(done: CommandDone) -> ExtensionRun {
    ExtensionRun {
        extension: done.extension,
        still_busy: done.still_busy,
        said: done.said.into_iter().map(entry).collect(),
    }
}

fn entry(entry: ExtensionLogEntry) -> wire::ExtensionLogEntry {
    wire::ExtensionLogEntry {
        at: moment(entry.at),
        level: match entry.level {
            ExtensionLogLevel::Info => wire::LogLevel::Info,
            ExtensionLogLevel::Warning => wire::LogLevel::Warning,
            ExtensionLogLevel::Error => wire::LogLevel::Error,
        },
        message: entry.text,
    }
}

impl From<ExtensionDeskError> for Problem {
    fn from(error: ExtensionDeskError) -> Self {
        let (kind, hint) = match &error {
            ExtensionDeskError::NotFound(_) => {
                (ProblemType::NotFound, Some("`GET /v1/extensions` lists what there is"))
            }
            ExtensionDeskError::NotAllowed(_) => {
                (ProblemType::Conflict, Some("it is disabled, or its workspace is not trusted"))
            }
            ExtensionDeskError::Failed(_) => {
                (ProblemType::Unavailable, Some("`GET /v1/extensions/{extension}/logs` may say why"))
            }
        };
        Self::of(kind, error.to_string()).hint(hint.map(str::to_owned))
    }
}

fn unknown() -> Problem {
    Problem::not_found("there is no such extension here")
        .hint(Some("`GET /v1/extensions` lists what there is".to_owned()))
}

fn named(name: Named) -> Answer<String> {
    let Path(name) = name.map_err(|_| unknown())?;
    Ok(name)
}

/// The workspace that a query names.
async fn asked_workspace(inner: &Inner, place: Where) -> Answer<Workspace> {
    let id = place.workspace_id.parse();
    let id = id.map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))?;
    Ok(inner.parts.engine.workspace(id).await?)
}

/// The workspace that a body names.
async fn sent_workspace(inner: &Inner, id: &wire::WorkspaceId) -> Answer<Workspace> {
    let id = known_workspace(inner, id).await?;
    Ok(inner.parts.engine.workspace(id).await?)
}
