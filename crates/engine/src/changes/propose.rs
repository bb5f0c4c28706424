//! From what a tool wants to what people are shown: an edit becomes a patch.
//!
//! Pure: looks at no file. Invariant: what comes out changes something, can be shown as text, and says why.

use loggia_domain::{CallId, ContentHash, FileChangeKind, FileEdit, Patch, PatchId};
use loggia_tree::{PathError, TreePath};

use super::diff::{DiffError, UnifiedDiff};

/// Why an edit makes no patch.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// The file would be as it is.
    #[error("`{path}` already is as it should be")]
    NothingChanges {
        /// The file.
        path: String,
    },
    /// The path cannot name a file of the workspace.
    #[error(transparent)]
    Path(#[from] PathError),
    /// One side is not text, or too much of it.
    #[error("`{path}` cannot be changed as text: {source}")]
    NoDiff {
        /// The file.
        path: String,
        /// What is wrong with it.
        #[source]
        source: DiffError,
    },
}

/// Makes the patch of an edit. The fallback says why when the edit does not; if that is empty too, a plain sentence
/// does.
///
/// # Errors
/// [`ProposeError`] if there is nothing to show.
pub fn propose(edit: &FileEdit, call: CallId, fallback_rationale: &str) -> Result<Patch, ProposeError> {
    let path = TreePath::parse(&edit.path)?.as_str().to_owned();
    let kind = match (&edit.before, &edit.after) {
        (None, Some(_)) => FileChangeKind::Created,
        (Some(_), None) => FileChangeKind::Deleted,
        (Some(before), Some(after)) if before != after => FileChangeKind::Modified,
        _ => return Err(ProposeError::NothingChanges { path }),
    };
    let diff = match UnifiedDiff::between(&path, edit.before.as_deref(), edit.after.as_deref()) {
        Ok(diff) => diff,
        Err(source) => return Err(ProposeError::NoDiff { path, source }),
    };
    Ok(Patch {
        id: PatchId::new(),
        call,
        kind,
        base: edit.before.as_deref().map(ContentHash::of),
        diff: diff.text,
        hunks: diff.hunks,
        rationale: rationale(edit, fallback_rationale, kind, &path),
        acceptance_criteria: criteria(edit, kind, &path),
        path,
    })
}

fn rationale(edit: &FileEdit, fallback: &str, kind: FileChangeKind, path: &str) -> String {
    let said = [edit.rationale.as_deref().unwrap_or_default(), fallback].map(str::trim);
    if let Some(text) = said.into_iter().find(|text| !text.is_empty()) {
        return text.to_owned();
    }
    match kind {
        FileChangeKind::Created => format!("Create `{path}`."),
        FileChangeKind::Modified => format!("Change `{path}`."),
        FileChangeKind::Deleted => format!("Delete `{path}`."),
    }
}

fn criteria(edit: &FileEdit, kind: FileChangeKind, path: &str) -> Vec<String> {
    let said: Vec<String> =
        edit.acceptance_criteria.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
    if !said.is_empty() {
        return said;
    }
    vec![match kind {
        FileChangeKind::Created => format!("`{path}` is there and holds the proposed lines"),
        FileChangeKind::Modified => format!("`{path}` holds the proposed lines"),
        FileChangeKind::Deleted => format!("`{path}` is gone"),
    }]
}
