//! Who is asking.
//!
//! Found once per request, before anything else; handlers only read it.

use loggia_domain::Role;
use loggia_protocol_agent_server::Scope;

/// Who is asking, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name of their token, for events and listings.
    pub name: String,
    /// What they may do.
    pub scope: Scope,
    /// How they showed who they are.
    pub proof: Proof,
}

/// How somebody showed who they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Proof {
    /// A token, by its id.
    Token(String),
    /// A process of the same user on the other end of a Unix socket.
    SameUser,
}

impl Identity {
    /// The engine's word for the scope.
    pub fn role(&self) -> Role {
        match self.scope {
            Scope::Read => Role::Watch,
            Scope::Drive => Role::Drive,
            Scope::Admin => Role::Admin,
        }
    }
}
