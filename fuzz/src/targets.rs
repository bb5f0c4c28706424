//! The targets: what must hold for any bytes at all, one file per reader.
//!
//! A target panics when something does not hold and says what; otherwise it returns. Everything a target decides
//! besides (where to cut, which limits) comes from the input itself, so that an input is all it takes to repeat it.

pub mod console;
pub mod content_length;
pub mod envelope;
pub mod length_prefixed;
pub mod lines;
pub mod message_paths;
pub mod messages;
pub mod peer;
pub mod protocols;
pub mod round_trip;
mod stream;

use crate::samples;

/// One reader under attack.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name on the command line and in the names of kept inputs.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub about: &'static str,
    /// Tries one input; panics when something does not hold.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub samples: fn() -> std::io::Result<Vec<Vec<u8>>>,
}

/// Every target, in the order of the layers.
pub const TARGETS: &[Target] = &[
    Target {
        name: "content_length",
        about: "Content-Length framing, whole and in pieces",
        run: content_length::target,
        samples: samples::content_length,
    },
    Target {
        name: "lines",
        about: "newline-delimited framing, whole and in pieces",
        run: lines::target,
        samples: samples::lines,
    },
    Target {
        name: "length_prefixed",
        about: "length-prefixed framing in both layouts, whole and in pieces",
        run: length_prefixed::target,
        samples: samples::length_prefixed,
    },
    Target {
        name: "round_trip",
        about: "what each framing writes, it reads back",
        run: round_trip::target,
        samples: samples::messages,
    },
    Target {
        name: "envelope",
        about: "JSON-RPC envelopes, read properly and presumed",
        run: envelope::target,
        samples: samples::messages,
    },
    Target {
        name: "peer",
        about: "a whole connection, in lines and in Content-Length frames",
        run: peer::target,
        samples: samples::conversations,
    },
    Target {
        name: "console",
        about: "a console's whole connection, greeted and not, in every transport",
        run: console::target,
        samples: samples::consoles,
    },
    Target {
        name: "protocols",
        about: "every message type of the five protocols, read and written twice",
        run: protocols::target,
        samples: samples::typed,
    },
    Target {
        name: "message_paths",
        about: "paths into messages and trees, and patches at them",
        run: message_paths::target,
        samples: samples::message_paths,
    },
    Target {
        name: "messages",
        about: "documents in HL7, JSON, YAML and TOML, shown in each other's formats",
        run: messages::target,
        samples: samples::documents,
    },
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
