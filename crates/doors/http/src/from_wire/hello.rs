//! `client.hello`: who is there and what it can do.

use loggia_domain::{Abilities, Client, ClientId, Door, WhenBusy};
use loggia_protocol_agent_server::{ClientCapability, ClientHello, UnknownCapability};

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

/// How many unknown capabilities are told back; a client that names more has other faults.
const MAX_UNKNOWN: usize = 16;

/// How alike two names must be for one to be a misspelling of the other, from 0 to 1.
const ALIKE: f64 = 0.6;

/// The capabilities that mean something here, and those that do not, each with what it may have meant.
pub(crate) fn sorted(named: &[ClientCapability]) -> (Vec<ClientCapability>, Vec<UnknownCapability>) {
    let mut understood: Vec<ClientCapability> = Vec::new();
    let mut unknown: Vec<UnknownCapability> = Vec::new();
    for capability in named {
        match capability {
            ClientCapability::Other(name) if unknown.len() < MAX_UNKNOWN => {
                let name: String = name.chars().take(MAX_NAME).collect();
                unknown.push(UnknownCapability { did_you_mean: nearest(&name), name });
            }
            ClientCapability::Other(_) => {}
            known if understood.contains(known) => {}
            known => understood.push(known.clone()),
        }
    }
    (understood, unknown)
}

/// The known name that is most like this one, if one is.
fn nearest(name: &str) -> Option<ClientCapability> {
    let name = name.to_lowercase();
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(known, &name);
    let best = ClientCapability::KNOWN
        .iter()
        .copied()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(&best) >= ALIKE).then(|| ClientCapability::from(best.to_owned()))
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
