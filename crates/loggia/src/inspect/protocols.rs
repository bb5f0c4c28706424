//! The five protocols as the inspector sees them: how to cut, what to compare with, what to show.

use loggia_jsonrpc::{Dialect, MessageInfo, MethodInfo};
use {
    loggia_protocol_agent_server as agent_server, loggia_protocol_autohand as autohand,
    loggia_protocol_endermux as endermux, loggia_protocol_hermes as hermes,
    loggia_protocol_mehrhof as mehrhof,
};

/// Which protocol a stream speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProtocolName {
    /// Agent server for editors: WebSocket messages, recorded one per line
    AgentServer,
    /// Autohand agent: JSON-RPC, one message per line
    Autohand,
    /// Endermux console: frames with a four-byte length
    Endermux,
    /// Hermes extensions: JSON-RPC behind `Content-Length` headers
    Hermes,
    /// Mehrhof plugins: JSON-RPC, one message per line
    Mehrhof,
}

/// One protocol.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// Its name on our command line.
    pub(crate) name: &'static str,
    /// How its stream is cut.
    pub(crate) framing: Framing,
    /// What its messages are compared with.
    pub(crate) table: Table,
    /// A short conversation, as its bytes were on the wire.
    pub(crate) sample: &'static [u8],
}

/// How a stream is cut into frames, with the protocol's own limits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framing {
    /// One message per line.
    Lines {
        /// The longest line.
        max_line: usize,
    },
    /// Headers, then the body.
    ContentLength {
        /// The longest body.
        max_body: usize,
    },
    /// A four-byte length, then the body; the first frame shows which epoch it is.
    LengthPrefixed {
        /// The longest frame as stored.
        max_stored: usize,
        /// The longest frame once inflated.
        max_inflated: usize,
    },
}

/// What messages are compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Table {
    /// JSON-RPC with these methods.
    Rpc {
        /// The methods.
        methods: &'static [MethodInfo],
        /// How the standard is read here.
        dialect: &'static Dialect,
    },
    /// Objects that say their `type`.
    Typed {
        /// The messages.
        messages: &'static [MessageInfo],
        /// The fields that tie a question to its answer, the first one present counts.
        id_fields: &'static [&'static str],
    },
}

const AGENT_SERVER: Protocol = Protocol {
    name: "agent-server",
    framing: Framing::Lines { max_line: agent_server::MAX_MESSAGE_BYTES },
    table: Table::Typed {
        messages: agent_server::MESSAGES,
        id_fields: &["request_id", "command_id", "patch_id"],
    },
    sample: include_bytes!("../../samples/agent-server.jsonl"),
};

const AUTOHAND: Protocol = Protocol {
    name: "autohand",
    framing: Framing::Lines { max_line: autohand::limits::MAX_LINE_BYTES },
    table: Table::Rpc { methods: autohand::METHODS, dialect: &autohand::DIALECT },
    sample: include_bytes!("../../samples/autohand.jsonl"),
};

const ENDERMUX: Protocol = Protocol {
    name: "endermux",
    framing: Framing::LengthPrefixed {
        max_stored: endermux::limits::MAX_FRAME,
        max_inflated: endermux::limits::MAX_INFLATED,
    },
    table: Table::Typed { messages: endermux::MESSAGES, id_fields: &["requestId"] },
    sample: include_bytes!("../../samples/endermux.bin"),
};

const HERMES: Protocol = Protocol {
    name: "hermes",
    framing: Framing::ContentLength { max_body: hermes::limits::MAX_INBOUND_FRAME },
    table: Table::Rpc { methods: hermes::METHODS, dialect: &hermes::DIALECT },
    sample: include_bytes!("../../samples/hermes.bin"),
};

const MEHRHOF: Protocol = Protocol {
    name: "mehrhof",
    framing: Framing::Lines { max_line: mehrhof::limits::MAX_LINE_BYTES },
    table: Table::Rpc { methods: mehrhof::METHODS, dialect: &mehrhof::DIALECT },
    sample: include_bytes!("../../samples/mehrhof.jsonl"),
};

impl ProtocolName {
    /// Every protocol, in the order they are shown.
    pub(crate) const ALL: [Self; 5] =
        [Self::AgentServer, Self::Autohand, Self::Endermux, Self::Hermes, Self::Mehrhof];

    /// The protocol of that name.
    pub(crate) fn protocol(self) -> &'static Protocol {
        match self {
            Self::AgentServer => &AGENT_SERVER,
            Self::Autohand => &AUTOHAND,
            Self::Endermux => &ENDERMUX,
            Self::Hermes => &HERMES,
            Self::Mehrhof => &MEHRHOF,
        }
    }
}

impl Table {
    /// The lengths of the longest sender and the longest name, for columns.
    pub(crate) fn widths(&self) -> (usize, usize) {
        let rows: Vec<(&str, &str)> = match self {
            Self::Rpc { methods, .. } => methods.iter().map(|row| (row.sender, row.name)).collect(),
            Self::Typed { messages, .. } => messages.iter().map(|row| (row.sender, row.name)).collect(),
        };
        let longest = |pick: fn(&(&str, &str)) -> usize| rows.iter().map(pick).max().unwrap_or(0);
        (longest(|(sender, _)| sender.len()), longest(|(_, name)| name.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn a_protocol_is_called_what_the_command_line_calls_it() {
        assert_eq!(ProtocolName::value_variants(), ProtocolName::ALL);
        for name in ProtocolName::ALL {
            let value = name.to_possible_value().unwrap();
            assert_eq!(value.get_name(), name.protocol().name);
        }
    }
}
