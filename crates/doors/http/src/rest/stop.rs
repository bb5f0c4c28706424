//! `POST /v1/stop`: ends the daemon, as a signal does. The answer still goes out: listeners drain first.

use axum::extract::State;
use axum::http::StatusCode;

use crate::rest::Shared;

pub(crate) async fn stop(State(inner): Shared) -> StatusCode {
    tracing::info!("a client stops the daemon");
    inner.parts.stop.cancel();
    StatusCode::ACCEPTED
}
