//! Every bound of messages, with its reason.

/// The longest message in bytes: a frame of an extension holds one twice over, with all its characters escaped.
pub const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// The most lines of an HL7 message: twenty-five times the longest batches people are known to edit.
pub const MAX_LINES: usize = 500_000;

/// The highest number in a path into an HL7 message.
pub const MAX_INDEX: u16 = 9_999;

/// The most patches of one call: one for each line of a long message.
pub const MAX_PATCHES: usize = 20_000;

/// The most repetitions, components and sub-components together of a field that is looked into: each costs some
/// dozen bytes while it is.
pub const MAX_PARTS: usize = 200_000;

/// The longest path, as text.
pub const MAX_PATH_TEXT: usize = 4_096;

/// The most values of a tree: each costs some dozen bytes, and aliases multiply them.
pub const MAX_NODES: usize = 4_000_000;

/// How deep trees nest: what `serde_json` reads.
pub const MAX_DEPTH: usize = 127;

/// The most steps that can be taken back.
pub const MAX_STEPS: usize = 200;

/// How much text those steps keep altogether; the last one is kept whatever its size.
pub const MAX_STEP_BYTES: usize = 64 * 1024 * 1024;

/// How many calls wait for the desk. They wait for each other, and each is quick; more is somebody gone wild.
pub const MAX_WAITING: usize = 1_024;

/// How many events a listener may be behind before it misses the oldest.
pub const MAX_BEHIND: usize = 64;

/// The most findings about one message: nobody reads more.
pub const MAX_FINDINGS: usize = 1_000;

/// How large a compiled pattern of a schema may be.
pub const MAX_PATTERN: usize = 1024 * 1024;
