//! Paths as models write them.
//!
//! Knows the words of a path; touches nothing. What always holds: a path that is not below the root by its words,
//! an absolute one included, is kept as written, so that the policy sees it, and refused when the call runs.

use loggia_domain::ToolError;
use loggia_tree::{PathError, TreePath};

/// A path from a call's arguments.
#[derive(Debug, Clone)]
pub(crate) struct ModelPath {
    written: String,
    tree: Result<TreePath, PathError>,
}

impl ModelPath {
    /// Reads a path.
    pub(crate) fn new(written: String) -> Self {
        let tree = TreePath::parse(&written);
        Self { written, tree }
    }

    /// The path for the policy: in its plain form, or as written if it has none.
    pub(crate) fn named(&self) -> String {
        match &self.tree {
            Ok(path) => path.to_string(),
            Err(_) => self.written.clone(),
        }
    }

    /// The path below the root.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn tree(&self) -> Result<&TreePath, ToolError> {
        self.tree.as_ref().map_err(|error| {
            let text = error.to_string();
            if error.is_forbidden() { ToolError::Forbidden(text) } else { ToolError::Failed(text) }
        })
    }
}
