//! The stream of what belongs to no session.
//!
//! Tells who is on which session, and what extensions want shown to clients that can show it; it greets, keeps the
//! connection alive and says goodbye when the server stops, so that a client knows that the server is there.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::ws::WebSocket;
use futures_util::StreamExt;
use loggia_domain::{Actor, ClientId, Role};
use loggia_engine::dialogs::{Audience, DialogFeed, DialogNews};
use loggia_protocol_agent_server::{
    ClientCapability, ClientHello, ClientMessage, DialogResponse, ErrorBody, WindowClosed,
};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::Identity;
use crate::door::Inner;
use crate::from_wire::{dialog_answer, dialog_named, greeting, message, window_named};
use crate::stream::hello::{Welcome, hello};
use crate::stream::presence::About;
use crate::stream::socket::{End, Incoming, Outgoing, part};
use crate::stream::streams::Held;
use crate::to_wire::{invalid, news, unanswered};

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
        Err(end) = talk(&inner, &identity, &mut incoming, &mut outgoing) => end,
    };
    let end = end.when_stopping(inner.told_to_stop.load(Ordering::Acquire));
    part(incoming, outgoing, end).await;
}

async fn talk(
    inner: &Inner,
    identity: &Identity,
    incoming: &mut Incoming<'_>,
    outgoing: &mut Outgoing<'_>,
) -> Result<Infallible, End> {
    let hello = hello(inner, incoming, outgoing).await?;
    let welcome = Welcome { hello: &hello, last_seq: None, model: None, index: None };
    outgoing.say(&welcome.message(inner)).await?;
    let mut everybody = inner.streams.presence().watch(About::Everybody);
    let mut guest = Guest::new(inner, identity, &hello);
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
            happened = guest.shown() => {
                outgoing.say(&news(&happened)).await?;
                outgoing.flush().await?;
                continue;
            }
        };
        if let Err(error) = guest.heard(inner, message(&text)).await {
            outgoing.complain(error).await?;
        }
    }
}

/// Who is on the other end, and what it is shown.
struct Guest {
    by: Actor,
    /// Nothing if it cannot show any.
    dialogs: Option<DialogFeed>,
}

impl Guest {
    fn new(inner: &Inner, identity: &Identity, hello: &ClientHello) -> Self {
        let client = greeting(hello, identity, ClientId::new()).client;
        let audience = if client.role >= Role::Drive { Audience::Answers } else { Audience::Watches };
        let shows = hello.client_info.capabilities.contains(&ClientCapability::Dialogs);
        let dialogs = shows.then(|| inner.parts.engine.dialogs().listen(audience));
        Self { by: Actor::from(&client), dialogs }
    }

    /// What is to be shown next. Losing the future loses nothing.
    async fn shown(&mut self) -> DialogNews {
        match &mut self.dialogs {
            Some(dialogs) => dialogs.next().await,
            None => std::future::pending().await,
        }
    }

    /// Does what a message says.
    async fn heard(&self, inner: &Inner, message: Result<ClientMessage, ErrorBody>) -> Result<(), ErrorBody> {
        match message? {
            ClientMessage::DialogResponse(response) => self.answer(inner, response).await,
            ClientMessage::WindowClosed(closed) => self.close(inner, &closed),
            _ => {
                let expected = "nothing more but `ui.dialog.response` and `ui.window.closed`: what is about a session \
                                goes to that session's stream";
                Err(invalid("/type", expected))
            }
        }
    }

    async fn answer(&self, inner: &Inner, response: DialogResponse) -> Result<(), ErrorBody> {
        let id = dialog_named(&response)?;
        let engine = &inner.parts.engine;
        let dialog = engine.open_dialog(id).map_err(|error| unanswered(&error))?;
        let answer = dialog_answer(response, &dialog.body)?;
        let answered = engine.answer_dialog(id, answer, self.by.clone()).await;
        answered.map_err(|error| unanswered(&error))
    }

    fn close(&self, inner: &Inner, closed: &WindowClosed) -> Result<(), ErrorBody> {
        let id = window_named(closed)?;
        inner.parts.engine.close_window(id, self.by.clone()).map_err(|error| unanswered(&error))
    }
}
