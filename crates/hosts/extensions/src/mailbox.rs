//! What waits to be told to an extension, and the task that tells it.
//!
//! Invariant: of changes of the message only the last one waits; everything else keeps its order. Commands begin one at a
//! time, when the extension has come to rest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_protocol_hermes::{
    CommandExecute, CommandExecuteParams, CommandId, MessageChanged, MessageChangedParams, MessageOpened,
    MessageOpenedParams, MessageSaved, MessageSavedParams, WindowClosed, WindowClosedParams,
};
use loggia_wire::peer::{NotifyError, Peer};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::guest::Guest;
use crate::limits::Limits;

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mail {
    Opened(MessageOpenedParams),
    Saved(MessageSavedParams),
    Changed(MessageChangedParams),
    WindowClosed(WindowClosedParams),
}

/// What waits.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    filled: Notify,
    limits: Limits,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Mail>,
    commands: VecDeque<Order>,
    closed: bool,
}

/// A command that waits for its turn.
#[derive(Debug)]
struct Order {
    command: CommandId,
    begun: oneshot::Sender<()>,
    done: oneshot::Sender<()>,
}

/// A command that was ordered: each part tells by its end what became of it.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// It was told to the extension.
    pub(crate) begun: oneshot::Receiver<()>,
    /// The extension has come to rest after it.
    pub(crate) done: oneshot::Receiver<()>,
}

/// Why something cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostError {
    /// So much waits already.
    Full,
    /// Nothing is told any more.
    Closed,
}

enum Next {
    Event(Mail),
    Command(Order),
    Nothing,
    End,
}

impl Mailbox {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { state: Mutex::default(), filled: Notify::new(), limits }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something in.
    pub(crate) fn post(&self, mail: Mail) -> Result<(), PostError> {
        let mut state = self.lock();
        if state.closed {
            return Err(PostError::Closed);
        }
        if matches!(mail, Mail::Changed(_)) {
            state.events.retain(|waiting| !matches!(waiting, Mail::Changed(_)));
        }
        if state.events.len() >= self.limits.waiting_events {
            return Err(PostError::Full);
        }
        state.events.push_back(mail);
        drop(state);
        self.filled.notify_waiters();
        Ok(())
    }

    /// Orders a command. Dropping what comes back takes the order back, if it has not begun.
    pub(crate) fn order(&self, command: CommandId) -> Result<Ordered, PostError> {
        let (begun, has_begun) = oneshot::channel();
        let (done, is_done) = oneshot::channel();
        let mut state = self.lock();
        if state.closed {
            return Err(PostError::Closed);
        }
        state.commands.retain(|order| !order.begun.is_closed());
        if state.commands.len() >= self.limits.waiting_commands {
            return Err(PostError::Full);
        }
        state.commands.push_back(Order { command, begun, done });
        drop(state);
        self.filled.notify_waiters();
        Ok(Ordered { begun: has_begun, done: is_done })
    }

    /// Throws away what waits, and takes nothing more.
    pub(crate) fn close(&self) {
        let thrown = {
            let mut state = self.lock();
            state.closed = true;
            (std::mem::take(&mut state.events), std::mem::take(&mut state.commands))
        };
        // Outside the lock: whoever waits for a command is woken by this.
        drop(thrown);
        self.filled.notify_waiters();
    }

    fn filled(&self) -> Notified<'_> {
        self.filled.notified()
    }

    fn next(&self, attentive: bool, resting: bool) -> Next {
        let mut state = self.lock();
        if state.closed {
            return Next::End;
        }
        if attentive && let Some(mail) = state.events.pop_front() {
            return Next::Event(mail);
        }
        // Those that nobody waits for any more were taken back.
        while let Some(order) = state.commands.front() {
            if order.begun.is_closed() {
                state.commands.pop_front();
            } else if resting && let Some(order) = state.commands.pop_front() {
                return Next::Command(order);
            } else {
                break;
            }
        }
        Next::Nothing
    }
}

/// Tells an extension what waits for it, until its mailbox is closed or it cannot be told anything.
pub(crate) async fn run(guest: Arc<Guest>, peer: Peer) {
    let mut running = Running { done: None, frames: 0 };
    loop {
        let (filled, changed) = (guest.mailbox.filled(), guest.traffic.changed());
        let rests_at = running.look(&guest, &peer);
        let resting = running.done.is_none() && guest.traffic.is_idle();
        let told = match guest.mailbox.next(guest.traffic.is_attentive(), resting) {
            Next::Event(mail) => tell(&peer, mail).await,
            Next::Command(order) => {
                let params = CommandExecuteParams { command: order.command };
                guest.traffic.begin();
                let told = peer.notify::<CommandExecute>(&params).await;
                running.done = Some(order.done);
                // Whoever waited may have gone in this moment.
                let _ = order.begun.send(());
                told
            }
            Next::Nothing => {
                tokio::select! {
                    () = filled => {}
                    () = changed => {}
                    () = sleep_until(rests_at) => {}
                }
                Ok(())
            }
            Next::End => return,
        };
        if let Err(error) = told {
            // A connection that ended ends the extension; what cannot be written is our own fault and loses one event.
            match error {
                NotifyError::Closed(_) => return,
                NotifyError::Unsendable(reason) => {
                    tracing::warn!(extension = %guest.name, reason, "an event cannot be told");
                }
            }
        }
    }
}

