//! `/v1/workspaces`: registered project directories.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loggia_domain::{Workspace, WorkspaceId};
use loggia_engine::EngineError;
use loggia_protocol_agent_server as wire;
use wire::{RegisterWorkspaceParams, WorkspacePage};

use crate::ask::{Asked, Paging, WorkspacePath};
use crate::body::Body;
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::disk::{self, Standing};
use crate::rest::{Answer, Shared, check_name, index};
use crate::to_wire::moment::moment;

/// How many workspaces a page has unless the client says otherwise.
const PAGE: usize = 100;

/// How many it may ask for.
const MAX_PAGE: usize = 1000;

pub(crate) async fn list(State(inner): Shared, Asked(paging): Asked<Paging>) -> Answer<Json<WorkspacePage>> {
    let all = inner.parts.engine.workspaces().await?;
    let begin = match &paging.cursor {
        None => 0,
        Some(cursor) => {
            let unknown = || Problem::bad_request("the cursor is not one of ours");
            let last: WorkspaceId = cursor.parse().map_err(|_| unknown())?;
            all.iter().position(|workspace| workspace.id == last).ok_or_else(unknown)? + 1
        }
    };
    let end = all.len().min(begin + paging.limit.map_or(PAGE, |limit| limit.up_to(MAX_PAGE)));
    let next_cursor = (end < all.len()).then(|| all[end - 1].id.to_string());
    let standings = disk::standings(&inner, all[begin..end].to_vec()).await?;
    let workspaces = standings.into_iter().map(|standing| listed(&inner, standing)).collect();
    Ok(Json(WorkspacePage { workspaces, next_cursor }))
}

pub(crate) async fn register(
    State(inner): Shared,
    Body(params): Body<RegisterWorkspaceParams>,
) -> Answer<(StatusCode, Json<wire::Workspace>)> {
    let path = Path::new(&params.root_path);
    if !path.is_absolute() {
        return Err(Problem::field("/root_path", "must be absolute"));
    }
    if let Some(name) = &params.name {
        check_name("/name", name)?;
    }
    let added = inner.parts.engine.add_workspace(path, params.name).await.map_err(|error| match error {
        EngineError::Root(error) => Problem::field("/root_path", format!("{error}; {}", error.hint())),
        EngineError::OwnDirectory(_) => Problem::field("/root_path", error.to_string()),
        error => error.into(),
    });
    let (workspace, is_new) = added?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(body(&inner, workspace).await?)))
}

pub(crate) async fn one(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::Workspace>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    Ok(Json(body(&inner, workspace).await?))
}

/// A workspace as clients see it.
pub(super) async fn body(inner: &Inner, workspace: Workspace) -> Answer<wire::Workspace> {
    let Standing { workspace, revision, trusted } = disk::standing(inner, workspace).await?;
    Ok(wire_body(inner, &workspace, revision?, trusted))
}

/// The same in a list, where one with a broken policy must not hide the others: it has the revision 0, and whoever
/// asks for its policy is told why.
fn listed(inner: &Inner, standing: Standing) -> wire::Workspace {
    let Standing { workspace, revision, trusted } = standing;
    let revision = revision.unwrap_or_else(|error| {
        tracing::warn!(workspace = %workspace.id, %error, "the policy cannot be read");
        0
    });
    wire_body(inner, &workspace, revision, trusted)
}

fn wire_body(inner: &Inner, workspace: &Workspace, policy_revision: u64, trusted: bool) -> wire::Workspace {
    wire::Workspace {
        workspace_id: wire::WorkspaceId(workspace.id.to_string()),
        name: workspace.name.clone(),
        root_path: workspace.root.to_string_lossy().into_owned(),
        created_at: moment(workspace.created),
        policy_revision,
        index: index::status_of(inner, workspace),
        trusted: Some(trusted),
    }
}
