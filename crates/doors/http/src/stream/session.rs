//! One client on one session.

use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use axum::extract::ws::WebSocket;
use futures_util::StreamExt;
use loggia_domain::{ClientId, Seq, SessionId};
use loggia_engine::{OnLeave, State};
use tokio::sync::mpsc;

use crate::Identity;
use crate::door::Inner;
use crate::from_wire::{Heard, greeting};
use crate::stream::hearing::Hearing;
use crate::stream::hello::{Welcome, hello};
use crate::stream::presence::About;
use crate::stream::socket::{End, Incoming, Outgoing, part};
use crate::stream::streams::Held;
use crate::stream::telling::{Sources, Telling};
use crate::to_wire::{self, Arrival, Listener, Past, Teller, pending, snapshot};

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
    tracing::debug!(session = %visit.session, %end, "a stream ends");
    let end = end.when_stopping(visit.inner.told_to_stop.load(Ordering::Acquire));
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
    let came = state.last_seq;
    let after = visit.after.unwrap_or(came).min(came);
    // Before anything takes its time: what passes from here on is heard.
    let subscription = seat.subscribe(after);
    let workspace = engine.workspace(state.opened.workspace).await;
    let workspace = workspace.map_err(|error| End::of_engine(&error))?;
    let index = (inner.parts.index)(&workspace);

    let welcome =
        Welcome { hello: &hello, last_seq: Some(came), model: state.model.as_ref(), index: index.as_ref() };
    outgoing.say(&welcome.message(inner)).await?;
    let shown = to_wire::state(&state);
    outgoing.say(&snapshot(shown.clone())).await?;
    for message in pending(&state, &workspace.root) {
        outgoing.say(&message).await?;
    }
    outgoing.flush().await?;
    if state.closed && after == came {
        return Err(End::ENDED);
    }

    let past = past_at(visit, after, &state, &workspace.root).await?;
    let announced = inner.streams.presence().announce(visit.session, &greeting.client);
    let others = inner.streams.presence().watch(About::Others(visit.session, greeting.client.id));
    let heard = Mutex::new(Heard::of(&state));
    let (answer, answers) = mpsc::channel(ANSWERS);
    let arrival = Arrival { after, came, shown: state.pending.keys().copied().collect() };
    drop(state);
    let listener = Listener::new(greeting.client.clone());
    let teller = Teller::new(past, after, listener, greeting.manners, arrival);
    let mut telling =
        Telling::new(Sources { teller, shown, subscription, answers, others }, &seat, &heard, inner);
    let hearing = Hearing::new(&seat, &greeting, workspace.root, index, &heard, inner, answer);
    let end = tokio::select! {
        end = hearing.run(incoming) => end,
        end = telling.run(outgoing) => end,
    };
    drop(announced);
    end
}

/// What the session's events up to one amount to.
async fn past_at(visit: &Visit, after: Seq, state: &State, root: &Path) -> Result<Past, End> {
    let engine = &visit.inner.parts.engine;
    let marks = &visit.inner.marks;
    if after < state.last_seq {
        let past = marks.past(engine, visit.session, root, after).await;
        return past.map_err(|error| End::of_engine(&error));
    }
    let past = Past::of(state, root.to_owned());
    // Whoever comes again finds it there.
    marks.keep(visit.session, after, &past);
    Ok(past)
}
