//! A repository, as far as tasks need it: branches, working trees, checkpoints.
//!
//! What is asked here changes only what a task owns: its branch, its working tree, its checkpoints. Nothing is ever
//! sent anywhere except by [`Repository::push`], which is only called when somebody asked for it.

use std::path::{Path, PathBuf};

use crate::BoxFuture;

/// A change that somebody made: a hint which files belong to which words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PastChange {
    /// What it was said to be, in one line.
    pub subject: String,
    /// What it changed.
    pub files: Vec<String>,
}

/// The repository of a workspace.
pub trait Repository: Send + Sync + 'static {
    /// How the working tree at `tree` stands.
    fn standing(&self, tree: &Path) -> BoxFuture<'_, Result<Standing, RepositoryError>>;

    /// Where work usually goes to: `main`, `master`, `develop`, else the first branch.
    fn base(&self) -> BoxFuture<'_, Result<String, RepositoryError>>;

    /// The newest commit of a branch of ours; nothing if there is no such branch.
    fn newest(&self, branch: String) -> BoxFuture<'_, Result<Option<Commit>, RepositoryError>>;

    /// The commit at which a branch from this base begins: the base's newest, here or where the repository came from.
    fn beginning(&self, base: String) -> BoxFuture<'_, Result<Commit, RepositoryError>>;

    /// Makes a branch at the base's newest commit and, in `tree`, goes to it. The tree must be clean.
    fn begin_branch(
        &self,
        tree: &Path,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Makes a branch at the base's newest commit and a working tree of its own for it at `tree`.
    fn begin_tree(
        &self,
        tree: PathBuf,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Goes to a branch that exists. The tree must be clean.
    fn switch(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Commits everything that changed or is new and not ignored, marks the commit with `mark`, and says which it is.
    /// Where nothing changed, the newest commit is marked.
    fn checkpoint(
        &self,
        tree: &Path,
        message: String,
        mark: String,
    ) -> BoxFuture<'_, Result<Commit, RepositoryError>>;

    /// Puts branch and files of a clean tree to a commit. The branch must be `branch`, and its newest commit `from`:
    /// nothing that somebody added meanwhile is lost.
    fn move_to(
        &self,
        tree: &Path,
        branch: String,
        from: Commit,
        to: Commit,
    ) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Throws away everything in a tree that no commit holds and that is not ignored. The tree must be on `branch`.
    fn discard(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Takes marks away; those that are not there are none to take away.
    fn unmark(&self, marks: Vec<String>) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// What changed from one commit to another, as a unified diff of at most `limit` bytes.
    fn changes(
        &self,
        from: Commit,
        to: Commit,
        limit: usize,
    ) -> BoxFuture<'_, Result<String, RepositoryError>>;

    /// What the newest commits changed, the latest first. Files are relative to the directory, and none is outside it; those
    /// that a commit took away are left out. Commits that bring two lines of work together do not count, nor do those that
    /// change very many files.
    fn lately(&self, commits: usize) -> BoxFuture<'_, Result<Vec<PastChange>, RepositoryError>>;

    /// Merges a branch into another one in a clean tree and stays on that one; as one commit if `squash`. Leaves
    /// everything as it was if they do not fit together.
    fn merge(&self, tree: &Path, merge: Merge) -> BoxFuture<'_, Result<Commit, RepositoryError>>;

    /// Sends a branch to where its repository came from.
    fn push(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Takes a branch away that no tree is on, whatever it holds.
    fn drop_branch(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Takes a working tree away that [`begin_tree`](Self::begin_tree) made. One with changes that no commit holds
    /// stays, unless `force`.
    fn drop_tree(&self, tree: PathBuf, force: bool) -> BoxFuture<'_, Result<(), RepositoryError>>;

    /// Has something below the workspace's root, such as `.loggia/tasks/`, ignored here and nowhere else.
    fn exclude(&self, pattern: String) -> BoxFuture<'_, Result<(), RepositoryError>>;
}

/// How a working tree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The branch it is on; nothing if it is on none.
    pub branch: Option<String>,
    /// Its newest commit; nothing if there is none yet.
    pub commit: Option<Commit>,
    /// Paths that changed or are new and not ignored, relative to its root; the first thousand. A submodule is one
    /// of them only by its commit, and a repository that just lies in the tree never is.
    pub changed: Vec<String>,
    /// Whether this is a working tree beside the repository's main one.
    pub is_linked: bool,
    /// The root of the repository's main working tree; of a repository without one, where it lies itself.
    pub main: PathBuf,
}

/// A commit, by its full name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Commit(pub String);

/// A branch to be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The branch with the work.
    pub from: String,
    /// The branch it goes to.
    pub into: String,
    /// What the commit says.
    pub message: String,
    /// Whether it becomes one commit.
    pub squash: bool,
}

/// Why a repository did not do what it was asked. It is as it was before, unless the words say that git was killed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// The directory is in none.
    #[error("`{}` is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// There is no program to do it with.
    #[error("git cannot be run: {0}")]
    NoGit(String),
    /// It has no commit to begin with.
    #[error("the repository has no commit yet")]
    Empty,
    /// Somebody's work would be lost or mixed in.
    #[error("the working tree has changes that are not committed")]
    Dirty(Vec<String>),
    /// A branch of that name is there already.
    #[error("the branch `{0}` is there already")]
    BranchExists(String),
    /// There is no such branch.
    #[error("there is no branch `{0}`")]
    NoBranch(String),
    /// The branch is not where it was left.
    #[error("the branch `{branch}` is not where it was left: {found}")]
    Moved {
        /// Which.
        branch: String,
        /// What is there instead, in words.
        found: String,
    },
    /// The two do not fit together.
    #[error("the branches do not fit together: {0}")]
    Conflict(String),
    /// It did not answer in time.
    #[error("git took too long with `{0}`")]
    TimedOut(String),
    /// It says that it failed.
    #[error("git could not do it: {0}")]
    Failed(String),
}
