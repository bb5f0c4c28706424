//! Times and sizes, each with its reason.

use std::time::Duration;

/// How long the first whole message of a connection may take; a frame that trickles in does not extend it.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(2000);

/// How much longer the reader of that message may take to notice that the connection was closed.
pub const HANDSHAKE_JOIN_GRACE: Duration = Duration::from_millis(1000);

/// How long a client waits for completions: somebody is looking at the prompt.
pub const COMPLETION_TIMEOUT: Duration = Duration::from_millis(5000);

/// How long a client waits for a parsed line. Existing clients use the limit for completions, of which it is a part.
pub const PARSE_TIMEOUT: Duration = COMPLETION_TIMEOUT;

/// How long a client waits for highlighting; later the text has changed anyway.
pub const SYNTAX_HIGHLIGHT_TIMEOUT: Duration = Duration::from_millis(1000);

/// The longest frame of epochs 15 and 16, and the longest stored payload of epoch 17.
pub const MAX_FRAME: usize = 1_048_576;

/// The longest frame of epoch 17, whose length also counts the compression byte.
pub const MAX_COMPRESSED_FRAME: usize = MAX_FRAME + 1;

/// The most that a payload of epoch 17 may grow to; checked while inflating, so that a bomb stops early.
pub const MAX_INFLATED: usize = 4 * 1_048_576;

/// From this many bytes of JSON on, an epoch-17 server compresses; below, the gain is smaller than the header.
pub const COMPRESS_FROM: usize = 1024;

/// How deep JSON may nest. The protocol's own messages need five levels; the rest is room for fields nobody knows yet.
///
/// Depth is counted over the text before anything is parsed, in constant space, so that neither our parser's
/// stack nor its own limit decides.
pub const MAX_DEPTH: usize = 64;
