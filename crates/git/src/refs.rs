//! Names of branches, marks and commits, and where they are.
//!
//! What always holds: whatever is handed to git as a name was looked at first. None begins like an option, and
//! branches and marks are always called by their full names, so that one is never taken for the other.

use loggia_domain::{Commit, RepositoryError};

use crate::work::{Work, lines};

/// Where branches, marks and what a remote has are.
pub(crate) const BRANCHES: &str = "refs/heads/";
const MARKS: &str = "refs/tags/";
const REMOTE_BRANCHES: &str = "refs/remotes/origin/";

/// Where work usually goes to, best first.
const USUAL_BASES: [&str; 3] = ["main", "master", "develop"];

/// A mark's full name.
pub(crate) fn mark_ref(mark: &str) -> String {
    format!("{MARKS}{mark}")
}

/// A branch's full name.
pub(crate) fn branch_ref(branch: &str) -> String {
    format!("{BRANCHES}{branch}")
}

/// A commit's name as git wants it: nothing but digits.
pub(crate) fn checked(commit: &Commit) -> Result<&str, RepositoryError> {
    // Of either kind of hash.
    let is_name = matches!(commit.0.len(), 40 | 64) && commit.0.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_name {
        Ok(&commit.0)
    } else {
        Err(RepositoryError::Failed(format!("`{}` names no commit", commit.0)))
    }
}

impl Work<'_> {
    /// Whether git takes such a name.
    async fn takes(&self, name: &str) -> Result<bool, RepositoryError> {
        if name.contains(['\0', '\n']) {
            return Ok(false);
        }
        Ok(self.ask(&["check-ref-format", name]).line_if_any().await?.is_some())
    }

    /// Refuses a name that no branch can have.
    pub(crate) async fn check_branch_name(&self, branch: &str) -> Result<(), RepositoryError> {
        let is_odd = branch.starts_with('-') || branch == "HEAD";
        if is_odd || !self.takes(&branch_ref(branch)).await? {
            return Err(RepositoryError::Failed(format!(
                "`{}` is no name for a branch; `git help check-ref-format` says what is",
                branch.escape_debug()
            )));
        }
        Ok(())
    }

    /// Refuses a name that no mark can have.
    pub(crate) async fn check_mark_name(&self, mark: &str) -> Result<(), RepositoryError> {
        if mark.starts_with('-') || !self.takes(&mark_ref(mark)).await? {
            return Err(RepositoryError::Failed(format!("`{}` is no name for a mark", mark.escape_debug())));
        }
        Ok(())
    }

    /// The commit that a full name stands for.
    pub(crate) async fn commit_at(&self, name: &str) -> Result<Option<Commit>, RepositoryError> {
        let wanted = format!("{name}^{{commit}}");
        Ok(self.ask(&["rev-parse", "--verify", "--quiet", &wanted]).line_if_any().await?.map(Commit))
    }

    /// A branch's newest commit.
    pub(crate) async fn branch(&self, branch: &str) -> Result<Commit, RepositoryError> {
        let no_branch = || RepositoryError::NoBranch(branch.to_owned());
        if branch.starts_with('-') || !self.takes(&branch_ref(branch)).await? {
            return Err(no_branch());
        }
        self.commit_at(&branch_ref(branch)).await?.ok_or_else(no_branch)
    }

    /// The newest commit of a branch that work begins at: ours, or the one of where the repository came from.
    pub(crate) async fn base_commit(&self, base: &str) -> Result<Commit, RepositoryError> {
        match self.branch(base).await {
            Err(RepositoryError::NoBranch(_)) => {}
            found => return found,
        }
        let no_branch = RepositoryError::NoBranch(base.to_owned());
        let remote = format!("{REMOTE_BRANCHES}{base}");
        if !self.takes(&remote).await? {
            return Err(no_branch);
        }
        if let Some(commit) = self.commit_at(&remote).await? {
            return Ok(commit);
        }
        let is_empty = self.commit_at("HEAD").await?.is_none() && self.all_branches().await?.is_empty();
        Err(if is_empty { RepositoryError::Empty } else { no_branch })
    }

    /// Where work usually goes to.
    pub(crate) async fn usual_base(&self) -> Result<String, RepositoryError> {
        let all = self.all_branches().await?;
        let of = |prefix: &str| -> Vec<String> {
            all.iter().filter_map(|name| name.strip_prefix(prefix)).map(str::to_owned).collect()
        };
        let ours = of(BRANCHES);
        let theirs: Vec<String> = of(REMOTE_BRANCHES).into_iter().filter(|name| name != "HEAD").collect();
        let usual = |names: &[String]| {
            USUAL_BASES
                .iter()
                .find(|base| names.iter().any(|name| name == *base))
                .map(|base| (*base).to_owned())
        };
        let found = usual(&ours).or_else(|| usual(&theirs));
        found.or_else(|| ours.into_iter().chain(theirs).next()).ok_or(RepositoryError::Empty)
    }

    async fn all_branches(&self) -> Result<Vec<String>, RepositoryError> {
        let arguments = ["for-each-ref", "--format=%(refname)", BRANCHES, REMOTE_BRANCHES];
        let listing = self.ask(&arguments).whole().await?;
        let names = lines(&listing).filter(|line| !line.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Changes refs together or not at all. `steps` is what `git update-ref -z --stdin` reads.
    pub(crate) async fn change_refs(&self, why: &str, steps: &str) -> Result<(), RepositoryError> {
        let input = format!("start\0{steps}prepare\0commit\0");
        self.change(&["update-ref", "-m", why, "-z", "--stdin"]).input(input).whole().await?;
        Ok(())
    }
}
