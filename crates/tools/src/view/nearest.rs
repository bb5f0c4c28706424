//! What was probably meant by a path that is not there.

use loggia_domain::ToolError;
use loggia_tree::TreePath;

use super::{EntryKind, View};

/// How many files elsewhere are looked through for the same name.
const MAX_LOOKED_AT: usize = 20_000;

/// How many are offered.
const MAX_OFFERED: usize = 3;

/// How alike names in the same directory must be, from 0 to 1.
const LIKENESS: f64 = 0.6;

impl View {
    /// The error for a file that is not there, with what may have been meant.
    pub(crate) fn no_such_file(&self, path: &TreePath) -> ToolError {
        let mut offered = self.named_alike(path);
        if offered.is_empty() {
            offered = self.named_the_same(path);
        }
        if offered.is_empty() {
            return ToolError::Failed(format!("`{path}` does not exist"));
        }
        ToolError::Failed(format!("`{path}` does not exist; did you mean {}?", offered.join(" or ")))
    }

    fn named_alike(&self, path: &TreePath) -> Vec<String> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else { return Vec::new() };
        let entries = self.list(&parent).unwrap_or_default();
        let files = entries.into_iter().filter(|entry| matches!(entry.kind, EntryKind::File(_)));
        let mut alike: Vec<(f64, String)> = files
            .map(|entry| {
                let likeness =
                    strsim::normalized_damerau_levenshtein(&entry.name.to_lowercase(), &name.to_lowercase());
                (likeness, entry.name)
            })
            .filter(|(likeness, _)| *likeness >= LIKENESS)
            .collect();
        alike.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let paths = alike.into_iter().filter_map(|(_, name)| parent.join(&name).ok());
        paths.take(MAX_OFFERED).map(|path| format!("`{path}`")).collect()
    }

    fn named_the_same(&self, path: &TreePath) -> Vec<String> {
        let mut files = self.files();
        let mut offered = Vec::new();
        for _ in 0..MAX_LOOKED_AT {
            let Ok(Some(file)) = files.next() else { break };
            if file.path.name() == path.name() {
                offered.push(format!("`{}`", file.path));
            }
            if offered.len() == MAX_OFFERED {
                break;
            }
        }
        offered
    }
}
