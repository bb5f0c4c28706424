//! Beginning branches, going to them, taking them away.

use loggia_domain::{Commit, RepositoryError};

use crate::refs::branch_ref;
use crate::work::Work;

/// What going somewhere never does: guess, follow, overwrite, or touch submodules.
const GO: [&str; 5] = ["switch", "--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules"];

/// Makes a branch at the base's newest commit and goes to it.
pub(crate) async fn begin(work: &Work<'_>, branch: &str, base: &str) -> Result<(), RepositoryError> {
    work.check_new(branch).await?;
    let commit = work.base_commit(base).await?;
    work.clean_status().await?;
    let arguments = [&GO[..], &["--no-track", "-c", branch, &commit.0]].concat();
    work.change(&arguments).whole().await.map(drop).map_err(|error| taken(error, branch))
}

/// Goes to a branch that exists.
pub(crate) async fn switch(work: &Work<'_>, branch: &str) -> Result<(), RepositoryError> {
    work.branch(branch).await?;
    work.clean_status().await?;
    work.go_to(branch).await
}

/// Takes a branch away that no tree is on.
pub(crate) async fn drop_branch(work: &Work<'_>, branch: &str) -> Result<(), RepositoryError> {
    work.branch(branch).await?;
    work.change(&["branch", "--quiet", "-D", "--", branch]).whole().await.map(drop)
}

/// Somebody else may have made it meanwhile.
pub(crate) fn taken(error: RepositoryError, branch: &str) -> RepositoryError {
    match error {
        RepositoryError::Failed(why) if why.contains("already exists") && why.contains("branch") => {
            RepositoryError::BranchExists(branch.to_owned())
        }
        error => error,
    }
}

impl Work<'_> {
    /// Refuses a branch that is there, or that cannot be.
    pub(crate) async fn check_new(&self, branch: &str) -> Result<(), RepositoryError> {
        self.check_branch_name(branch).await?;
        match self.commit_at(&branch_ref(branch)).await? {
            None => Ok(()),
            Some(_) => Err(RepositoryError::BranchExists(branch.to_owned())),
        }
    }

    /// Goes to a branch that is there.
    pub(crate) async fn go_to(&self, branch: &str) -> Result<(), RepositoryError> {
        self.change(&[&GO[..], &[branch]].concat()).whole().await.map(drop)
    }

    /// Goes to a commit, without a branch.
    pub(crate) async fn go_to_commit(&self, commit: &Commit) -> Result<(), RepositoryError> {
        self.change(&[&GO[..], &["--detach", &commit.0]].concat()).whole().await.map(drop)
    }
}
