//! Which handler answers what.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use loggia_protocol_agent_server::{CheckState, Health, HealthChecks, HealthStatus};

use crate::door::Inner;
use crate::{Door, Peer};

impl Door {
    /// Everything the door answers, for any kind of connection. Requests carry a [`Peer`](crate::Peer) as an
    /// extension.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/v1/health", get(health))
            .route("/v1/stop", post(stop))
            .route("/v1/pair", post(|_: axum::body::Bytes| async { StatusCode::NOT_FOUND }))
            .with_state(Arc::clone(&self.0))
    }
}

async fn health(State(inner): State<Arc<Inner>>) -> Json<Health> {
    let model = match inner.parts.models.find(None) {
        Ok(_) => CheckState::Ok,
        Err(_) => CheckState::Absent,
    };
    Json(Health {
        status: HealthStatus::Ok,
        version: inner.settings.version.clone(),
        uptime_ms: u64::try_from(inner.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        checks: HealthChecks { store: CheckState::Ok, index: CheckState::Absent, model },
    })
}

async fn stop(State(inner): State<Arc<Inner>>, Extension(peer): Extension<Peer>) -> StatusCode {
    if peer != Peer::SameUser {
        return StatusCode::UNAUTHORIZED;
    }
    inner.parts.stop.cancel();
    StatusCode::ACCEPTED
}
