//! Capabilities: what two peers may agree on, and what they did agree on.

use std::collections::BTreeMap;
use std::fmt;

use crate::{ColorLevel, Epoch, VersionRange, Welcome};

/// A capability of the protocol. Others may be offered by name and are ignored by those who do not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Commands can be run.
    CommandExecute,
    /// Log lines are forwarded.
    LogForward,
    /// The client hears whether commands can be given.
    InteractivityStatus,
    /// Words can be completed.
    Completion,
    /// Commands can be coloured.
    SyntaxHighlight,
    /// Lines can be cut into words.
    Parse,
}

impl Capability {
    /// Every capability, those a client requires first.
    pub const ALL: [Self; 6] = [
        Self::CommandExecute,
        Self::LogForward,
        Self::InteractivityStatus,
        Self::Completion,
        Self::SyntaxHighlight,
        Self::Parse,
    ];

    /// Those a client cannot do without.
    pub const REQUIRED: [Self; 3] = [Self::CommandExecute, Self::LogForward, Self::InteractivityStatus];

    /// The versions in use; every capability is at its first.
    pub const VERSIONS: (i32, i32) = (1, 1);

    /// The name on the wire; names are case-sensitive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CommandExecute => "command_execute",
            Self::LogForward => "log_forward",
            Self::InteractivityStatus => "interactivity_status",
            Self::Completion => "completion",
            Self::SyntaxHighlight => "syntax_highlight",
            Self::Parse => "parse",
        }
    }

    /// All six at their first version, as a peer of this epoch offers them.
    pub fn baseline(epoch: Epoch) -> BTreeMap<String, VersionRange> {
        let (min, max) = Self::VERSIONS;
        let offer = |capability: Self| (capability.name().to_owned(), VersionRange::new(epoch, min, max));
        Self::ALL.into_iter().map(offer).collect()
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was agreed on for one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The transport both speak.
    pub epoch: Epoch,
    /// The client's colours.
    pub color_level: ColorLevel,
    /// The version of each negotiated capability, also of those this crate does not know.
    pub capabilities: BTreeMap<String, i32>,
}

impl Selected {
    /// Whether a capability was negotiated.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains_key(capability.name())
    }

    /// The message that tells the client.
    pub fn welcome(&self) -> Welcome {
        let selected = self.capabilities.iter().map(|(name, version)| (name.clone(), Some(*version)));
        Welcome { transport_epoch: self.epoch.number(), selected_capabilities: Some(selected.collect()) }
    }
}
