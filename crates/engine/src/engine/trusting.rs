//! Which workspaces are trusted, as the engine tells it.

use std::path::Path;
use std::time::Duration;

use crate::Engine;
use crate::error::EngineError;

impl Engine {
    /// Whether a workspace's own files may loosen anything. Touches disks.
    pub fn is_trusted(&self, root: &Path) -> bool {
        self.shared.trust.is_trusted(root)
    }

    /// Trusts a workspace, or no longer. Touches disks.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn set_trusted(&self, root: &Path, trusted: bool) -> Result<(), EngineError> {
        match trusted {
            true => self.shared.trust.trust(root)?,
            false => self.shared.trust.distrust(root)?,
        };
        Ok(())
    }

    /// Trusts a workspace for one run, as long as it says; no time at all ends that. Touches disks.
    ///
    /// # Errors
    /// If its directory is not there, or too many runs are trusted.
    pub fn lend_trust(&self, root: &Path, run: &str, time: Duration) -> Result<(), EngineError> {
        Ok(self.shared.trust.lend(root, run, time)?)
    }
}
