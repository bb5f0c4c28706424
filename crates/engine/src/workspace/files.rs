//! Files of a workspace as turns need them. Everything that touches a disk runs where that may block.

use std::collections::BTreeMap;
use std::sync::Arc;

use loggia_domain::{FileChange, FileEdit, FileState, Patch, PatchFailure, PatchId, Store, ToolError};
use loggia_tree::{Root, TreeError, TreePath};

use crate::changes::{
    self, Applied, ApplyError, ApplyMark, MAX_FILE, Restore, SelectError, Selected, WantedChange,
};
use crate::session::State;
use crate::turn::{Chosen, collected, wanted};
use crate::workspace::OpenWorkspace;

/// What is to be done to files.
pub(crate) enum Work {
    /// These changes.
    Change(Vec<WantedChange>),
    /// Going back or forth.
    Restore(Vec<Restore>),
}

impl OpenWorkspace {
    /// Changes files, all or none.
    pub(crate) async fn apply(&self, mark: ApplyMark, work: Work) -> Result<Applied, ApplyError> {
        let applier = Arc::clone(&self.applier);
        blocking(move || match work {
            Work::Change(changes) => applier.apply(mark, changes),
            Work::Restore(plan) => applier.restore(mark, &plan),
        })
        .await
    }

    /// The journal knows of the change: the record of it can go.
    pub(crate) async fn settled(&self, applied: Applied) {
        if let Err(error) = blocking(move || applied.settled()).await {
            tracing::warn!(%error, "the record of a finished change stays until the next start");
        }
    }

    /// The journal does not know of the change: it is taken back.
    pub(crate) async fn take_back(&self, applied: Applied) {
        let applier = Arc::clone(&self.applier);
        let result = blocking(move || applier.take_back(applied)).await;
        let left = result.failed.len();
        tracing::error!(left, "a change that could not be recorded was taken back");
    }

    /// Edits with the paths they are really about, after links inside the workspace.
    pub(crate) async fn real_paths(&self, edits: Vec<FileEdit>) -> Result<Vec<FileEdit>, ToolError> {
        let root = Arc::clone(&self.root);
        blocking(move || {
            let real = |mut edit: FileEdit| {
                let path = TreePath::parse(&edit.path).map_err(TreeError::from)?;
                edit.path = root.real_path_of(&path)?.as_str().to_owned();
                Ok(edit)
            };
            edits.into_iter().map(real).collect::<Result<_, TreeError>>()
        })
        .await
        .map_err(|error| match error.is_forbidden() {
            true => ToolError::Forbidden(error.to_string()),
            false => ToolError::Failed(error.to_string()),
        })
    }

    /// Edits with what the disk holds now as what was there before.
    pub(crate) async fn against_disk(&self, edits: Vec<FileEdit>) -> Vec<FileEdit> {
        let root = Arc::clone(&self.root);
        blocking(move || {
            let on_disk = |path: &str| root.read(&TreePath::parse(path).ok()?, MAX_FILE).ok();
            let from_disk =
                |edit: FileEdit| FileEdit { before: on_disk(&edit.path).map(|file| file.bytes), ..edit };
            edits.into_iter().map(from_disk).collect()
        })
        .await
    }

    /// What each file is to hold with the chosen hunks; or which patches do not fit, and why.
    pub(crate) async fn contents(
        &self,
        chosen: &[Chosen],
    ) -> Result<Vec<WantedChange>, Vec<(PatchId, PatchFailure)>> {
        let (root, chosen) = (Arc::clone(&self.root), chosen.to_vec());
        blocking(move || {
            let (mut fit, mut unfit) = (Vec::new(), Vec::new());
            for (patch, hunks) in &chosen {
                match content(&root, patch, hunks.as_deref()) {
                    Ok((path, selected)) => fit.push(wanted(path, patch, selected)),
                    Err(failure) => unfit.push((patch.id, failure)),
                }
            }
            if unfit.is_empty() { Ok(fit) } else { Err(unfit) }
        })
        .await
    }

