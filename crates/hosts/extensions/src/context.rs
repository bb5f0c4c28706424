//! What all extensions of a workspace share.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use loggia_domain::{Dialogs, MessageDesk, Workspace};
use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::extension::Extension;
use crate::limits::Limits;

/// Asked whether what the workspace brought may run. Asked again before every start; it should answer from memory.
pub type TrustQuestion = Arc<dyn Fn() -> bool + Send + Sync>;

/// What all extensions of a workspace share.
pub(crate) struct Context {
    pub(crate) keeper: Keeper,
    pub(crate) workspace: Workspace,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) data_directory: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) trust: TrustQuestion,
    pub(crate) desk: Arc<dyn MessageDesk>,
    pub(crate) dialogs: Arc<dyn Dialogs>,
    /// Connections, supervisors, windows.
    pub(crate) tasks: TaskTracker,
    /// The host is stopping: nothing is started any more.
    pub(crate) closing: CancellationToken,
    /// Nobody holds the host any more: what runs is killed.
    pub(crate) dropped: CancellationToken,
    /// All extensions, in the order of the settings.
    roster: Mutex<Vec<Weak<Extension>>>,
    /// Held while the schema is laid over, so that what was looked up last is what holds.
    laying: Mutex<()>,
}

/// What a context is made from.
pub(crate) struct Parts {
    pub(crate) keeper: Keeper,
    pub(crate) workspace: Workspace,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) data_directory: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) trust: TrustQuestion,
    pub(crate) desk: Arc<dyn MessageDesk>,
    pub(crate) dialogs: Arc<dyn Dialogs>,
}

impl Context {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let Parts { keeper, workspace, environment, data_directory, limits, trust, desk, dialogs } = parts;
        Arc::new(Self {
            keeper,
            workspace,
            environment,
            data_directory,
            limits,
            trust,
            desk,
            dialogs,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            dropped: CancellationToken::new(),
            roster: Mutex::default(),
            laying: Mutex::default(),
        })
    }

    fn roster(&self) -> MutexGuard<'_, Vec<Weak<Extension>>> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which extensions there are, in the order of the settings.
    pub(crate) fn enlist(&self, extensions: &[Arc<Extension>]) {
        *self.roster() = extensions.iter().map(Arc::downgrade).collect();
    }

    /// All extensions, in the order of the settings.
    pub(crate) fn extensions(&self) -> Vec<Arc<Extension>> {
        self.roster().iter().filter_map(Weak::upgrade).collect()
    }

    /// Lays over the schema what those that run bring, and nothing else.
    pub(crate) fn lay_over(&self) {
        let _laying = self.laying.lock().unwrap_or_else(PoisonError::into_inner);
        let overlays = self.extensions().iter().filter_map(|extension| extension.overlay()).collect();
        self.desk.lay_over(overlays);
    }
}

impl fmt::Debug for Context {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("workspace", &self.workspace)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
