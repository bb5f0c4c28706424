//! One client on one session.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::extract::ws::WebSocket;
use futures_util::StreamExt;
use loggia_domain::{ClientId, Seq, SessionId};
use loggia_engine::OnLeave;
use tokio::sync::mpsc;

use crate::Identity;
use crate::door::Inner;
use crate::from_wire::{Heard, greeting};
use crate::stream::hearing::Hearing;
use crate::stream::hello::{hello, server_hello};
use crate::stream::socket::{End, Incoming, Outgoing, part};
use crate::stream::streams::Held;
use crate::stream::telling::Telling;
use crate::to_wire::{self, Listener, Past, Teller, pending, snapshot};

/// How many answers to a client's messages may wait to be written. One that sends more without reading is not read.
const ANSWERS: usize = 16;

/// A client that wants to be on a session.
pub(super) struct Visit {
    pub(super) inner: Arc<Inner>,
    pub(super) identity: Identity,
    pub(super) session: SessionId,
    pub(super) after: Option<Seq>,
}

/// Serves a stream to its end.
pub(super) async fn run(visit: Visit, _held: Held, socket: WebSocket) {
    let timing = visit.inner.streams.timing();
    let (frames_out, frames_in) = socket.split();
    let mut incoming = Incoming::new(frames_in, timing, &visit.inner.metrics);
    let mut outgoing = Outgoing::new(frames_out, timing, &visit.inner.metrics);
    let gone = visit.inner.auth.until_gone(&visit.identity.proof);
    let end = tokio::select! {
        biased;
        () = gone => End::REVOKED,
        Err(end) = talk(&visit, &mut incoming, &mut outgoing) => end,
    };
    tracing::debug!(session = %visit.session, ?end, "a stream ends");
    part(incoming, outgoing, end).await;
}

async fn talk(
    visit: &Visit,
    incoming: &mut Incoming<'_>,
    outgoing: &mut Outgoing<'_>,
) -> Result<Infallible, End> {
    let inner = &visit.inner;
    let engine = &inner.parts.engine;
    let hello = hello(inner, incoming, outgoing).await?;
    let greeting = greeting(&hello, &visit.identity, ClientId::new());
    let joined = engine.join(visit.session, greeting.client.clone(), OnLeave::Keep).await;
    let (seat, state) = joined.map_err(|error| End::of_engine(&error))?;
    let workspace = engine.workspace(state.opened.workspace).await;
    let workspace = workspace.map_err(|error| End::of_engine(&error))?;
    let index = (inner.parts.index)(&workspace);

    let came = state.last_seq;
    let after = visit.after.unwrap_or(came).min(came);
    outgoing.say(&server_hello(inner, state.model.as_ref(), index.as_ref())).await?;
    outgoing.say(&snapshot(to_wire::state(&state))).await?;
    for message in pending(&state, after, &workspace.root) {
        outgoing.say(&message).await?;
    }
    outgoing.flush().await?;
    if state.closed && after == came {
        return Err(End::ENDED);
    }

    // What an event is on the wire depends on those before it: one who resumes in the past is told from there, but the
    // journal is read from its beginning.
    let (past, from) = match after == came {
        true => (Past::of(&state, workspace.root.clone()), came),
        false => (Past::new(workspace.root.clone()), Seq(0)),
    };
    let heard = Mutex::new(Heard::of(&state));
    let (answer, answers) = mpsc::channel(ANSWERS);
    let there = seat.clients().await.map_err(|_| End::STOPPING)?;
    let listener = Listener::new(&greeting.client, &there);
    let teller = Teller::new(past, listener, greeting.manners, after, came);
    let mut telling = Telling::new(teller, seat.subscribe(from), answers, &heard, inner);
    drop(state);
    let hearing = Hearing::new(&seat, &greeting, workspace.root, index, &heard, inner, answer);
    tokio::select! {
        end = hearing.run(incoming) => end,
        end = telling.run(outgoing) => end,
    }
}
