//! Following every session that is in memory, and saying on the consoles what happens there.
//!
//! One task for each session, so that what is said of it stays in order; it keeps nothing in memory and goes when the
//! session does.

use std::sync::Arc;

use loggia_domain::{EventBody, Seq, SessionId, Timestamp};
use loggia_endermux_io::server::Presence;
use loggia_engine::dialogs::{Audience, DialogFeed, DialogNews};
use loggia_engine::{FeedClosed, Subscription, Told};

use crate::dialog;
use crate::door::Inner;
use crate::log::{Level, stamped};
use crate::question;
use crate::tell::{Said, Teller};

/// Follows sessions as they come, until the engine has gone.
pub(crate) async fn sessions(door: Arc<Inner>) {
    let mut arrivals = door.parts.engine.arrivals();
    while let Some((session, after, subscription)) = arrivals.next().await {
        door.spawn(watch(Arc::clone(&door), session, after, subscription));
    }
}

/// Tells what the daemon logs.
pub(crate) async fn log(door: Arc<Inner>) {
    loop {
        let entry = door.parts.journal.next().await;
        door.console().broadcast(entry);
    }
}

/// Forgets those who have gone.
pub(crate) async fn presence(door: Arc<Inner>) {
    let mut there = door.console().presence();
    while there.changed().await.is_ok() {
        let now = there.borrow_and_update().clone();
        door.guests.keep(&now);
    }
}

/// Tells what extensions ask and show, while a terminal is there that hears it.
pub(crate) async fn dialogs(door: Arc<Inner>) {
    let mut there = door.console().presence();
    let mut feed: Option<DialogFeed> = None;
    loop {
        let audience = audience(&there.borrow_and_update());
        if audience != feed.as_ref().map(DialogFeed::audience) {
            feed = audience.map(|audience| match feed.take() {
                Some(feed) => feed.turned(audience),
                None => door.parts.engine.dialogs().listen(audience),
            });
        }
        tokio::select! {
            changed = there.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            happened = next(&mut feed) => {
                let text = dialog::news(&happened);
                door.console().broadcast(stamped(Timestamp::now(), Level::INFO, text));
            }
        }
    }
}

/// What those who hear of dialogs can do: answer, if one of them may give commands.
fn audience(there: &[Presence]) -> Option<Audience> {
    let mut hearing = there.iter().filter(|presence| presence.subscribed).peekable();
    hearing.peek()?;
    Some(if hearing.any(|presence| presence.commands) { Audience::Answers } else { Audience::Watches })
}

async fn next(feed: &mut Option<DialogFeed>) -> DialogNews {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

async fn watch(door: Arc<Inner>, session: SessionId, after: Seq, mut subscription: Subscription) {
    let mut teller = Teller::new(session, door.parts.engine.mask());
    if let Some(state) = door.parts.engine.live(session).await {
        teller.take_up(&state);
        for (approval, pending) in state.pending.iter().filter(|(_, pending)| pending.seq <= after) {
            door.board.asked(*approval, session, question::listed(*approval, &pending.question));
            door.say(session, teller.question(pending.at, *approval, &pending.question, pending.risk));
        }
    }
    let closed = loop {
        let told = match subscription.next().await {
            Ok(told) => told,
            Err(closed) => break closed,
        };
        if let Told::Event(event) = &told {
            note(&door, session, &event.body);
        }
        for said in teller.tell(&told) {
            door.say(session, said);
        }
        if let Told::Event(event) = &told
            && matches!(event.body, EventBody::TurnEnded { .. })
            && let Some(turn) = event.turn
        {
            for (_, place) in door.guests.on(session) {
                place.logged(turn);
            }
        }
    };
    door.board.settled(session);
    if closed == FeedClosed::Deleted {
        door.guests.leave(session);
        door.say(session, teller.deleted());
    }
}

/// Keeps the list of questions; before they are told, so that whoever hears of one can answer it.
fn note(door: &Inner, session: SessionId, body: &EventBody) {
    match body {
        EventBody::ApprovalAsked { approval, question, .. } => {
            door.board.asked(*approval, session, question::listed(*approval, question));
        }
        EventBody::ApprovalDecided { approval, .. } => door.board.decided(*approval),
        EventBody::TurnEnded { .. } => door.board.settled(session),
        _ => {}
    }
}

impl Inner {
    /// Says something about a session to those it is for.
    fn say(&self, session: SessionId, said: Said) {
        match said {
            Said::Line(at, level, text) => {
                if self.parts.journal.wants(level) {
                    self.console().broadcast(stamped(at, level, text));
                }
            }
            Said::Question(at, text) => self.console().broadcast(stamped(at, Level::INFO, text)),
            Said::Reply(text) => {
                for (terminal, place) in self.guests.on(session) {
                    // Its own command gives it the reply.
                    if !place.is_followed() {
                        self.console().send_to(terminal, &text);
                    }
                }
            }
            Said::Output(text) => {
                for (terminal, _) in self.guests.on(session) {
                    self.console().send_to(terminal, &text);
                }
            }
        }
    }
}
