//! Capabilities that are not in the specification. They are negotiated like the others, so that a peer that does not
//! know them is served as if they did not exist.

/// The server sends what was logged lately when a client subscribes, as ordinary `LOG_FORWARD`s before the live ones.
pub const BACKLOG: &str = "loggia_backlog";

/// A `COMMAND_EXECUTE` with an id has an answer: its output comes as `LOG_FORWARD`s under that id, to the caller alone,
/// and the last of them has a `status`. An `ERROR` under the id ends it, too.
pub const RESULT: &str = "loggia_result";

/// The versions of them in use.
pub const VERSIONS: (i32, i32) = (1, 1);
