//! What all connections of a server have in common.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::console::Console;

/// What all connections of a server have in common.
#[derive(Debug)]
pub(super) struct Shared<H> {
    pub(super) host: Arc<H>,
    pub(super) console: Console,
    /// One permit for each connection.
    pub(super) room: Arc<Semaphore>,
    /// Connections and commands.
    pub(super) tasks: TaskTracker,
    /// Connections say their last words and end.
    pub(super) stop: CancellationToken,
    /// Commands end as well.
    pub(super) cut: CancellationToken,
}
