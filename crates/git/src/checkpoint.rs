//! Checkpoints: a commit of all there is, with a mark on it.

use loggia_domain::{Commit, RepositoryError};

use crate::refs::{branch_ref, mark_ref};
use crate::status::{ChangeKind, Status};
use crate::work::{Work, too_much};

/// Commits everything that changed, and marks the commit.
///
/// A crash before the last step leaves changes that the index has and no commit; the next checkpoint takes them along.
pub(crate) async fn make(work: &Work<'_>, message: &str, mark: &str) -> Result<Commit, RepositoryError> {
    work.check_mark_name(mark).await?;
    work.place.refuse_unfinished()?;
    let status = work.status().await?;
    let unmerged: Vec<_> = status.of_kind(ChangeKind::Unmerged).map(String::from_utf8_lossy).collect();
    if !unmerged.is_empty() {
        let unmerged = unmerged.join("`, `");
        return Err(RepositoryError::Failed(format!("a merge is not finished: `{unmerged}` has conflicts")));
    }
    let marked = work.commit_at(&mark_ref(mark)).await?;
    let commit = commit_all(work, &status, message).await?;
    let mut steps = String::new();
    let is_new = status.commit.as_ref() != Some(&commit);
    if is_new {
        steps = step_to(&status, &commit);
    }
    match marked {
        None => steps += &format!("create {}\0{}\0", mark_ref(mark), commit.0),
        Some(marked) if marked == commit => {}
        Some(marked) => {
            return Err(RepositoryError::Failed(format!("the mark `{mark}` is at {} already", marked.0)));
        }
    }
    if steps.is_empty() {
        return Ok(commit);
    }
    let end = work.change_refs(&format!("loggia: checkpoint {mark}"), &steps).await;
    match (end, &status.branch) {
        (Ok(()), _) => Ok(commit),
        (Err(RepositoryError::Failed(why)), Some(branch)) if is_new && why.contains("but expected") => {
            Err(RepositoryError::Moved { branch: branch.clone(), found: why })
        }
        (Err(error), _) => Err(error),
    }
}

/// Puts what the tree is on to a commit, from where it is.
fn step_to(status: &Status, to: &Commit) -> String {
    let (option, name) = match &status.branch {
        Some(branch) => (String::new(), branch_ref(branch)),
        None => ("option no-deref\0".to_owned(), "HEAD".to_owned()),
    };
    match &status.commit {
        Some(from) => format!("{option}update {name}\0{}\0{}\0", to.0, from.0),
        None => format!("{option}create {name}\0{}\0", to.0),
    }
}

/// A commit of all there is: a new one, or the newest if nothing changed.
async fn commit_all(work: &Work<'_>, status: &Status, message: &str) -> Result<Commit, RepositoryError> {
    if status.changes.is_empty() {
        return status.commit.clone().ok_or(RepositoryError::Empty);
    }
    if status.is_cut {
        return Err(too_much());
    }
    stage(work, status).await?;
    let tree = work.change(&["write-tree"]).line().await?;
    if let Some(commit) = &status.commit
        && work.tree_of(commit).await? == tree
    {
        // Changed, staged and changed back.
        return Ok(commit.clone());
    }
    work.commit(&tree, status.commit.as_slice(), message).await
}

/// Has the index hold what the tree holds.
///
/// Path by path, since what would do it in one go also starts a git in every submodule. What is gone comes first: it
/// may be in the way of what is new.
async fn stage(work: &Work<'_>, status: &Status) -> Result<(), RepositoryError> {
    let steps = [
        (ChangeKind::Gone, &["update-index", "-z", "--force-remove", "--stdin"][..]),
        (ChangeKind::Present, &["update-index", "-z", "--add", "--remove", "--replace", "--stdin"][..]),
    ];
    for (kind, arguments) in steps {
        let mut paths = Vec::new();
        for path in status.of_kind(kind) {
            paths.extend_from_slice(path);
            paths.push(0);
        }
        if !paths.is_empty() {
            work.change(arguments).input(paths).whole().await?;
        }
    }
    Ok(())
}

/// Takes marks away.
pub(crate) async fn unmark(work: &Work<'_>, marks: &[String]) -> Result<(), RepositoryError> {
    let mut steps = String::new();
    for mark in marks {
        if mark.contains(['\0', '\n']) {
            return Err(RepositoryError::Failed(format!("`{}` is no name for a mark", mark.escape_debug())));
        }
        steps += &format!("delete {}\0\0", mark_ref(mark));
    }
    if steps.is_empty() { Ok(()) } else { work.change_refs("loggia: unmark", &steps).await }
}

impl Work<'_> {
    /// What a commit holds.
    pub(crate) async fn tree_of(&self, commit: &Commit) -> Result<String, RepositoryError> {
        self.ask(&["rev-parse", "--verify", &format!("{}^{{tree}}", commit.0)]).line().await
    }

    /// Makes a commit that nothing leads to yet.
    pub(crate) async fn commit(
        &self,
        tree: &str,
        parents: &[Commit],
        message: &str,
    ) -> Result<Commit, RepositoryError> {
        let mut arguments = vec!["commit-tree", "-F", "-"];
        if self.config.signs() {
            arguments.push("-S");
        }
        for parent in parents {
            arguments.extend(["-p", &parent.0]);
        }
        arguments.push(tree);
        let mut message = message.trim_end().to_owned();
        message.push('\n');
        self.change(&arguments).input(message).line().await.map(Commit)
    }
}
