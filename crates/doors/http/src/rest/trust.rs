//! `…/trust`: whether a workspace's own files may name programs and loosen rules, and what that would mean.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loggia_domain::Workspace;
use loggia_protocol_agent_server as wire;
use wire::{TrustParams, TrustReport, TrustedSetting};

use crate::ask::WorkspacePath;
use crate::body::MaybeBody;
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::disk::{self, Standing};
use crate::rest::{Answer, Shared, blocking, check_name, plugins, workspaces};

/// The longest time for which a run is trusted at once. A client renews it; one that has died does not.
const MAX_RUN_SECONDS: u64 = 3600;

pub(crate) async fn report(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<TrustReport>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let consequences = inner.parts.plugins.consequences(workspace.clone()).await?;
    let Standing { trusted, .. } = disk::standing(&inner, workspace).await?;
    let setting = |one: loggia_domain::TrustedSetting| TrustedSetting { file: one.file, effect: one.effect };
    Ok(Json(TrustReport {
        trusted,
        plugins: consequences.plugins.into_iter().map(plugins::plugin).collect(),
        settings: consequences.settings.into_iter().map(setting).collect(),
        problems: consequences.problems,
    }))
}

pub(crate) async fn give(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    MaybeBody(params): MaybeBody<TrustParams>,
) -> Answer<Json<wire::Workspace>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let lapses = match (params.run, params.for_seconds) {
        (None, None) => {
            let (engine, root) = (inner.parts.engine.clone(), workspace.root.clone());
            blocking(move || engine.set_trusted(&root, true)).await??;
            None
        }
        (Some(run), Some(seconds)) => Some(lend(&inner, &workspace, run, seconds).await?),
        (Some(_), None) => return Err(Problem::field("/for_seconds", "a run needs it")),
        (None, Some(_)) => return Err(Problem::field("/run", "trust for a time is that of a run")),
    };
    inner.parts.plugins.trust_changed(workspace.clone(), lapses).await;
    inner.parts.engine.extensions().trust_changed(workspace.clone()).await;
    Ok(Json(workspaces::body(&inner, workspace).await?))
}

/// Trusts a workspace for a run; how long.
async fn lend(inner: &Inner, workspace: &Workspace, run: String, seconds: u64) -> Answer<Duration> {
    check_name("/run", &run)?;
    if seconds > MAX_RUN_SECONDS {
        return Err(Problem::field("/for_seconds", format!("must be {MAX_RUN_SECONDS} or less")));
    }
    let time = Duration::from_secs(seconds);
    let (engine, root) = (inner.parts.engine.clone(), workspace.root.clone());
    blocking(move || engine.lend_trust(&root, &run, time)).await??;
    Ok(time)
}

pub(crate) async fn take(State(inner): Shared, WorkspacePath(id): WorkspacePath) -> Answer<StatusCode> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let (engine, root) = (inner.parts.engine.clone(), workspace.root.clone());
    blocking(move || engine.set_trusted(&root, false)).await??;
    inner.parts.plugins.trust_changed(workspace.clone(), None).await;
    inner.parts.engine.extensions().trust_changed(workspace).await;
    Ok(StatusCode::NO_CONTENT)
}
