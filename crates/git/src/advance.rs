//! Putting a branch and its clean tree to another commit.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use loggia_domain::{Commit, RepositoryError};

use crate::refs::{branch_ref, checked};
use crate::work::{MAX_TOLD, Work};

/// Puts branch and files of a clean tree to a commit, if the branch is `branch` and at `from`.
///
/// Files come first, as git itself does it. A crash after them leaves the files of `to` in a tree that is at `from`;
/// the same call then goes on from there.
pub(crate) async fn move_to(
    work: &Work<'_>,
    branch: &str,
    from: &Commit,
    to: &Commit,
) -> Result<(), RepositoryError> {
    let (from_name, to_name) = (checked(from)?, checked(to)?);
    if work.commit_at(to_name).await?.as_ref() != Some(to) {
        return Err(RepositoryError::Failed(format!("there is no commit {}", to.0)));
    }
    work.place.refuse_unfinished()?;
    let status = work.status().await?;
    let moved = |found: String| RepositoryError::Moved { branch: branch.to_owned(), found };
    match &status.branch {
        Some(found) if found == branch => {}
        Some(found) => return Err(moved(format!("the tree is on `{found}`"))),
        None => return Err(moved("the tree is on no branch".to_owned())),
    }
    match &status.commit {
        Some(found) if found == from => {}
        Some(found) => return Err(moved(format!("its newest commit is {}, not {from_name}", found.0))),
        None => return Err(moved("it has no commit".to_owned())),
    }
    let is_halfway = !status.changes.is_empty() && holds(work, to).await?;
    if !status.changes.is_empty() && !is_halfway {
        return Err(RepositoryError::Dirty(status.paths(MAX_TOLD)));
    }
    if !is_halfway {
        put_files(work, from, to).await?;
    }
    let name = branch_ref(branch);
    let steps = format!("update {name}\0{to_name}\0{from_name}\0");
    match work.change_refs("loggia: move", &steps).await {
        Err(RepositoryError::Failed(why)) if why.contains("but expected") => {
            put_files(work, to, from).await?;
            Err(moved(why))
        }
        end => end,
    }
}

/// Puts files and index of a clean tree from one commit to another.
async fn put_files(work: &Work<'_>, from: &Commit, to: &Commit) -> Result<(), RepositoryError> {
    let in_the_way = in_the_way(work, from, to).await?;
    if !in_the_way.is_empty() {
        return Err(RepositoryError::Dirty(in_the_way));
    }
    let arguments = ["read-tree", "-m", "-u", "--no-recurse-submodules", &from.0, &to.0];
    work.change(&arguments).whole().await?;
    Ok(())
}

/// Whether index and files are those of a commit, with nothing besides.
async fn holds(work: &Work<'_>, commit: &Commit) -> Result<bool, RepositoryError> {
    // Unmerged paths make no tree.
    let Ok(tree) = work.change(&["write-tree"]).line().await else { return Ok(false) };
    if work.tree_of(commit).await? != tree {
        return Ok(false);
    }
    let status = work.status().await?;
    Ok(status.changes.iter().all(|change| change.kind == crate::status::ChangeKind::Staged))
}

/// Files that a commit brings, where files are that git does not know. It would overwrite ignored ones.
async fn in_the_way(work: &Work<'_>, from: &Commit, to: &Commit) -> Result<Vec<String>, RepositoryError> {
    let arguments =
        ["diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff", &from.0, &to.0];
    let listing = work.ask(&arguments).whole().await?;
    let mut pieces = listing.split(|byte| *byte == 0);
    let (mut brought, mut taken) = (Vec::new(), Vec::new());
    while let (Some(kind), Some(path)) = (pieces.next(), pieces.next()) {
        match kind {
            b"A" => brought.push(path),
            b"D" => taken.push(path),
            _ => {}
        }
    }
    taken.sort_unstable();
    let found = brought.iter().filter_map(|path| obstacle(&work.place.top, path, &taken));
    let mut found: Vec<String> = found.take(MAX_TOLD).collect();
    found.dedup();
    Ok(found)
}

/// What is at a path, or on the way to it, that git does not know. `taken` are paths that will be gone.
fn obstacle(top: &Path, path: &[u8], taken: &[&[u8]]) -> Option<String> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
    for end in ends.chain([path.len()]) {
        let part = &path[..end];
        let Ok(found) = top.join(std::ffi::OsStr::from_bytes(part)).symlink_metadata() else { return None };
        let is_ours = if found.is_dir() {
            // On the way it is where the file will be; at its place, only what will be gone may be in it.
            let below = [part, b"/"].concat();
            let next = taken.partition_point(|path| *path < below.as_slice());
            end < path.len() || taken.get(next).is_some_and(|path| path.starts_with(&below))
        } else {
            taken.binary_search(&part).is_ok()
        };
        if !is_ours {
            return Some(String::from_utf8_lossy(part).into_owned());
        }
        if !found.is_dir() {
            return None;
        }
    }
    None
}
