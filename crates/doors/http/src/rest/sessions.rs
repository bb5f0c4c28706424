//! `/v1/sessions`: opening, listing, splitting and removing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use loggia_domain::{
    Actor, Budget, Intent, Preset, Seq, SessionId, SessionQuery, SessionSummary, StoreError, WorkspaceId,
};
use loggia_engine::{EngineError, NewSession, OnLeave};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{CreateSessionParams, ForkSessionParams, ProblemType, Scope, SessionPage};

use crate::ask::{Asked, Limit, SessionPath};
use crate::body::{Body, MaybeBody};
use crate::door::Inner;
use crate::identity::Identity;
use crate::problem::Problem;
use crate::rest::session_body::{default_model, session, stored_session};
use crate::rest::{Answer, Shared, check_name, client, disk, models, policy};

/// How many sessions a page has unless the client says otherwise.
const PAGE: usize = 50;

/// How many it may ask for: the journal of each is read to say how it is.
const MAX_PAGE: usize = 100;

/// Millionths of a dollar in a dollar.
const MICRO: f64 = 1e6;

/// `GET /v1/sessions`.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing {
    workspace_id: Option<String>,
    limit: Option<Limit>,
    cursor: Option<String>,
}

pub(crate) async fn list(State(inner): Shared, Asked(asked): Asked<Listing>) -> Answer<Json<SessionPage>> {
    let workspace = asked.workspace_id.as_deref().map(str::parse::<WorkspaceId>).transpose();
    let workspace = workspace.map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))?;
    let limit = asked.limit.map_or(PAGE, |limit| limit.up_to(MAX_PAGE));
    let page = inner.parts.engine.sessions(SessionQuery { workspace, limit, cursor: asked.cursor }).await?;
    let mut sessions = Vec::with_capacity(page.items.len());
    for summary in page.items {
        match one_of_list(&inner, &summary).await {
            Ok(session) => sessions.push(session),
            // Somebody has just removed it.
            Err(EngineError::Store(StoreError::NoSuchSession(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(SessionPage { sessions, next_cursor: page.next }))
}

/// A session as it is now if it is in memory; else as its journal has it, which is read once.
async fn one_of_list(inner: &Inner, summary: &SessionSummary) -> Result<wire::Session, EngineError> {
    let (id, engine) = (summary.id, &inner.parts.engine);
    if let Some(state) = engine.live(id).await {
        return Ok(session(inner, id, &state));
    }
    let known = match inner.listed.get(id, summary.last_seq) {
        Some(known) => known,
        None => {
            let state = engine.peek(id).await?;
            let read = stored_session(inner, id, &state);
            inner.listed.keep(id, state.last_seq, read.clone());
            read
        }
    };
    // Which model a session uses that has chosen none is not in its journal.
    let model = summary.model.clone().or_else(|| default_model(inner));
    Ok(wire::Session { model: model.as_ref().map(models::session_model), ..known })
}

pub(crate) async fn create(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    Body(params): Body<CreateSessionParams>,
) -> Answer<(StatusCode, Json<wire::Session>)> {
    let workspace = known_workspace(&inner, &params.workspace_id).await?;
    if let Some(title) = &params.title {
        check_name("/title", title)?;
    }
    let model = match &params.model {
        Some(model) => Some(models::usable(&inner, model, "/model").await?),
        None => None,
    };
    let preset = params.policy_preset.map(policy::preset);
    if let Some(preset) = preset {
        check_preset(&inner, &identity, workspace, preset).await?;
    }
    let budget = params.budget.map(budget).transpose()?.unwrap_or_default();
    // Before there is a session that could do nothing.
    inner.parts.engine.try_workspace(workspace).await?;
    let new = NewSession { workspace, title: params.title, model, preset, budget };
    let id = inner.parts.engine.open_session(new, Actor::from(&client(&identity))).await?;
    Ok((StatusCode::CREATED, answer(&inner, id).await?))
}

pub(crate) async fn one(State(inner): Shared, SessionPath(id): SessionPath) -> Answer<Json<wire::Session>> {
    answer(&inner, id).await
}

pub(crate) async fn delete(State(inner): Shared, SessionPath(id): SessionPath) -> Answer<StatusCode> {
    inner.parts.engine.delete_session(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn fork(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
    MaybeBody(params): MaybeBody<ForkSessionParams>,
) -> Answer<(StatusCode, Json<wire::Session>)> {
    if let Some(title) = &params.title {
        check_name("/title", title)?;
    }
    let engine = &inner.parts.engine;
    let at = match params.seq {
        Some(seq) => Seq(seq),
        None => engine.session(id).await?.last_seq,
    };
    let client = client(&identity);
    let forked = engine.fork_session(id, at, Actor::from(&client)).await.map_err(|error| match error {
        EngineError::NoSuchEvent(_) => Problem::field("/seq", error.to_string()),
        error => error.into(),
    })?;
    if let Some(title) = params.title {
        let (seat, _) = engine.join(forked, client, OnLeave::Keep).await?;
        seat.intend(Intent::Rename { title }).await?;
    }
    Ok((StatusCode::CREATED, answer(&inner, forked).await?))
}

/// A session as it is now.
pub(super) async fn answer(inner: &Arc<Inner>, id: SessionId) -> Answer<Json<wire::Session>> {
    Ok(Json(body(inner, id).await?))
}

async fn body(inner: &Inner, id: SessionId) -> Result<wire::Session, EngineError> {
    let engine = &inner.parts.engine;
    match engine.state(id).await {
        Ok(state) => Ok(session(inner, id, &state)),
        Err(error @ (EngineError::Store(_) | EngineError::Stopping)) => Err(error),
        // Its workspace is gone or its policy broken; what was said there can still be read.
        Err(_) => Ok(stored_session(inner, id, &engine.peek(id).await?)),
    }
}

/// The workspace a body names. It is the body that is wrong if there is none.
pub(super) async fn known_workspace(inner: &Inner, id: &wire::WorkspaceId) -> Answer<WorkspaceId> {
    let absent = || Problem::field("/workspace_id", "there is no such workspace");
    let id: WorkspaceId = id.0.parse().map_err(|_| absent())?;
    match inner.parts.engine.workspace(id).await {
        Ok(workspace) => Ok(workspace.id),
        Err(EngineError::Store(StoreError::NoSuchWorkspace(_))) => Err(absent()),
        Err(error) => Err(error.into()),
    }
}

/// Loosening what a workspace allows is for those who may change its policy.
pub(super) async fn check_preset(
    inner: &Inner,
    identity: &Identity,
    workspace: WorkspaceId,
    preset: Preset,
) -> Answer<()> {
    if identity.scope >= Scope::Admin || preset <= disk::policy(inner, workspace).await?.preset {
        return Ok(());
    }
    let detail = "a preset looser than the workspace's needs a token with the scope `admin`";
    Err(Problem::of(ProblemType::Forbidden, detail))
}

pub(super) fn budget(budget: wire::Budget) -> Answer<Budget> {
    if budget.max_steps.is_some() {
        let message = "steps are limited by the workspace's policy, in `limits.max_steps`; leave it out";
        return Err(Problem::field("/budget/max_steps", message));
    }
    let micro_dollars = match budget.max_cost_usd {
        None => None,
        Some(dollars) if dollars.is_finite() && dollars >= 0.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and what is beyond the largest number is as good as no limit"
            )]
            let micro = (dollars * MICRO).round() as u64;
            Some(micro)
        }
        Some(_) => return Err(Problem::field("/budget/max_cost_usd", "must not be negative")),
    };
    Ok(Budget { tokens: budget.max_tokens, micro_dollars })
}
