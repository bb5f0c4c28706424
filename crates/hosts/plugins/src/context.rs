//! What all plugins of a host share.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::limits::Limits;

/// Asked whether the plugin in a directory of a workspace may run. Asked again before every call, so that trust that
/// is taken back counts at once; it should answer from memory.
pub type TrustQuestion = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// What all plugins of a host share.
pub(crate) struct Context {
    pub(crate) keeper: Keeper,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) limits: Limits,
    pub(crate) trust: TrustQuestion,
    /// Connections, runs and goodbyes under way.
    pub(crate) tasks: TaskTracker,
    /// The host is stopping.
    pub(crate) closing: CancellationToken,
}

impl Context {
    /// A variable of the plugins' environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

impl fmt::Debug for Context {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("limits", &self.limits).finish_non_exhaustive()
    }
}
