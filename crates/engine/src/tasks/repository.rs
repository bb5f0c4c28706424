//! The repository of a directory that is in none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{BoxFuture, Commit, Merge, PastChange, Repository, RepositoryError, Standing};

use crate::parts::RepositoryFinder;

/// Says of everything that there is no repository.
#[derive(Debug, Clone)]
pub struct NoRepository(PathBuf);

impl NoRepository {
    /// Finds no repository anywhere, for engines that have nothing to run git with.
    pub fn finder() -> RepositoryFinder {
        Arc::new(|path| Arc::new(Self(path.to_owned())))
    }

    fn none<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T, RepositoryError>> {
        Box::pin(std::future::ready(Err(RepositoryError::NoRepository(self.0.clone()))))
    }
}

impl Repository for NoRepository {
    fn standing(&self, _: &Path) -> BoxFuture<'_, Result<Standing, RepositoryError>> {
        self.none()
    }

    fn base(&self) -> BoxFuture<'_, Result<String, RepositoryError>> {
        self.none()
    }

    fn newest(&self, _: String) -> BoxFuture<'_, Result<Option<Commit>, RepositoryError>> {
        self.none()
    }

    fn beginning(&self, _: String) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        self.none()
    }

    fn begin_branch(&self, _: &Path, _: String, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn begin_tree(&self, _: PathBuf, _: String, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn switch(&self, _: &Path, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn checkpoint(&self, _: &Path, _: String, _: String) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        self.none()
    }

    fn move_to(
        &self,
        _: &Path,
        _: String,
        _: Commit,
        _: Commit,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn discard(&self, _: &Path, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn unmark(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn changes(&self, _: Commit, _: Commit, _: usize) -> BoxFuture<'_, Result<String, RepositoryError>> {
        self.none()
    }

    fn lately(&self, _: usize) -> BoxFuture<'_, Result<Vec<PastChange>, RepositoryError>> {
        self.none()
    }

    fn merge(&self, _: &Path, _: Merge) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        self.none()
    }

    fn push(&self, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn drop_branch(&self, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn drop_tree(&self, _: PathBuf, _: bool) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }

    fn exclude(&self, _: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        self.none()
    }
}
