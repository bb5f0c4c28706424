//! Merging a branch into another one.
//!
//! The merge itself happens beside the tree, in objects alone. Only when it fits together does the tree go to it.
//!
//! For a merge driver of the user's own git makes files `.merge_file_…` at the tree's root, and leaves them there if it
//! is killed meanwhile. The next merge tells them as changes, by their names.

use loggia_domain::{Commit, Merge, RepositoryError};
use loggia_wire::child::Exit;

use crate::advance;
use crate::words;
use crate::work::Work;

/// What fits into a message.
const MAX_NAMED: usize = 20;

/// Merges a branch into another one in a clean tree, and stays on that one.
pub(crate) async fn merge(work: &Work<'_>, merge: &Merge) -> Result<Commit, RepositoryError> {
    let from = work.branch(&merge.from).await?;
    let into = work.branch(&merge.into).await?;
    let status = work.clean_status().await?;
    let merged = match combine(work, merge, &from, &into).await? {
        None => into.clone(),
        Some(merged) => merged,
    };
    let is_elsewhere = status.branch.as_deref() != Some(&merge.into);
    if is_elsewhere {
        work.go_to(&merge.into).await?;
    }
    if merged == into {
        return Ok(into);
    }
    match advance::move_to(work, &merge.into, &into, &merged).await {
        Ok(()) => Ok(merged),
        Err(error) => {
            if is_elsewhere {
                go_back(work, status.branch.as_deref(), status.commit.as_ref()).await;
            }
            Err(error)
        }
    }
}

/// Makes the commit; nothing if there is nothing to merge.
async fn combine(
    work: &Work<'_>,
    merge: &Merge,
    from: &Commit,
    into: &Commit,
) -> Result<Option<Commit>, RepositoryError> {
    let is_merged =
        work.ask(&["merge-base", "--is-ancestor", &from.0, &into.0]).line_if_any().await?.is_some();
    if is_merged {
        return Ok(None);
    }
    let asking =
        work.change(&["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &into.0, &from.0]);
    let silenced = asking.silenced();
    let said = asking.said().await?;
    let mut pieces = said.output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let tree = pieces.next().unwrap_or_default().into_owned();
    match said.exit {
        Exit::Code(0) => {}
        Exit::Code(1) if said.complaint.is_empty() || !tree.is_empty() => {
            return Err(RepositoryError::Conflict(named(pieces)));
        }
        _ => return Err(words::failure(&said, silenced)),
    }
    if merge.squash && work.tree_of(into).await? == tree {
        return Ok(None);
    }
    let parents = if merge.squash { vec![into.clone()] } else { vec![into.clone(), from.clone()] };
    work.commit(&tree, &parents, &merge.message).await.map(Some)
}

/// Paths, in words.
fn named<'a>(paths: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> String {
    let paths: Vec<_> = paths.filter(|path| !path.is_empty()).collect();
    let shown: Vec<String> =
        paths.iter().take(MAX_NAMED).map(|path| format!("`{}`", path.escape_debug())).collect();
    let rest = paths.len().saturating_sub(MAX_NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("both changed {}{more}", shown.join(", "))
}

/// Puts the tree back to where it was. What stands in the way of that is told in the log: the first error counts.
async fn go_back(work: &Work<'_>, branch: Option<&str>, commit: Option<&Commit>) {
    let back = match (branch, commit) {
        (Some(branch), _) => work.go_to(branch).await,
        (None, Some(commit)) => work.go_to_commit(commit).await,
        (None, None) => Ok(()),
    };
    if let Err(error) = back {
        tracing::warn!(%error, "a tree cannot go back to where it was before a merge");
    }
}
