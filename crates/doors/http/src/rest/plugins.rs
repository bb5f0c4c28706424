//! `/v1/plugins`: which there are, whether they may run, and how they come and go.
//!
//! The door knows no host: all of it is asked of the desk it was given. Looking starts no plugin.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use loggia_domain::{PluginAbout, PluginDeskError, PluginKind, PluginStanding, PluginSummary, Workspace};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{InstallPluginParams, PluginList, PluginParams, PluginValidation, ProblemType};

use crate::ask::Asked;
use crate::body::{Body, MaybeBody};
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::{Answer, Shared};

/// How long a source may be, in bytes: longer than any path or address.
const MAX_SOURCE_BYTES: usize = 4096;

/// What to do about a workspace's plugin.
const TRUST_HINT: &str = "its workspace is not trusted; `loggia trust` there shows what would run";

/// Which workspace is meant, in a query; all of the user's if none is named.
#[derive(Debug, Deserialize)]
pub(crate) struct Where {
    workspace_id: Option<String>,
}

/// The name in a path.
type Named = Result<Path<String>, axum::extract::rejection::PathRejection>;

pub(crate) async fn list(State(inner): Shared, Asked(place): Asked<Where>) -> Answer<Json<PluginList>> {
    let workspace = asked_workspace(&inner, place).await?;
    let listing = inner.parts.plugins.list(workspace).await?;
    Ok(Json(PluginList {
        plugins: listing.plugins.into_iter().map(plugin).collect(),
        unknown: listing.unknown,
        problems: listing.problems,
    }))
}

pub(crate) async fn one(
    State(inner): Shared,
    name: Named,
    Asked(place): Asked<Where>,
) -> Answer<Json<wire::Plugin>> {
    let name = named(name)?;
    let workspace = asked_workspace(&inner, place).await?;
    let listing = inner.parts.plugins.list(workspace).await?;
    // Of two, the one that may run.
    let mut found: Vec<PluginSummary> =
        listing.plugins.into_iter().filter(|plugin| plugin.name == name).collect();
    found.sort_by_key(|plugin| {
        matches!(plugin.standing, PluginStanding::Broken(_) | PluginStanding::Untrusted)
    });
    match found.into_iter().next() {
        Some(found) => Ok(Json(plugin(found))),
        None => Err(Problem::not_found("there is no such plugin here; `/v1/plugins` lists what there is")),
    }
}

pub(crate) async fn enable(
    inner: Shared,
    name: Named,
    params: MaybeBody<PluginParams>,
) -> Answer<Json<wire::Plugin>> {
    set_enabled(inner, name, params, true).await
}

pub(crate) async fn disable(
    inner: Shared,
    name: Named,
    params: MaybeBody<PluginParams>,
) -> Answer<Json<wire::Plugin>> {
    set_enabled(inner, name, params, false).await
}

async fn set_enabled(
    State(inner): Shared,
    name: Named,
    MaybeBody(params): MaybeBody<PluginParams>,
    enabled: bool,
) -> Answer<Json<wire::Plugin>> {
    let name = named(name)?;
    let workspace = sent_workspace(&inner, params.workspace_id).await?;
    Ok(Json(plugin(inner.parts.plugins.set_enabled(name, workspace, enabled).await?)))
}

pub(crate) async fn validate(
    State(inner): Shared,
    name: Named,
    MaybeBody(params): MaybeBody<PluginParams>,
) -> Answer<Json<PluginValidation>> {
    let name = named(name)?;
    let workspace = sent_workspace(&inner, params.workspace_id).await?;
    let problem = inner.parts.plugins.validate(name.clone(), workspace).await?;
    Ok(Json(PluginValidation { name, works: problem.is_none(), problem }))
}

pub(crate) async fn install(
    State(inner): Shared,
    Body(params): Body<InstallPluginParams>,
) -> Answer<(StatusCode, Json<wire::Plugin>)> {
    let InstallPluginParams { source, workspace_id } = params;
    if source.is_empty() || source.len() > MAX_SOURCE_BYTES || source.chars().any(char::is_control) {
        return Err(Problem::field("/source", "must be an address or a path, in one line"));
    }
    let workspace = sent_workspace(&inner, workspace_id).await?;
    let installed = inner.parts.plugins.install(source, workspace).await.map_err(|error| match error {
        PluginDeskError::Invalid(detail) => Problem::field("/source", detail),
        error => error.into(),
    });
    Ok((StatusCode::CREATED, Json(plugin(installed?))))
}

