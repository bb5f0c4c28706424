//! Who is there, what they hear, and whether commands can be given: the part of a server that others hold on to.
//!
//! Invariants: nothing here waits for a client; a client that joins hears the state as it is at that moment and every
//! change after it, none twice; log text is rendered outside the lock, so that rendering may log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_protocol_endermux::{Capability, Envelope, InteractivityStatus, Message, Selected};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::host::{ClientId, Presence};
use super::log::{self, Log, Look, Looks, Renderings};
use super::outbox::Outbox;
use crate::extras;
use crate::limits::{BACKLOG_BYTES, BACKLOG_EVENTS};

/// A handle on a running server; cheap to clone.
#[derive(Clone)]
pub struct Console {
    state: Arc<Mutex<State>>,
    present: watch::Sender<Vec<Presence>>,
}

struct State {
    interactive: bool,
    next_id: u64,
    clients: BTreeMap<ClientId, Member>,
    backlog: Backlog,
}

struct Member {
    presence: Presence,
    outbox: Arc<Outbox>,
    look: Look,
    has_status: bool,
    /// Ends the connection.
    leave: CancellationToken,
}

#[derive(Default)]
struct Backlog {
    events: VecDeque<Arc<dyn Log>>,
    bytes: usize,
}

/// A client's place in the console; it is given up when this is dropped.
pub(crate) struct Seat {
    console: Console,
    pub(crate) id: ClientId,
    pub(crate) leave: CancellationToken,
}

impl Console {
    pub(crate) fn new() -> Self {
        let state =
            State { interactive: false, next_id: 1, clients: BTreeMap::new(), backlog: Backlog::default() };
        Self { state: Arc::new(Mutex::new(state)), present: watch::Sender::new(Vec::new()) }
    }

    /// Forwards an event to everybody who subscribed, and keeps it for those who will. Never waits for anybody.
    pub fn broadcast(&self, log: impl Log + 'static) {
        let log: Arc<dyn Log> = Arc::new(log);
        let mut made = Renderings::default();
        // Somebody with another look may subscribe while one is rendered: then it takes another turn.
        while let Err(missing) = self.lock().deliver(&log, &made) {
            made.add(&*log, missing);
        }
    }

    /// Forwards an event to one client, if it is there and has subscribed.
    pub fn send_to(&self, client: ClientId, log: &dyn Log) -> bool {
        let member = |state: &State| {
            let member = state.clients.get(&client).filter(|member| member.presence.subscribed)?;
            Some((member.look, Arc::clone(&member.outbox)))
        };
        let Some(((level, framing), outbox)) = member(&self.lock()) else { return false };
        outbox.log(&log::frames(&log.text(level), framing, None));
        true
    }

    /// Opens or closes the console for commands, and tells everybody if that is a change.
    pub fn set_interactive(&self, interactive: bool) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.interactive, interactive) == interactive {
            return;
        }
        for member in state.clients.values().filter(|member| member.has_status) {
            member.outbox.status(&status(interactive));
        }
    }

    /// Whether commands can be given.
    pub fn is_interactive(&self) -> bool {
        self.lock().interactive
    }

    /// Who is there, in the order they came.
    pub fn clients(&self) -> Vec<Presence> {
        self.present.borrow().clone()
    }

    /// Who is there, for those who wait for a change.
    pub fn presence(&self) -> watch::Receiver<Vec<Presence>> {
        self.present.subscribe()
    }

    /// Ends a client's connection; tells whether there was one.
    pub fn disconnect(&self, client: ClientId) -> bool {
        let state = self.lock();
        let member = state.clients.get(&client);
        member.inspect(|member| member.leave.cancel()).is_some()
    }

    /// Lets a client in. Its first message after `WELCOME` is the status as it is now.
    pub(crate) fn join(&self, selected: &Selected, process: Option<i32>, outbox: &Arc<Outbox>) -> Seat {
        let mut state = self.lock();
        let id = ClientId(state.next_id);
        state.next_id += 1;
        let presence = Presence {
            id,
            process,
            epoch: selected.epoch,
            color_level: selected.color_level,
            commands: selected.has(Capability::CommandExecute),
            subscribed: false,
        };
        let has_status = selected.has(Capability::InteractivityStatus);
        if has_status {
            outbox.status(&status(state.interactive));
        }
        let leave = CancellationToken::new();
        let look = (selected.color_level, outbox.framing());
        let member = Member { presence, outbox: Arc::clone(outbox), look, has_status, leave: leave.clone() };
        state.clients.insert(id, member);
        self.tell_presence(&state);
        Seat { console: self.clone(), id, leave }
    }

    /// What is known of a client.
    pub(crate) fn member(&self, client: ClientId) -> Option<Presence> {
        self.lock().clients.get(&client).map(|member| member.presence.clone())
    }

    /// Forwards logs to a client from now on, those it missed first if it asked for them. Once is enough.
    pub(crate) fn subscribe(&self, client: ClientId, selected: &Selected) {
        let wants_backlog = selected.capabilities.contains_key(extras::BACKLOG);
        let mut state = self.lock();
        let earlier: Vec<Arc<dyn Log>> =
            if wants_backlog { state.backlog.events.iter().cloned().collect() } else { Vec::new() };
        let Some(member) = state.clients.get_mut(&client).filter(|member| !member.presence.subscribed) else {
            return;
        };
        member.presence.subscribed = true;
        let (outbox, (level, framing)) = (Arc::clone(&member.outbox), member.look);
        if !earlier.is_empty() {
            outbox.hold_logs();
        }
        self.tell_presence(&state);
        drop(state);
        if !earlier.is_empty() {
            let frames = earlier.iter().flat_map(|log| log::frames(&log.text(level), framing, None));
            outbox.release_logs(frames.collect());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every step leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under the lock, so that the last thing told is the last thing that happened.
    fn tell_presence(&self, state: &State) {
        self.present.send_replace(state.clients.values().map(|member| member.presence.clone()).collect());
    }
}

impl State {
    /// Queues an event for everybody who subscribed, or tells which looks are missing and does nothing.
    fn deliver(&mut self, log: &Arc<dyn Log>, made: &Renderings) -> Result<(), Looks> {
        let listening = || self.clients.values().filter(|member| member.presence.subscribed);
        let mut missing = Looks::new();
        for member in listening().filter(|member| made.get(member.look).is_none()) {
            if !missing.contains(&member.look) {
                missing.push(member.look);
            }
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        for member in listening() {
            member.outbox.log(made.get(member.look).unwrap_or_default());
        }
        self.backlog.push(Arc::clone(log));
        Ok(())
    }
}

impl Backlog {
    fn push(&mut self, log: Arc<dyn Log>) {
        self.bytes += log.weight();
        self.events.push_back(log);
        while self.events.len() > BACKLOG_EVENTS || self.bytes > BACKLOG_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.weight();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.console.lock();
        if let Some(member) = state.clients.remove(&self.id) {
            // Whoever still waits for room in it must not wait for ever.
            member.outbox.close();
        }
        self.console.tell_presence(&state);
    }
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Console")
            .field("interactive", &state.interactive)
            .field("clients", &state.clients.len())
            .finish_non_exhaustive()
    }
}

fn status(available: bool) -> Envelope<Message> {
    Envelope::plain(Message::InteractivityStatus(InteractivityStatus { available }))
}
