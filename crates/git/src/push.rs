//! Sending one branch to where its repository came from.

use std::path::PathBuf;

use loggia_domain::RepositoryError;

use crate::refs::branch_ref;
use crate::work::{Work, lines, path};

/// Where repositories come from, by git's own custom.
const REMOTE: &str = "origin";

/// Sends a branch, and nothing else, without force.
pub(crate) async fn push(work: &Work<'_>, branch: &str) -> Result<(), RepositoryError> {
    work.branch(branch).await?;
    if !work.config.has_remote(REMOTE) {
        return Err(RepositoryError::Failed(format!(
            "the repository has no remote `{REMOTE}` to send to; add one with `git remote add {REMOTE} URL`"
        )));
    }
    refuse_own_directories(work).await?;
    let name = branch_ref(branch);
    let refspec = format!("{name}:{name}");
    let arguments = [
        "push",
        "--porcelain",
        "--no-verify",
        "--no-follow-tags",
        "--no-signed",
        "--recurse-submodules=no",
        "--receive-pack=git-receive-pack",
        "--",
        REMOTE,
        &refspec,
    ];
    match work.send(&arguments).whole().await {
        Ok(_) => Ok(()),
        Err(RepositoryError::Failed(why)) if why.contains("failed to push some refs") => {
            Err(RepositoryError::Failed(format!(
                "{why}; the remote refused the branch: it may have commits there that are not here"
            )))
        }
        Err(error) => Err(error),
    }
}

/// A remote that came with the repository brings its own hooks, which would run here.
async fn refuse_own_directories(work: &Work<'_>) -> Result<(), RepositoryError> {
    let urls = work.ask(&["remote", "get-url", "--push", "--all", REMOTE]).whole().await?;
    for url in lines(&urls) {
        let local = url.strip_prefix(b"file://").unwrap_or(url);
        let directory: PathBuf = work.place.top.join(path(local));
        let Ok(real) = directory.canonicalize() else { continue };
        if real.starts_with(&work.place.top) || real.starts_with(&work.place.common) {
            return Err(RepositoryError::Failed(format!(
                "the remote `{REMOTE}` is `{}`, which is a part of the repository itself",
                real.display()
            )));
        }
    }
    Ok(())
}
