//! What the providers have in common: files are read on a thread that may wait, and the rest is refused.

use std::sync::Arc;

use loggia_domain::{
    BoxFuture, GuestError, Page, Proposal, Proposed, ProviderAbility, TaskProvider, WorkItem, WorkQuery,
};

/// A place that tasks come from. Its methods may wait for the disk.
pub(crate) trait Source: Send + Sync + 'static {
    const NAME: &'static str;
    const SCHEME: &'static str;
    const PRIORITY: i64;
    /// Whether it can list items.
    const LISTS: bool = false;

    /// Whether a reference without a scheme is one of its own.
    fn claims(&self, reference: &str) -> bool;

    /// The key of what follows the scheme.
    fn resolve(&self, rest: &str) -> Result<String, GuestError>;

    fn fetch(&self, key: &str) -> Result<WorkItem, GuestError>;

    fn snapshot(&self, key: &str) -> Result<String, GuestError>;

    fn list(&self, _query: &WorkQuery) -> Result<Page<WorkItem>, GuestError> {
        Err(unable::<Self>("list tasks"))
    }
}

/// A source as a provider.
#[derive(Debug)]
pub(crate) struct BuiltIn<S>(Arc<S>);

impl<S: Source> BuiltIn<S> {
    pub(crate) fn provider(source: S) -> Arc<dyn TaskProvider> {
        Arc::new(Self(Arc::new(source)))
    }

    /// Does something that may wait for the disk.
    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&S) -> Result<T, GuestError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, GuestError>> {
        let source = self.0.clone();
        Box::pin(async move {
            let end = tokio::task::spawn_blocking(move || work(&source)).await;
            end.unwrap_or_else(|error| Err(GuestError::Failed(format!("`{}`: {error}", S::NAME))))
        })
    }

    fn unable<T: Send + 'static>(&self, what: &str) -> BoxFuture<'_, Result<T, GuestError>> {
        Box::pin(std::future::ready(Err(unable::<S>(what))))
    }
}

fn unable<S: Source + ?Sized>(what: &str) -> GuestError {
    GuestError::Unsupported(format!("tasks from `{}` cannot {what}", S::NAME))
}

/// What follows the scheme; nothing if it has another one or none.
fn after_scheme<S: Source>(reference: &str) -> Option<&str> {
    reference.strip_prefix(S::SCHEME)?.strip_prefix(':')
}

impl<S: Source> TaskProvider for BuiltIn<S> {
    fn name(&self) -> String {
        S::NAME.to_owned()
    }

    fn schemes(&self) -> Vec<String> {
        vec![S::SCHEME.to_owned()]
    }

    fn priority(&self) -> i64 {
        S::PRIORITY
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        ability == ProviderAbility::Snapshot || (S::LISTS && ability == ProviderAbility::List)
    }

    fn claims(&self, reference: String) -> BoxFuture<'_, Result<bool, GuestError>> {
        self.work(move |source| Ok(after_scheme::<S>(&reference).is_some() || source.claims(&reference)))
    }

    fn resolve(&self, reference: String) -> BoxFuture<'_, Result<String, GuestError>> {
        self.work(move |source| source.resolve(after_scheme::<S>(&reference).unwrap_or(&reference)))
    }

    fn fetch(&self, key: String) -> BoxFuture<'_, Result<WorkItem, GuestError>> {
        self.work(move |source| source.fetch(&key))
    }

    fn snapshot(&self, key: String) -> BoxFuture<'_, Result<String, GuestError>> {
        self.work(move |source| source.snapshot(&key))
    }

    fn list(&self, query: WorkQuery) -> BoxFuture<'_, Result<Page<WorkItem>, GuestError>> {
        self.work(move |source| source.list(&query))
    }

    fn set_status(&self, _key: String, _status: String) -> BoxFuture<'_, Result<(), GuestError>> {
        self.unable("be moved to another status")
    }

    fn comments(&self, _key: String) -> BoxFuture<'_, Result<Vec<(String, String)>, GuestError>> {
        self.unable("be commented on")
    }

    fn comment(&self, _key: String, _text: String) -> BoxFuture<'_, Result<(), GuestError>> {
        self.unable("be commented on")
    }

    fn set_tags(&self, _key: String, _tags: Vec<String>, _on: bool) -> BoxFuture<'_, Result<(), GuestError>> {
        self.unable("be marked")
    }

    fn branch(&self, _key: String) -> BoxFuture<'_, Result<Option<String>, GuestError>> {
        self.unable("be tied to branches")
    }

    fn set_branch(
        &self,
        _key: String,
        _branch: String,
        _tied: bool,
    ) -> BoxFuture<'_, Result<(), GuestError>> {
        self.unable("be tied to branches")
    }

    fn propose(&self, _proposal: Proposal) -> BoxFuture<'_, Result<Proposed, GuestError>> {
        self.unable("be proposed for merging")
    }

    fn attachment(&self, _key: String, _attachment: String) -> BoxFuture<'_, Result<Vec<u8>, GuestError>> {
        self.unable("have attachments")
    }
}
