//! Streams: WebSockets on which clients follow and drive a session, and one for what belongs to no session.
//!
//! Knows how a stream begins, goes on and ends. Refuses to know what messages mean: that is translated beside it.
//!
//! What always holds:
//! - nothing is told before the client has said hello, and one that does not is closed;
//! - a stream begins with the session's state and with everything that waits for an answer, each question under its
//!   own number, then tells the past after the event the client named, then what happens. Nothing is told twice: the
//!   past leaves out the questions that were shown. So numbers rise but for those questions, which are the ones the
//!   first state names, and a stream can be picked up after any other number;
//! - all messages of one event have its number and are told together. A client whose connection is cut between two of
//!   them knows only of the events before that one that it has heard them whole, and resumes after those;
//! - nothing is queued for a client that does not read: it is told from the journal when it reads again, the pieces of
//!   a running reply merged;
//! - what a client says is heard while the index is busy with what it said before: changed files are handed over;
//! - a client's message that cannot be used is answered and the stream goes on, but for a frame that cannot be a
//!   message at all.

mod changes;
mod disk;
mod global;
mod hearing;
mod hello;
mod presence;
mod session;
mod socket;
mod streams;
mod telling;
mod timing;

use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{RawQuery, State, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Router};
use loggia_domain::Seq;
use loggia_protocol_agent_server::{
    MAX_MESSAGE_BYTES, MAX_SOCKETS_PER_TOKEN, ProblemType, STREAM_SUBPROTOCOL,
};

pub(crate) use streams::Streams;
pub use timing::Timing;

use crate::Identity;
use crate::ask::{SessionPath, whole_number};
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
    identity: Option<Extension<Identity>>,
    SessionPath(session): SessionPath,
    RawQuery(query): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let identity = known(identity)?;
    inner.parts.engine.session(session).await?;
    let after = after(query.as_deref().unwrap_or_default())?;
    let (upgrade, held) = accept(&inner, &identity, upgrade)?;
    let visit = Visit { inner, identity, session, after };
    Ok(upgrade.on_upgrade(move |socket| session::run(visit, held, socket)))
}

/// `WS /v1/stream`.
pub(crate) async fn open_global(
    State(inner): State<Arc<Inner>>,
    identity: Option<Extension<Identity>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let identity = known(identity)?;
    let (upgrade, held) = accept(&inner, &identity, upgrade)?;
    Ok(upgrade.on_upgrade(move |socket| global::run(inner, identity, held, socket)))
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

/// Who is asking. Nobody knowing is a fault of how the routes are put together, and nothing is answered then.
fn known(identity: Option<Extension<Identity>>) -> Result<Identity, Problem> {
    let unknown = || Problem::of(ProblemType::Unauthorized, "nobody knows who is asking");
    identity.map(|Extension(identity)| identity).ok_or_else(unknown)
}

/// The event after which to begin, if the client names one.
fn after(query: &str) -> Result<Option<Seq>, Problem> {
    let Some(given) = query.split('&').find_map(|pair| pair.strip_prefix("after=")) else { return Ok(None) };
    let unreadable = || Problem::bad_request("`after` is the number of an event: digits only");
    whole_number(given).map(|seq| Some(Seq(seq))).ok_or_else(unreadable)
}

fn accept(
    inner: &Arc<Inner>,
    identity: &Identity,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<(WebSocketUpgrade, Held), Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::bare(rejection.status(), &rejection.body_text()))?;
    let held = Streams::hold(inner, &identity.proof).ok_or_else(|| {
        let detail = format!("this token holds {MAX_SOCKETS_PER_TOKEN} streams already; close one first");
        // The kind's own title is about wrong tokens.
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
