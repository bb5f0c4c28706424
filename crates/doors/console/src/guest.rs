//! Who is on the console, and which session each uses.
//!
//! Invariant: whoever has gone has no place on a session for longer than it takes to notice.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Abilities, Client, ClientId, Door, Role, SessionId, TurnId, WorkspaceId};
use loggia_endermux_io::server::{self, Presence};
use loggia_engine::Seat;

/// One terminal.
#[derive(Debug)]
pub(crate) struct Guest {
    /// As the console's server knows it.
    pub(crate) terminal: server::ClientId,
    /// As sessions know it.
    pub(crate) client: Client,
    process: Option<i32>,
    place: Mutex<Option<Arc<Place>>>,
}

/// The session a terminal uses.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) seat: Seat,
    pub(crate) workspace: WorkspaceId,
    followed: Mutex<Followed>,
}

/// The commands of a terminal that give the reply on themselves. They hear a session on their own, so that one may be
/// through with a turn before the log is, or after it.
#[derive(Debug, Default)]
struct Followed {
    commands: usize,
    /// Turns that commands are through with and the log is not.
    left: Vec<TurnId>,
    /// The last turn that the log is through with.
    logged: Option<TurnId>,
}

/// A command that gives a reply on itself, so that the log does not.
#[derive(Debug)]
pub(crate) struct Following {
    place: Arc<Place>,
    /// The turn that has ended.
    ended: Option<TurnId>,
}

impl Place {
    pub(crate) fn new(seat: Seat, workspace: WorkspaceId) -> Self {
        Self { seat, workspace, followed: Mutex::default() }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.seat.session()
    }

    /// Keeps replies out of the terminal's log for as long as this is held.
    pub(crate) fn follow(self: &Arc<Self>) -> Following {
        self.followed().commands += 1;
        Following { place: Arc::clone(self), ended: None }
    }

    /// Whether a command gives the reply on.
    pub(crate) fn is_followed(&self) -> bool {
        self.followed().commands > 0
    }

    /// The log is through with a turn.
    pub(crate) fn logged(&self, turn: TurnId) {
        let mut followed = self.followed();
        let before = followed.left.len();
        followed.left.retain(|left| *left != turn);
        followed.commands -= before - followed.left.len();
        followed.logged = Some(turn);
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Following {
    /// The command is through with the turn: the log gets replies again once it is, too.
    pub(crate) fn end(mut self, turn: TurnId) {
        self.ended = Some(turn);
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut followed = self.place.followed();
        match self.ended {
            Some(turn) if followed.logged != Some(turn) => followed.left.push(turn),
            _ => followed.commands -= 1,
        }
    }
}

impl Guest {
    fn new(presence: &Presence) -> Self {
        let client = Client {
            id: ClientId::new(),
            name: format!("console {}", presence.id),
            door: Door::Console,
            role: Role::Admin,
            abilities: Abilities::default(),
        };
        Self { terminal: presence.id, client, process: presence.process, place: Mutex::default() }
    }

    /// The session in use.
    pub(crate) fn place(&self) -> Option<Arc<Place>> {
        self.lock().clone()
    }

    /// Uses another session, or none.
    pub(crate) fn set_place(&self, place: Option<Arc<Place>>) {
        *self.lock() = place;
    }

    /// Where the terminal's process is, as far as the system tells.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/cwd", self.process?)).ok()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Place>>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everybody who has said something.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    known: Mutex<BTreeMap<server::ClientId, Arc<Guest>>>,
}

impl Guests {
    /// Who somebody is.
    pub(crate) fn know(&self, presence: &Presence) -> Arc<Guest> {
        Arc::clone(self.lock().entry(presence.id).or_insert_with(|| Arc::new(Guest::new(presence))))
    }

    /// Forgets those who are not there.
    pub(crate) fn keep(&self, there: &[Presence]) {
        self.lock().retain(|id, _| there.iter().any(|presence| presence.id == *id));
    }

    /// Everybody who uses a session.
    pub(crate) fn on(&self, session: SessionId) -> Vec<(server::ClientId, Arc<Place>)> {
        let uses = |(id, guest): (&server::ClientId, &Arc<Guest>)| {
            let place = guest.place().filter(|place| place.session() == session)?;
            Some((*id, place))
        };
        self.lock().iter().filter_map(uses).collect()
    }

    /// Nobody uses a session any more.
    pub(crate) fn leave(&self, session: SessionId) {
        for guest in self.lock().values() {
            if guest.place().is_some_and(|place| place.session() == session) {
                guest.set_place(None);
            }
        }
    }

    /// What somebody uses.
    pub(crate) fn session_of(&self, id: server::ClientId) -> Option<SessionId> {
        self.lock().get(&id)?.place().map(|place| place.session())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<server::ClientId, Arc<Guest>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
