//! The stream of what belongs to no session.
//!
//! Tells who is on which session; it greets, keeps the connection alive and says goodbye when the server stops, so
//! that a client knows that the server is there.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::ws::WebSocket;
use futures_util::StreamExt;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::Identity;
use crate::door::Inner;
use crate::from_wire::message;
use crate::stream::hello::{Welcome, hello};
use crate::stream::presence::About;
use crate::stream::socket::{End, Incoming, Outgoing, part};
use crate::stream::streams::Held;
use crate::to_wire::invalid;

/// Serves a stream to its end.
pub(super) async fn run(inner: Arc<Inner>, identity: Identity, _held: Held, socket: WebSocket) {
    let timing = inner.streams.timing();
    let (frames_out, frames_in) = socket.split();
    let mut incoming = Incoming::new(frames_in, timing, &inner.metrics);
    let mut outgoing = Outgoing::new(frames_out, timing, &inner.metrics);
    let gone = inner.auth.until_gone(&identity.proof);
    let end = tokio::select! {
        biased;
        () = gone => End::REVOKED,
        Err(end) = talk(&inner, &mut incoming, &mut outgoing) => end,
    };
    let end = end.when_stopping(inner.told_to_stop.load(Ordering::Acquire));
    part(incoming, outgoing, end).await;
}

async fn talk(
    inner: &Inner,
    incoming: &mut Incoming<'_>,
    outgoing: &mut Outgoing<'_>,
) -> Result<Infallible, End> {
    let hello = hello(inner, incoming, outgoing).await?;
    let welcome = Welcome { hello: &hello, last_seq: None, model: None, index: None };
    outgoing.say(&welcome.message(inner)).await?;
    let mut everybody = inner.streams.presence().watch(About::Everybody);
    outgoing.flush().await?;
    let ping = inner.streams.timing().ping;
    let mut pings = interval_at(Instant::now() + ping, ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let text = tokio::select! {
            biased;
            () = inner.parts.stop.cancelled() => return Err(End::STOPPING),
            text = incoming.next() => text?,
            _ = pings.tick() => {
                outgoing.ping().await?;
                outgoing.flush().await?;
                continue;
            }
            text = everybody.next() => {
                outgoing.write(text).await?;
                outgoing.flush().await?;
                continue;
            }
        };
        let error = match message(&text) {
            Ok(_) => invalid("/type", "nothing more: what is about a session goes to that session's stream"),
            Err(error) => error,
        };
        outgoing.complain(error).await?;
    }
}
