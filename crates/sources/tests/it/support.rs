//! A workspace, what lies beside it, and the providers of it.

use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{GuestError, TaskProvider, WorkItem};
use loggia_sources::{Reach, built_in};
use tempfile::TempDir;

/// A workspace and what lies beside it.
pub(crate) struct Scene {
    _directory: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let [root, outside] = ["work", "outside"].map(|name| base.join(name));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&outside).unwrap();
        Self { _directory: directory, root, outside }
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn providers(&self, reach: Reach) -> Vec<Arc<dyn TaskProvider>> {
        built_in(&self.root, reach)
    }

    pub(crate) fn provider(&self, name: &str) -> Arc<dyn TaskProvider> {
        self.providers(Reach::Workspace).into_iter().find(|provider| provider.name() == name).unwrap()
    }

    /// Who claims a reference, by name; the first one is asked.
    pub(crate) async fn claimed(&self, reference: &str) -> Vec<String> {
        let mut names = Vec::new();
        for provider in self.providers(Reach::Workspace) {
            if provider.claims(reference.to_owned()).await.unwrap() {
                names.push(provider.name());
            }
        }
        names
    }

    /// What a reference means to a provider.
    pub(crate) async fn fetch(&self, provider: &str, reference: &str) -> Result<WorkItem, GuestError> {
        let provider = self.provider(provider);
        let key = provider.resolve(reference.to_owned()).await?;
        provider.fetch(key).await
    }
}
