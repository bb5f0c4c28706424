//! Throwing away what no commit holds, because somebody said so.

use loggia_domain::RepositoryError;

use crate::work::Work;

/// Puts every file of a tree back to its newest commit and removes new ones, if the tree is on `branch`.
///
/// Ignored files stay, and so do repositories that just lie in the tree.
pub(crate) async fn discard(work: &Work<'_>, branch: &str) -> Result<(), RepositoryError> {
    work.place.refuse_unfinished()?;
    let status = work.status().await?;
    if status.branch.as_deref() != Some(branch) {
        let on = status.branch.map_or_else(|| "no branch".to_owned(), |found| format!("`{found}`"));
        let (branch, found) = (branch.to_owned(), format!("the tree is on {on}"));
        return Err(RepositoryError::Moved { branch, found });
    }
    if status.changes.is_empty() {
        return Ok(());
    }
    work.change(&["reset", "--hard", "--quiet", "--no-recurse-submodules"]).whole().await?;
    work.change(&["clean", "--quiet", "--force", "-d"]).whole().await.map(drop)
}
