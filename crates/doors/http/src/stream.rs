//! Streams: WebSockets on which clients follow and drive a session, and one for what belongs to no session.
//!
//! Knows how a stream begins, goes on and ends. Refuses to know what messages mean: that is translated beside it.
//!
//! What always holds:
//! - nothing is told before the client has said hello, and one that does not is closed;
//! - a stream begins with the session's state and with everything that waits for an answer, then tells the past after
//!   the event the client named, then what happens. A question asked after that event comes in its place in the
//!   past, so that numbers only rise and a stream can be picked up after any of them;
//! - all messages of one event have its number and are told together. A client whose connection is cut between two of
//!   them knows only of the events before that one that it has heard them whole, and resumes after those;
//! - nothing is queued for a client that does not read: it is told from the journal when it reads again, the pieces of
//!   a running reply merged;
//! - a client's message that cannot be used is answered and the stream goes on, but for a frame that cannot be a
//!   message at all.

mod disk;
mod global;
mod hearing;
mod hello;
mod session;
mod socket;
mod streams;
mod telling;
mod timing;

use std::sync::Arc;

use axum::extract::rejection::ExtensionRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Path, RawQuery, State, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use loggia_domain::{Seq, SessionId, StoreError};
use loggia_engine::EngineError;
use loggia_protocol_agent_server::{MAX_MESSAGE_BYTES, MAX_SOCKETS_PER_TOKEN, STREAM_SUBPROTOCOL};

pub(crate) use streams::Streams;
pub use timing::Timing;

use crate::Identity;
use crate::ask::whole_number;
use crate::door::Inner;
use crate::problem::Problem;
use crate::stream::session::Visit;
use crate::stream::streams::Held;

/// What is read of a message that is too large: so much of it is taken in that its sender gets to see why the stream
/// is closed, instead of a broken connection.
const MOST_READ: usize = 2 * MAX_MESSAGE_BYTES;

/// What a socket reads at a time. Messages are small and sockets many.
const READ_BUFFER: usize = 4 * 1024;

/// How much is gathered before it is written, when there is much to tell at once.
const WRITE_BUFFER: usize = 16 * 1024;

/// The streams' routes.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    use axum::routing::any;
    Router::new().route("/v1/sessions/{session_id}/stream", any(open)).route("/v1/stream", any(open_global))
}

/// `WS /v1/sessions/{session_id}/stream?after=`.
pub(crate) async fn open(
    State(inner): State<Arc<Inner>>,
    identity: Result<Extension<Identity>, ExtensionRejection>,
    Path(session): Path<String>,
    RawQuery(query): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let identity = match identity {
        Ok(Extension(identity)) => identity,
        Err(_) => return unknown_asker().into_response(),
    };
    let opened = async {
        let session = find(&inner, &session).await?;
        let after = after(query.as_deref().unwrap_or_default())?;
        let (upgrade, held) = accept(&inner, &identity, upgrade)?;
        Ok::<_, Problem>((Visit { inner, identity, session, after }, upgrade, held))
    };
    match opened.await {
        Ok((visit, upgrade, held)) => upgrade.on_upgrade(move |socket| session::run(visit, held, socket)),
        Err(problem) => problem.into_response(),
    }
}

/// `WS /v1/stream`.
pub(crate) async fn open_global(
    State(inner): State<Arc<Inner>>,
    identity: Result<Extension<Identity>, ExtensionRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(Extension(identity)) = identity else { return unknown_asker().into_response() };
    match accept(&inner, &identity, upgrade) {
        Ok((upgrade, held)) => upgrade.on_upgrade(move |socket| global::run(inner, identity, held, socket)),
        Err(problem) => problem.into_response(),
    }
}

impl crate::Door {
    /// Sets the streams' times. Only before the first stream is opened; later, and a second time, it does nothing.
    pub fn set_stream_timing(&self, timing: Timing) {
        self.0.streams.set_timing(timing);
    }

    /// Waits until every stream has ended. None is ended by this: that is what the stop token is for.
    pub async fn streams_ended(&self) {
        self.0.streams.ended().await;
    }
}

async fn find(inner: &Inner, id: &str) -> Result<SessionId, Problem> {
    let shown: String = id.chars().take(64).collect();
    let unknown = || {
        Problem::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "Not found",
            format!("there is no session `{shown}`"),
        )
    };
    let session: SessionId = id.parse().map_err(|_| unknown())?;
    match inner.parts.engine.session(session).await {
        Ok(_) => Ok(session),
        Err(EngineError::Store(StoreError::NoSuchSession(_))) => Err(unknown()),
        Err(error) => {
            tracing::error!(%session, %error, "a session cannot be looked up");
            let (status, title) = (StatusCode::SERVICE_UNAVAILABLE, "Not available now");
            Err(Problem::new(status, "unavailable", title, "the store does not answer".to_owned()))
        }
    }
}

/// The event after which to begin, if the client names one.
fn after(query: &str) -> Result<Option<Seq>, Problem> {
    let Some(given) = query.split('&').find_map(|pair| pair.strip_prefix("after=")) else { return Ok(None) };
    whole_number(given).map(|seq| Some(Seq(seq))).ok_or_else(|| {
        let detail = "`after` is the number of an event: digits only".to_owned();
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be read", detail)
    })
}

fn accept(
    inner: &Arc<Inner>,
    identity: &Identity,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<(WebSocketUpgrade, Held), Problem> {
    let upgrade = upgrade.map_err(|rejection| {
        let title = "A WebSocket is needed";
        Problem::new(rejection.status(), "bad-request", title, rejection.body_text())
    })?;
    let held = Streams::hold(inner, &identity.proof).ok_or_else(|| {
        let detail = format!("this token holds {MAX_SOCKETS_PER_TOKEN} streams already; close one first");
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", "Too many streams", detail)
    })?;
    let upgrade = upgrade
        .protocols([STREAM_SUBPROTOCOL])
        .max_message_size(MOST_READ)
        .max_frame_size(MOST_READ)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER);
    Ok((upgrade, held))
}

/// Nobody has found out who asks: a fault of how the routes are put together, so nothing is answered.
fn unknown_asker() -> Problem {
    let detail = "nobody knows who is asking".to_owned();
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "A valid token is needed", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_to_begin_is_digits_and_nothing_else() {
        for (query, expected) in [
            ("", Some(None)),
            ("x=1", Some(None)),
            ("after=0", Some(Some(Seq(0)))),
            ("x=1&after=12", Some(Some(Seq(12)))),
            ("after=", None),
            ("after=-1", None),
            ("after=1.5", None),
            ("after=99999999999999999999", None),
        ] {
            assert_eq!(after(query).ok(), expected, "{query}");
        }
    }
}
