//! `GET /v1/health`: whether the server works. It needs no token, so it tells no paths and no secrets.

use axum::Json;
use axum::extract::State;
use loggia_domain::{IndexState, ModelErrorKind, Workspace};
use loggia_protocol_agent_server::{CONTROL_VERSION, CheckState, Health, HealthChecks, HealthStatus};

use crate::door::Inner;
use crate::rest::Shared;

pub(crate) async fn health(State(inner): Shared) -> Json<Health> {
    let workspaces = inner.parts.engine.workspaces().await;
    let store = if workspaces.is_ok() { CheckState::Ok } else { CheckState::Failed };
    let index = index(&inner, workspaces.as_deref().unwrap_or_default());
    let checks = HealthChecks { store, index, model: model(&inner) };
    let works = |state: &CheckState| matches!(state, CheckState::Ok | CheckState::Absent);
    let all = works(&checks.store) && works(&checks.index) && works(&checks.model);
    Json(Health {
        status: if all { HealthStatus::Ok } else { HealthStatus::Degraded },
        version: inner.settings.version.clone(),
        uptime_ms: u64::try_from(inner.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        control: CONTROL_VERSION,
        checks,
    })
}

/// How the default model is.
pub(super) fn model(inner: &Inner) -> CheckState {
    let chosen = inner.parts.engine.default_model();
    match inner.parts.models.find(chosen.as_ref()) {
        // A search answers, and is no model.
        Ok(model) if model.info().name.is_none() => CheckState::Absent,
        Ok(_) if chosen.is_none() && default_problem(inner).is_some() => CheckState::Failed,
        Ok(_) => CheckState::Ok,
        Err(error) => match error.kind {
            ModelErrorKind::NotConfigured if chosen.is_none() => CheckState::Absent,
            ModelErrorKind::Transient { .. } => CheckState::Degraded,
            _ => CheckState::Failed,
        },
    }
}

/// What keeps the model that nobody chose from replying, if anything is known: its key may be missing. A default is there
/// without one; whoever names it is told.
pub(super) fn default_problem(inner: &Inner) -> Option<String> {
    let name = inner.parts.models.find(None).ok()?.info().name;
    if name.is_none() {
        return None;
    }
    inner.parts.models.find(Some(&name)).err().map(|error| error.message)
}

/// How the worst of the indexes is.
pub(super) fn index(inner: &Inner, workspaces: &[Workspace]) -> CheckState {
    let states = workspaces
        .iter()
        .filter_map(|workspace| (inner.parts.index)(workspace))
        .map(|index| index.status().state);
    let worst = states.map(|state| match state {
        IndexState::Failed => 2,
        IndexState::Stale | IndexState::Building => 1,
        IndexState::Empty | IndexState::Ready => 0,
    });
    match worst.max() {
        None => CheckState::Absent,
        Some(0) => CheckState::Ok,
        Some(1) => CheckState::Degraded,
        Some(_) => CheckState::Failed,
    }
}
