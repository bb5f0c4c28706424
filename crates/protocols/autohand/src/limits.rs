//! The protocol's numbers, each with its reason.

use std::time::Duration;

/// The longest line we read. The protocol names no cap; three images of the largest size, in base64, fit.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// The largest image, counted after base64 is undone. Existing clients are told this limit.
pub const MAX_IMAGE_BYTES: usize = 10 * 1024 * 1024;

/// The kinds of image the specification lists.
pub const IMAGE_MIME_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// How long a question may go without any sign from the client before it counts as denied, once.
///
/// Only where configuration asks for it. Off by default: a person who is away has not said no, and no client
/// library acknowledges on its user's behalf.
pub const PERMISSION_ACKNOWLEDGE_LIMIT: Duration = Duration::from_secs(30);

/// How long an acknowledged question may wait for its answer. Off by default, for the same reason.
pub const PERMISSION_ANSWER_LIMIT: Duration = Duration::from_secs(60 * 60);

/// How often a running turn shows that it lives.
pub const PING_INTERVAL: Duration = Duration::from_secs(15);

/// Clients that abandon a run wait this long after `autohand.abort` for `autohand.turnEnd`, then kill the agent.
pub const ABORT_PATIENCE: Duration = Duration::from_secs(2);

/// The time to leave after end of input or a termination signal. The least patient client kills after 1 s.
pub const EXIT_BUDGET: Duration = Duration::from_millis(800);

/// Client libraries give up on an unanswered request after this long.
pub const CLIENT_REQUEST_PATIENCE: Duration = Duration::from_secs(300);

/// Sessions per page of `autohand.getHistory` when the client names no number.
pub const HISTORY_PAGE_SIZE: u64 = 20;

/// The longest line that every client library reads. Python's streams give up on a longer one, and the session with it, unless
/// they are told otherwise. What is told in the course of a turn stays below it, but for what nobody may shorten: a message's
/// whole content, and files that are shown before they are written.
pub const CLIENT_LINE_BYTES: usize = 64 * 1024;

/// The longest piece of text in an update, in bytes of JSON. A delta and a thought go together, with room to spare.
pub const MAX_PIECE_BYTES: usize = 16 * 1024;

/// The most of a tool's output, or of a prompt, that one notification repeats, in bytes of JSON: half a line, since an error
/// or arguments may stand beside it.
pub const MAX_OUTPUT_BYTES: usize = 32 * 1024;

/// The longest text among the arguments of a call, in bytes of JSON: a call has two of them at most that are long.
pub const MAX_ARGUMENT_BYTES: usize = 16 * 1024;
