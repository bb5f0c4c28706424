//! How long an extension may take for what, and how much may wait for it.

use std::time::Duration;

use loggia_protocol_hermes::limits as usual;

/// An extension that agreed to go leaves at once; this is for those that clean up.
const LEAVE: Duration = Duration::from_secs(2);

/// Long enough for an answer to come back and be worked on, short enough to wait for.
const QUIET: Duration = Duration::from_millis(500);

/// Events that wait while an extension is busy. More than a person causes during any request; an extension that has
/// not taken so many does not read.
const WAITING_EVENTS: usize = 256;

/// Commands that wait for their turn. Each has somebody who waits for it.
const WAITING_COMMANDS: usize = 64;

/// The limits of a host's extensions. Those of the protocol unless somebody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the handshake.
    pub initialize: Duration,
    /// Stopping: until it answers.
    pub shutdown: Duration,
    /// Stopping: until it leaves, once it has answered.
    pub leave: Duration,
    /// How long it says nothing before a command counts as done.
    pub quiet: Duration,
    /// How long the message stays as it is before its change is told.
    pub debounce: Duration,
    /// How large a body may be, in bytes, in both directions.
    pub frame: usize,
    /// How many events may wait for it.
    pub waiting_events: usize,
    /// How many commands may wait for it.
    pub waiting_commands: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            initialize: usual::INITIALIZE_TIMEOUT,
            shutdown: usual::SHUTDOWN_TIMEOUT,
            leave: LEAVE,
            quiet: QUIET,
            debounce: usual::CHANGED_DEBOUNCE,
            frame: usual::MAX_INBOUND_FRAME,
            waiting_events: WAITING_EVENTS,
            waiting_commands: WAITING_COMMANDS,
        }
    }
}
