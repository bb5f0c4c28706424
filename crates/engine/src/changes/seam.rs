//! Where tests can stop a change or make it fail: between any two of its steps. In the product there is nothing here.

use loggia_tree::{TreeError, TreePath};

/// Gets to know each step's name, and may stop the work there.
#[cfg(test)]
type Hook = dyn Fn(&str) -> std::io::Result<()> + Send + Sync;

#[derive(Clone, Default)]
pub(super) struct Seam {
    #[cfg(test)]
    pub(super) hook: Option<std::sync::Arc<Hook>>,
}

impl Seam {
    #[cfg(test)]
    pub(super) fn reach(&self, step: &str, path: &TreePath) -> Result<(), TreeError> {
        let Some(hook) = &self.hook else { return Ok(()) };
        hook(step).map_err(|source| TreeError::Io { path: path.clone(), source })
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the same shape as in tests")]
    pub(super) fn reach(&self, _step: &str, _path: &TreePath) -> Result<(), TreeError> {
        Ok(())
    }
}

impl std::fmt::Debug for Seam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seam")
    }
}
