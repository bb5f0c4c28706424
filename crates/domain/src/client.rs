//! Who is connected, through which door, and what they may do.

use crate::ClientId;

/// Somebody who is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Which connection.
    pub id: ClientId,
    /// What it calls itself.
    pub name: String,
    /// Where it came in.
    pub door: Door,
    /// What it may do.
    pub role: Role,
    /// What it can do for the session.
    pub abilities: Abilities,
}

/// What a client can do for a session, and how it wants to be treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// It runs commands in a terminal of its own and reports.
    pub runs_commands: bool,
    /// It applies patches itself and reports.
    pub applies_patches: bool,
    /// Questions of turns it began are answered with yes in its name. Its own convenience, never the session's.
    pub auto_approves: bool,
}

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    /// HTTP and WebSocket.
    Http,
    /// JSON-RPC over a byte stream.
    Rpc,
    /// The console socket.
    Console,
    /// Code that uses the engine directly.
    Inside,
}

/// What a client may do; each role includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// See sessions, events and listings.
    Watch,
    /// Prompt, decide, cancel, undo.
    Drive,
    /// Register and trust workspaces, change policy and models, stop the daemon.
    Admin,
}

/// Who did something: what the journal remembers of a client after it has gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A client.
    Client {
        /// Which connection it was.
        id: ClientId,
        /// What it called itself.
        name: String,
        /// Where it came in.
        door: Door,
        /// What it might do.
        role: Role,
    },
    /// The policy, or a decision it remembered.
    Policy,
    /// The engine itself: a time limit, a cancelled turn, a restart.
    Engine,
}

impl From<&Client> for Actor {
    fn from(client: &Client) -> Self {
        Self::Client { id: client.id, name: client.name.clone(), door: client.door, role: client.role }
    }
}