/// The command that is under way.
struct Running {
    done: Option<oneshot::Sender<()>>,
    /// Frames read so far: also those that were no requests are signs of life.
    frames: u64,
}

impl Running {
    /// Ends the command if its extension has come to rest; otherwise when that could be.
    fn look(&mut self, guest: &Guest, peer: &Peer) -> Option<Instant> {
        let done = self.done.take()?;
        let frames = peer.stats().frames;
        if frames != self.frames {
            self.frames = frames;
            guest.traffic.touch();
        }
        let rests_at = |last: Instant| last + guest.context.limits.quiet;
        // Once nobody waits for it, an extension that only chatters does not hold up the next command.
        let rests_at =
            if done.is_closed() { rests_at(guest.traffic.asked()) } else { rests_at(guest.traffic.heard()) };
        if guest.traffic.is_idle() && Instant::now() >= rests_at {
            let _ = done.send(());
            return None;
        }
        self.done = Some(done);
        guest.traffic.is_idle().then_some(rests_at)
    }
}

/// Waits for a moment, or for ever if there is none.
async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Tells one thing. A message that is too large for a frame is left out of its event.
async fn tell(peer: &Peer, mail: Mail) -> Result<(), NotifyError> {
    match mail {
        Mail::Opened(params) => peer.notify::<MessageOpened>(&params).await,
        Mail::Saved(params) => peer.notify::<MessageSaved>(&params).await,
        Mail::WindowClosed(params) => peer.notify::<WindowClosed>(&params).await,
        Mail::Changed(params) => match peer.notify::<MessageChanged>(&params).await {
            Err(NotifyError::Unsendable(_)) if params.message.is_some() => {
                let bare = MessageChangedParams { message: None, format: None, ..params };
                peer.notify::<MessageChanged>(&bare).await
            }
            told => told,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str) -> Mail {
        Mail::Changed(MessageChangedParams { message: Some(text.to_owned()), ..Default::default() })
    }

    fn saved(path: &str) -> Mail {
        Mail::Saved(MessageSavedParams { file_path: path.to_owned(), save_as: false })
    }

    fn drain(mailbox: &Mailbox) -> Vec<Mail> {
        let mut all = Vec::new();
        while let Next::Event(mail) = mailbox.next(true, true) {
            all.push(mail);
        }
        all
    }

    #[test]
    fn only_the_last_change_waits_and_the_rest_keeps_its_order() {
        let mailbox = Mailbox::new(Limits::default());
        for mail in [changed("1"), saved("a"), changed("2"), saved("b"), changed("3")] {
            mailbox.post(mail).unwrap();
        }
        assert_eq!(drain(&mailbox), [saved("a"), saved("b"), changed("3")]);
    }

    #[test]
    fn what_waits_is_bounded_and_changes_take_one_place() {
        let mailbox = Mailbox::new(Limits { waiting_events: 2, waiting_commands: 1, ..Limits::default() });
        for _ in 0..100 {
            mailbox.post(changed("x")).unwrap();
        }
        mailbox.post(saved("a")).unwrap();
        assert_eq!(mailbox.post(saved("b")), Err(PostError::Full));
        mailbox.post(changed("y")).unwrap();
        let first = mailbox.order(CommandId("a".to_owned())).unwrap();
        assert_eq!(mailbox.order(CommandId("b".to_owned())).err(), Some(PostError::Full));
        drop(first);
        mailbox.order(CommandId("c".to_owned())).unwrap();
        mailbox.close();
        assert_eq!(mailbox.post(saved("c")), Err(PostError::Closed));
        assert!(matches!(mailbox.next(true, true), Next::End));
    }

    #[test]
    fn an_order_that_was_taken_back_never_begins() {
        let mailbox = Mailbox::new(Limits::default());
        drop(mailbox.order(CommandId("a".to_owned())).unwrap());
        let _kept = mailbox.order(CommandId("b".to_owned())).unwrap();
        assert!(matches!(mailbox.next(true, false), Next::Nothing));
        assert!(matches!(mailbox.next(true, true), Next::Command(order) if order.command.0 == "b"));
    }
}
