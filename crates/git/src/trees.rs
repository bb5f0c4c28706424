//! Working trees beside the main one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use loggia_domain::{Commit, RepositoryError};

use crate::branches::taken;
use crate::refs::branch_ref;
use crate::repository::Parts;
use crate::work::{Work, path};

/// Makes a branch at the base's newest commit and a working tree for it.
pub(crate) async fn begin(
    work: &Work<'_>,
    tree: &Path,
    branch: &str,
    base: &str,
) -> Result<(), RepositoryError> {
    if !tree.is_absolute() {
        let tree = tree.display();
        return Err(RepositoryError::Failed(format!("`{tree}` is no absolute path for a working tree")));
    }
    work.check_new(branch).await?;
    let commit = work.base_commit(base).await?;
    let options = ["worktree", "add", "--quiet", "--no-track", "--no-guess-remote", "-b", branch, "--"];
    let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    arguments.extend([tree.as_os_str(), OsStr::new(&commit.0)]);
    let Err(error) = work.change(&arguments).whole().await else { return Ok(()) };
    let error = taken(error, branch);
    if !matches!(error, RepositoryError::BranchExists(_)) {
        take_back(work, branch, &commit).await;
    }
    Err(error)
}

/// Git makes the branch first and leaves it when the tree cannot be made.
async fn take_back(work: &Work<'_>, branch: &str, commit: &Commit) {
    let name = branch_ref(branch);
    if let Ok(Some(found)) = work.commit_at(&name).await
        && found == *commit
        && let Err(error) = work.change(&["update-ref", "-d", &name, &commit.0]).whole().await
    {
        tracing::warn!(%error, "the branch of a working tree that was not made is still there");
    }
}

/// Takes a working tree away.
pub(crate) async fn drop_tree(
    parts: &Parts,
    work: &Work<'_>,
    tree: &Path,
    force: bool,
) -> Result<(), RepositoryError> {
    let all = list(work).await?;
    let wanted = real(tree);
    let Some(place) = all.iter().position(|found| real(found) == wanted) else {
        if tree.symlink_metadata().is_err() {
            return Ok(());
        }
        let tree = tree.display();
        return Err(RepositoryError::Failed(format!("`{tree}` is no working tree of this repository")));
    };
    if place == 0 {
        let tree = tree.display();
        return Err(RepositoryError::Failed(format!("`{tree}` is the main working tree, which stays")));
    }
    if !force && tree.is_dir() {
        Work::open(parts, tree).await?.clean_status().await?;
    }
    // Twice: also one that git was killed while making, which it calls locked.
    let options: &[&str] = if force { &["--force", "--force", "--"] } else { &["--"] };
    let mut arguments: Vec<&OsStr> = ["worktree", "remove"].iter().chain(options).map(OsStr::new).collect();
    arguments.push(all[place].as_os_str());
    match work.change(&arguments).whole().await {
        Ok(_) => Ok(()),
        Err(RepositoryError::Failed(why)) if why.contains("contains modified or untracked files") => {
            Err(RepositoryError::Dirty(Vec::new()))
        }
        Err(error) => Err(error),
    }
}

/// The root of the main working tree; of a repository without one, where it lies itself.
pub(crate) async fn main_tree(work: &Work<'_>) -> Result<PathBuf, RepositoryError> {
    if !work.place.is_linked() {
        return Ok(work.place.top.clone());
    }
    let all = list(work).await?;
    Ok(all.into_iter().next().unwrap_or_else(|| work.place.common.clone()))
}

/// All working trees, the main one first.
async fn list(work: &Work<'_>) -> Result<Vec<PathBuf>, RepositoryError> {
    let listing = work.ask(&["worktree", "list", "--porcelain", "-z"]).whole().await?;
    let pieces = listing.split(|byte| *byte == 0);
    let mut all: Vec<PathBuf> =
        pieces.filter_map(|piece| piece.strip_prefix(b"worktree ")).map(path).collect();
    if !work.place.is_linked()
        && let Some(main) = all.first_mut()
    {
        // Of a submodule git tells where its repository is instead.
        main.clone_from(&work.place.top);
    }
    Ok(all)
}

/// The real path; of what is not there, its directory's with its name.
fn real(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}