    /// Files as they would be with the changes collected so far.
    pub(crate) async fn overlay(&self, state: &State) -> BTreeMap<String, Option<Vec<u8>>> {
        let patches: Vec<Patch> = collected(state).cloned().collect();
        if patches.is_empty() {
            return BTreeMap::new();
        }
        let root = Arc::clone(&self.root);
        blocking(move || {
            let entry = |patch: &Patch| match content(&root, patch, None) {
                Ok((_, Selected::Content(bytes))) => Some((patch.path.clone(), Some(bytes))),
                Ok((_, Selected::Deleted)) => Some((patch.path.clone(), None)),
                // Somebody has changed the file since: what is on disk is what counts.
                Err(_) => None,
            };
            patches.iter().filter_map(entry).collect()
        })
        .await
    }

    /// What the files of some patches are now, with their bytes kept for undoing.
    ///
    /// # Errors
    /// Which file could not be looked at or kept: what is not kept must not be taken for absent.
    pub(crate) async fn kept_states(
        &self,
        store: &Arc<dyn Store>,
        chosen: &[Chosen],
    ) -> Result<Vec<Option<FileState>>, String> {
        let mut states = Vec::new();
        for (patch, _) in chosen {
            let state = self.kept_state(store, &patch.path).await;
            states.push(
                state.map_err(|error| format!("`{}` cannot be kept for undoing: {error}", patch.path))?,
            );
        }
        Ok(states)
    }

    async fn kept_state(&self, store: &Arc<dyn Store>, path: &str) -> Result<Option<FileState>, String> {
        let path = TreePath::parse(path).map_err(|error| error.to_string())?;
        let root = Arc::clone(&self.root);
        let found = blocking(move || changes::content_of(&root, &path)).await;
        let Some((state, bytes)) = found.map_err(|error| error.to_string())? else { return Ok(None) };
        store.put_blob(bytes).await.map_err(|error| error.to_string())?;
        Ok(Some(state))
    }

    /// What became of patches a client was to apply, by what the disk holds: changes, and what is not as wanted.
    pub(crate) async fn look_after(
        &self,
        store: &Arc<dyn Store>,
        before: Vec<Option<FileState>>,
        expected: Vec<Option<loggia_domain::ContentHash>>,
        chosen: &[Chosen],
    ) -> (Vec<FileChange>, Vec<(PatchId, PatchFailure)>) {
        let (mut files, mut failures) = (Vec::new(), Vec::new());
        for (((patch, _), before), expected) in chosen.iter().zip(before).zip(expected) {
            match self.kept_state(store, &patch.path).await {
                Ok(after) if after.map(|state| state.hash) == expected => {
                    files.push(FileChange { path: patch.path.clone(), before, after });
                }
                Ok(after) => {
                    let found = after.map(|state| state.hash);
                    failures.push((patch.id, PatchFailure::Conflict { found }));
                }
                Err(message) => failures.push((patch.id, PatchFailure::Unwritable { message })),
            }
        }
        (files, failures)
    }
}

/// The content of a patch's file with some of its hunks.
fn content(
    root: &Root,
    patch: &Patch,
    hunks: Option<&[usize]>,
) -> Result<(TreePath, Selected), PatchFailure> {
    let unwritable = |message: String| PatchFailure::Unwritable { message };
    let path = TreePath::parse(&patch.path).map_err(|error| unwritable(error.to_string()))?;
    let base = match root.read(&path, MAX_FILE) {
        Ok(file) if patch.base.is_some() => file.bytes,
        Ok(file) => {
            let found = Some(loggia_domain::ContentHash::of(&file.bytes));
            return Err(PatchFailure::Conflict { found });
        }
        Err(TreeError::NotFound { .. }) if patch.base.is_none() => Vec::new(),
        Err(TreeError::NotFound { .. }) => return Err(PatchFailure::Conflict { found: None }),
        Err(error) => return Err(unwritable(error.to_string())),
    };
    match changes::select(patch, &base, hunks) {
        Ok(selected) => Ok((path, selected)),
        Err(SelectError::Conflict { found }) => Err(PatchFailure::Conflict { found: Some(found) }),
        Err(error) => Err(unwritable(error.to_string())),
    }
}

/// Runs something that may block. A panic in it is one here.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => {
            std::panic::resume_unwind(error.try_into_panic().unwrap_or_else(|_| Box::new("cancelled")))
        }
    }
}
