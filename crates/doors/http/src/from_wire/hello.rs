//! `client.hello`: who is there and what it can do.

use loggia_domain::{Abilities, Client, ClientId, Door, WhenBusy};
use loggia_protocol_agent_server::{ClientCapability, ClientHello};

use crate::Identity;
use crate::to_wire::Manners;

/// How much of a client's name is kept: it is in every event the client causes, for ever.
const MAX_NAME: usize = 64;

/// A client that has said hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// Who it is to the engine.
    pub(crate) client: Client,
    /// How it wants to be told.
    pub(crate) manners: Manners,
    /// What becomes of its messages while a turn runs.
    pub(crate) when_busy: WhenBusy,
}

/// Reads a hello. A client without a name goes by that of its token.
pub(crate) fn greeting(hello: &ClientHello, identity: &Identity, id: ClientId) -> Greeting {
    let can = |wanted: ClientCapability| hello.client_info.capabilities.contains(&wanted);
    let shown = hello.client_info.name.chars().filter(|char| !char.is_control());
    let name: String = shown.take(MAX_NAME).collect();
    let name = match name.trim() {
        "" => identity.name.clone(),
        name => name.to_owned(),
    };
    Greeting {
        client: Client {
            id,
            name,
            door: Door::Http,
            role: identity.role(),
            abilities: Abilities {
                runs_commands: can(ClientCapability::TerminalExec),
                applies_patches: can(ClientCapability::DiffPreview),
                auto_approves: false,
            },
        },
        manners: Manners { delta_only: can(ClientCapability::DeltaOnly) },
        when_busy: if can(ClientCapability::Queue) { WhenBusy::Queue } else { WhenBusy::Refuse },
    }
}
