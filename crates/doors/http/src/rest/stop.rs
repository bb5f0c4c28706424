//! `POST /v1/stop`: ends the daemon, as a signal does, and streams are told that somebody wanted it. The answer still goes
//! out: listeners drain first.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;

use crate::rest::Shared;

pub(crate) async fn stop(State(inner): Shared) -> StatusCode {
    tracing::info!("a client stops the daemon");
    // Before the stop, which whoever reads it waits for.
    inner.told_to_stop.store(true, Ordering::Release);
    inner.parts.stop.cancel();
    StatusCode::ACCEPTED
}
