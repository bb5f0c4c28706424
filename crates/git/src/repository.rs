//! The repository of a workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{BoxFuture, Commit, Merge, PastChange, Repository, RepositoryError, Standing};
use loggia_wire::child::Keeper;

use crate::settings::{Program, Settings};
use crate::work::{MAX_TOLD, Work};
use crate::{advance, branches, changes, checkpoint, discard, exclude, lately, merge, push, trees};

/// The user's git.
#[derive(Debug, Clone)]
pub struct Git(Arc<Parts>);

/// What every call needs.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) keeper: Keeper,
    pub(crate) settings: Settings,
    pub(crate) program: Program,
}

impl Git {
    /// A git that is started through this keeper. It is looked for in the `PATH` of the settings.
    pub fn new(keeper: Keeper, settings: Settings) -> Self {
        let program = Program::find(&settings.environment);
        Self(Arc::new(Parts { keeper, settings, program }))
    }

    /// The repository that a directory is in. Whether it is in one shows when it is asked something.
    pub fn repository(&self, directory: &Path) -> GitRepository {
        GitRepository { git: self.clone(), directory: directory.to_owned() }
    }
}

/// The repository that a directory is in.
#[derive(Debug, Clone)]
pub struct GitRepository {
    git: Git,
    directory: PathBuf,
}

impl GitRepository {
    /// Git in the tree of the directory.
    async fn here(&self) -> Result<Work<'_>, RepositoryError> {
        self.at(&self.directory).await
    }

    /// Git in a tree.
    async fn at(&self, tree: &Path) -> Result<Work<'_>, RepositoryError> {
        Work::open(&self.git.0, tree).await
    }

    async fn look_at(&self, tree: &Path) -> Result<Standing, RepositoryError> {
        let work = self.at(tree).await?;
        let status = work.status().await?;
        let main = trees::main_tree(&work).await?;
        let changed = status.paths(MAX_TOLD);
        let is_linked = work.place.is_linked();
        Ok(Standing { branch: status.branch, commit: status.commit, changed, is_linked, main })
    }
}

impl Repository for GitRepository {
    fn standing(&self, tree: &Path) -> BoxFuture<'_, Result<Standing, RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { self.look_at(&tree).await })
    }

    fn base(&self) -> BoxFuture<'_, Result<String, RepositoryError>> {
        Box::pin(async move { self.here().await?.usual_base().await })
    }

    fn newest(&self, branch: String) -> BoxFuture<'_, Result<Option<Commit>, RepositoryError>> {
        Box::pin(async move {
            match self.here().await?.branch(&branch).await {
                Err(RepositoryError::NoBranch(_)) => Ok(None),
                found => found.map(Some),
            }
        })
    }

    fn beginning(&self, base: String) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        Box::pin(async move { self.here().await?.base_commit(&base).await })
    }

    fn begin_branch(
        &self,
        tree: &Path,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { branches::begin(&self.at(&tree).await?, &branch, &base).await })
    }

    fn begin_tree(
        &self,
        tree: PathBuf,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        Box::pin(async move { trees::begin(&self.here().await?, &tree, &branch, &base).await })
    }

    fn switch(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { branches::switch(&self.at(&tree).await?, &branch).await })
    }

    fn checkpoint(
        &self,
        tree: &Path,
        message: String,
        mark: String,
    ) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { checkpoint::make(&self.at(&tree).await?, &message, &mark).await })
    }

    fn move_to(
        &self,
        tree: &Path,
        branch: String,
        from: Commit,
        to: Commit,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { advance::move_to(&self.at(&tree).await?, &branch, &from, &to).await })
    }

    fn discard(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { discard::discard(&self.at(&tree).await?, &branch).await })
    }

    fn unmark(&self, marks: Vec<String>) -> BoxFuture<'_, Result<(), RepositoryError>> {
        Box::pin(async move { checkpoint::unmark(&self.here().await?, &marks).await })
    }

    fn changes(
        &self,
        from: Commit,
        to: Commit,
        limit: usize,
    ) -> BoxFuture<'_, Result<String, RepositoryError>> {
        Box::pin(async move { changes::between(&self.here().await?, &from, &to, limit).await })
    }

    fn lately(&self, commits: usize) -> BoxFuture<'_, Result<Vec<PastChange>, RepositoryError>> {
        Box::pin(async move { lately::changed(&self.here().await?, commits).await })
    }

    fn merge(&self, tree: &Path, merge: Merge) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        let tree = tree.to_owned();
        Box::pin(async move { merge::merge(&self.at(&tree).await?, &merge).await })
    }

    fn push(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        Box::pin(async move { push::push(&self.here().await?, &branch).await })
    }

    fn drop_branch(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        Box::pin(async move { branches::drop_branch(&self.here().await?, &branch).await })
    }

    fn drop_tree(&self, tree: PathBuf, force: bool) -> BoxFuture<'_, Result<(), RepositoryError>> {
        Box::pin(async move { trees::drop_tree(&self.git.0, &self.here().await?, &tree, force).await })
    }

    fn exclude(&self, pattern: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        // One small file is read and written: less than handing it to another thread and back.
        Box::pin(async move { exclude::exclude(&self.here().await?.place, &pattern) })
    }
}
