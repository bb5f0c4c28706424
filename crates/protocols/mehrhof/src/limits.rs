//! The protocol's numbers, each with its reason. The specification names none; these are a host's defaults.

use std::time::Duration;

/// The longest line we read. Plugins return whole web pages as one line; more than this fails the call and
/// stops the plugin.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// For `provider.init`, `agent.init` and `workflow.init`: an interpreter starts and reads its configuration.
pub const INIT_LIMIT: Duration = Duration::from_secs(10);

/// For `provider.match`, `provider.parse`, `agent.available` and `ping`: no network should be needed.
pub const QUESTION_LIMIT: Duration = Duration::from_secs(5);

/// For everything a provider does over the network. A known plugin allows itself two tries of 30 s.
pub const PROVIDER_LIMIT: Duration = Duration::from_secs(120);

/// For `agent.run`: the longest silence between two events, unless configuration says otherwise.
pub const RUN_SILENCE_LIMIT: Duration = Duration::from_secs(300);

/// For `agent.run`: the longest run as a whole.
pub const RUN_TOTAL_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How long a run whose stream is complete may take to answer before it counts as answered.
pub const RUN_ANSWER_GRACE: Duration = Duration::from_secs(5);

/// For `workflow.evaluateGuard`; a guard that takes longer does not allow.
pub const GUARD_LIMIT: Duration = Duration::from_secs(30);

/// For `workflow.executeEffect`, which may talk to other services.
pub const EFFECT_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Stopping, first step: how long `shutdown` may take to be answered. Any answer will do.
pub const SHUTDOWN_ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Stopping, second step: how long a plugin may take to leave once its input is closed.
pub const SHUTDOWN_EXIT_LIMIT: Duration = Duration::from_secs(10);

/// Stopping, third step: how long it may take to leave once it is told by signal. Then it is killed.
pub const SHUTDOWN_SIGNAL_LIMIT: Duration = Duration::from_secs(2);

/// A plugin that ends by itself this many times in a row is not started again.
pub const MAX_CRASHES_IN_A_ROW: u32 = 3;

/// How often a call that met a rate limit is tried again.
pub const RATE_LIMIT_RETRIES: u32 = 3;
