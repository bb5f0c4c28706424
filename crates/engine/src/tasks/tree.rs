//! Working trees of tasks: made, adopted as workspaces, taken away.
//!
//! A tree must be there before a session can be opened in it, and so before the task is in a journal. It is noted in the
//! data directory first: what a crash leaves of a task that never came to be is taken away by the next start.
//!
//! What always holds: a branch is taken away only where it still is where we made it; trust never outlives the tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{Commit, Repository, RepositoryError, SessionId, StoreError, TaskId, Workspace};
use serde::{Deserialize, Serialize};

use super::error::TaskError;
use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::policy::files::replace;
use crate::workspace::blocking;

/// Where notes are, in the data directory.
const DIRECTORY: &str = "task-trees";

/// A tree that is about to be made for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NewTree {
    /// The root of the task's home.
    pub(super) home: PathBuf,
    /// Where the tree will be.
    pub(super) tree: PathBuf,
    /// The part of it that will be a workspace.
    pub(super) root: PathBuf,
    /// Its branch.
    pub(super) branch: String,
    /// What the branch begins at.
    pub(super) base: String,
    /// The commit that is.
    pub(super) from: String,
}

/// Notes of trees that are made while no journal tells of them.
#[derive(Debug, Clone)]
pub(crate) struct TreeNotes(PathBuf);

impl TreeNotes {
    pub(crate) fn new(data: &Path) -> Self {
        Self(data.join(DIRECTORY))
    }

    /// Durable when this returns.
    fn add(&self, session: SessionId, tree: &NewTree) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        replace::replace(&self.0.join(session.to_string()), &serde_json::to_vec(tree)?)
    }

    fn remove(&self, session: SessionId) -> io::Result<()> {
        match fs::remove_file(self.0.join(session.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// All there are. One that nobody can read is told and left: what it was about is not known.
    fn all(&self) -> Vec<(SessionId, NewTree)> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let read = |entry: fs::DirEntry| {
            let session = entry.file_name().to_str()?.parse::<SessionId>().ok()?;
            let read = fs::read(entry.path()).and_then(|text| Ok(serde_json::from_slice(&text)?));
            match read {
                Ok(tree) => Some((session, tree)),
                Err(error) => {
                    tracing::warn!(%error, %session, "the note of a task's tree cannot be read");
                    None
                }
            }
        };
        entries.filter_map(read).collect()
    }
}

/// Makes a tree, and a workspace of it: with the policy of its home, and trusted if that is.
pub(super) async fn make(
    engine: &Engine,
    home: &Workspace,
    session: SessionId,
    new: &NewTree,
) -> Result<Workspace, TaskError> {
    let repository = (engine.shared.parts.repositories)(&home.root);
    let (notes, noted) = (engine.shared.desk.trees.clone(), new.clone());
    let noted = blocking(move || notes.add(session, &noted)).await;
    noted.map_err(|error| EngineError::Tasks(error.to_string()))?;
    if let Err(error) = repository.begin_tree(new.tree.clone(), new.branch.clone(), new.base.clone()).await {
        // It takes back itself what it began; a branch that came in between is somebody's own.
        settled(engine, session).await;
        return Err(error.into());
    }
    let adopted = adopt(engine, home, new.root.clone(), TaskId::of(session)).await;
    if adopted.is_err() {
        take_back(engine, session, new).await;
    }
    adopted
}

/// The task is in its journal, which tells of its tree from here on.
pub(super) async fn settled(engine: &Engine, session: SessionId) {
    let notes = engine.shared.desk.trees.clone();
    if let Err(error) = blocking(move || notes.remove(session)).await {
        // It is looked at again by the next start, which finds the session.
        tracing::warn!(%error, %session, "the note of a task's tree stays");
    }
}

/// Takes away what was made for a task that does not come to be.
pub(super) async fn take_back(engine: &Engine, session: SessionId, new: &NewTree) {
    match remove(engine, new).await {
        Ok(()) => settled(engine, session).await,
        Err(error) => {
            tracing::warn!(%error, tree = %new.tree.display(), "the tree of a task that did not begin is left");
        }
    }
}

/// Takes away what a crash left of tasks that did not come to be. Nobody else may be starting one.
pub(super) async fn clear(engine: &Engine) {
    let notes = engine.shared.desk.trees.clone();
    for (session, new) in blocking(move || notes.all()).await {
        match engine.shared.parts.store.session(session).await {
            Ok(_) => settled(engine, session).await,
            Err(StoreError::NoSuchSession(_)) => take_back(engine, session, &new).await,
            Err(error) => tracing::warn!(%error, %session, "whether a task began cannot be told"),
        }
    }
}

async fn remove(engine: &Engine, new: &NewTree) -> Result<(), TaskError> {
    let repository = (engine.shared.parts.repositories)(&new.home);
    forget(engine, &new.root).await?;
    // Nobody has worked in it; and one that git was killed while making looks changed.
    repository.drop_tree(new.tree.clone(), true).await?;
    if repository.newest(new.branch.clone()).await?.is_some_and(|found| found.0 == new.from) {
        repository.drop_branch(new.branch.clone()).await?;
    }
    Ok(())
}

/// Trusts a workspace in a tree that goes no more, and takes it off the list unless a session tells of it.
pub(super) async fn forget(engine: &Engine, root: &Path) -> Result<(), TaskError> {
    let (shared, gone) = (Arc::clone(&engine.shared), root.to_owned());
    // While it is there: it is known by its real path.
    let gone = blocking(move || -> Result<PathBuf, EngineError> {
        shared.trust.distrust(&gone)?;
        Ok(gone.canonicalize().unwrap_or(gone))
    });
    let gone = gone.await?;
    let known = engine.workspaces().await?.into_iter().find(|workspace| workspace.root == gone);
    if let Some(workspace) = known {
        engine.shared.parts.store.forget_workspace(workspace.id).await?;
    }
    Ok(())
}

async fn adopt(engine: &Engine, home: &Workspace, root: PathBuf, id: TaskId) -> Result<Workspace, TaskError> {
    let workspace = engine.register_workspace(&root, Some(format!("{} {id}", home.name))).await?;
    let (shared, from, to) = (Arc::clone(&engine.shared), home.clone(), workspace.clone());
    blocking(move || as_at_home(&shared, &from, &to)).await?;
    Ok(workspace)
}

fn as_at_home(shared: &Shared, home: &Workspace, own: &Workspace) -> Result<(), EngineError> {
    let policy = shared.policies.get(home.id)?;
    let current = shared.policies.get(own.id)?;
    shared.policies.set(own.id, loggia_domain::Policy::clone(&policy), current.revision)?;
    // A loan is for one run, and the tree stays.
    if shared.trust.is_trusted_for_good(&home.root) {
        shared.trust.trust(&own.root)?;
    }
    Ok(())
}

/// Whether a branch is where it was made: nobody's work is on it, and it may be taken for ours.
pub(super) async fn is_untouched(
    repository: &dyn Repository,
    branch: &str,
    from: Option<&Commit>,
) -> Result<bool, RepositoryError> {
    Ok(from.is_some() && repository.newest(branch.to_owned()).await?.as_ref() == from)
}