pub(crate) async fn remove(
    State(inner): Shared,
    name: Named,
    Asked(place): Asked<Where>,
) -> Answer<StatusCode> {
    let name = named(name)?;
    let workspace = asked_workspace(&inner, place).await?;
    let directory = inner.parts.plugins.remove(name, workspace).await?;
    tracing::info!(directory = %directory.display(), "a plugin was removed");
    Ok(StatusCode::NO_CONTENT)
}

/// A plugin as clients see it.
pub(super) fn plugin(summary: PluginSummary) -> wire::Plugin {
    let PluginSummary { name, kind, of_workspace, enabled, standing, directory, about, warnings } = summary;
    let (state, problem, pid) = match standing {
        PluginStanding::Broken(problem) => (wire::PluginState::Broken, Some(problem), None),
        PluginStanding::Untrusted => (wire::PluginState::Untrusted, Some(TRUST_HINT.to_owned()), None),
        PluginStanding::Disabled => (wire::PluginState::Disabled, None, None),
        PluginStanding::Ready => (wire::PluginState::Ready, None, None),
        PluginStanding::Running(pid) => (wire::PluginState::Running, None, Some(pid)),
        PluginStanding::GivenUp(problem) => (wire::PluginState::GivenUp, Some(problem), None),
    };
    let readable = about.is_some();
    let about = about.unwrap_or_default();
    let PluginAbout {
        description,
        version,
        protocol,
        author,
        homepage,
        command,
        schemes,
        capabilities,
        variables,
    } = about;
    let variable = |variable: loggia_domain::PluginVariable| wire::PluginVariable {
        name: variable.name,
        description: variable.description,
        required: variable.required,
        set: variable.set,
    };
    wire::Plugin {
        name,
        kind: kind.map(|kind| match kind {
            PluginKind::Provider => wire::PluginType::Provider,
            PluginKind::Agent => wire::PluginType::Agent,
            PluginKind::Workflow => wire::PluginType::Workflow,
        }),
        scope: if of_workspace { wire::PluginScope::Project } else { wire::PluginScope::Global },
        enabled,
        state,
        problem,
        pid,
        directory: directory.to_string_lossy().into_owned(),
        description,
        version: readable.then_some(version),
        protocol: readable.then_some(protocol),
        author,
        homepage,
        command,
        schemes,
        capabilities,
        variables: variables.into_iter().map(variable).collect(),
        warnings,
    }
}

impl From<PluginDeskError> for Problem {
    fn from(error: PluginDeskError) -> Self {
        let kind = match &error {
            PluginDeskError::NotFound(_) => ProblemType::NotFound,
            PluginDeskError::Invalid(_) => ProblemType::InvalidBody,
            PluginDeskError::Conflict(_) => ProblemType::Conflict,
            PluginDeskError::Unavailable(_) => ProblemType::Unavailable,
        };
        Self::of(kind, error.to_string())
    }
}

fn named(name: Named) -> Answer<String> {
    let Path(name) = name.map_err(|_| Problem::not_found("there is no such plugin"))?;
    Ok(name)
}

/// The workspace that a query names.
async fn asked_workspace(inner: &Inner, place: Where) -> Answer<Option<Workspace>> {
    let Some(id) = place.workspace_id else { return Ok(None) };
    let id = id.parse().map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))?;
    Ok(Some(inner.parts.engine.workspace(id).await?))
}

/// The workspace that a body names.
async fn sent_workspace(inner: &Inner, id: Option<wire::WorkspaceId>) -> Answer<Option<Workspace>> {
    let Some(id) = id else { return Ok(None) };
    let id = id.0.parse().map_err(|error| Problem::field("/workspace_id", format!("{error}")))?;
    Ok(Some(inner.parts.engine.workspace(id).await?))
}
