//! The times and sizes of the protocol, each with its reason.
//!
//! The specification names the two time-outs; the rest is what existing hosts do or what this one decides.

use std::time::Duration;

/// How long an extension may take to answer `initialize` before it is marked as failed.
pub const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an extension may take to answer `shutdown` before its process is killed.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest body a host reads from an extension. Existing hosts stop at 10 MiB; a whole message in a structured
/// form can be several times its text, so this host takes more and still knows a bound.
pub const MAX_INBOUND_FRAME: usize = 64 * 1024 * 1024;

/// How long the editor must be quiet before `message/changed` is sent, so that typing is one event.
pub const CHANGED_DEBOUNCE: Duration = Duration::from_millis(500);

/// How many log entries a host keeps per extension: enough to explain a failure, too few to matter.
pub const LOG_RING_ENTRIES: usize = 100;

/// A window's width when `ui/openWindow` names none.
pub const DEFAULT_WINDOW_WIDTH: u32 = 800;

/// A window's height when `ui/openWindow` names none.
pub const DEFAULT_WINDOW_HEIGHT: u32 = 600;

/// The largest length a schema override can set; existing hosts lower anything above to this.
pub const MAX_FIELD_LENGTH: u64 = 65_535;
