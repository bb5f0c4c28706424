//! The hidden `__supervise` command: our own binary as the keeper of one guest or command.
//!
//! The work belongs to the `wire` crate, and all it needs arrives over the socket on stdin. Nothing may be
//! printed here and no configuration read: the keeper must start fast and never fail over a wrong file.

use std::process::ExitCode;

/// Keeps one program until it and all its descendants are gone.
pub(crate) fn run() -> ExitCode {
    loggia_wire::child::keep()
}
