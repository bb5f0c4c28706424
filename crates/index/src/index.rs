//! The index as others hold it: fills [`CodeIndex`].
//!
//! Knows who does what: the keeper's thread changes, threads for blocking work search. No caller waits for a build,
//! except whoever asked for it; a search that is not waited for any more ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeReference, IndexBuild, IndexControl, IndexDetails,
    IndexError, IndexState, IndexStatus, ReferenceQuery, SkippedFile,
};
use tokio::sync::oneshot;

use crate::disk::lock::Lock;
use crate::fault::OpenError;
use crate::keeper::{Keeper, Shared};
use crate::query::Search;
use crate::settings::IndexSettings;

/// The code index of one workspace. Dropping it writes what waits, then lets go of its directory.
#[derive(Debug)]
pub struct FileIndex {
    pub(crate) shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

impl FileIndex {
    /// Opens the index in a directory, or begins an empty one. What is on disk is read in the background.
    ///
    /// An index that is damaged or of another version is built anew at once; [`CodeIndex::details`] says why.
    pub fn open(settings: IndexSettings) -> Result<Self, OpenError> {
        let lock = Lock::take(&settings.directory)?;
        let directory = settings.directory.clone();
        let shared = Arc::new(Shared::new(settings));
        let keeper = Keeper::new(Arc::clone(&shared), lock);
        let spawned = std::thread::Builder::new().name("index".to_owned()).spawn(move || keeper.run());
        let keeper = spawned.map_err(|source| OpenError::NotWritable { path: directory, source })?;
        Ok(Self { shared, keeper: Some(keeper) })
    }

    /// Waits until what was on disk is there to be searched.
    pub async fn loaded(&self) {
        // The sender lives as long as we do.
        let _ = self.shared.is_loaded.subscribe().wait_for(|loaded| *loaded).await;
    }

    /// Does something with the state that is there now, on a thread where it may take its time.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Search<'_>) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        self.loaded().await;
        let shared = Arc::clone(&self.shared);
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        let looking = tokio::task::spawn_blocking(move || {
            let published = shared.published();
            let Some(snapshot) = published.snapshot else {
                return Err(IndexError::Unavailable("nothing is indexed yet".to_owned()));
            };
            look(&Search { snapshot: &snapshot, root: &shared.settings.root, stop: &flag })
        });
        let found = looking.await;
        drop(stop);
        found.unwrap_or_else(|error| Err(IndexError::Unavailable(format!("the search failed: {error}"))))
    }
}

/// Tells a search that nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for FileIndex {
    fn drop(&mut self) {
        self.shared.control.wish(IndexControl::Cancel);
        self.shared.inbox.stop();
        if self.keeper.take().is_some_and(|keeper| keeper.join().is_err()) {
            tracing::error!("the thread of an index panicked");
        }
    }
}

impl CodeIndex for FileIndex {
    fn status(&self) -> IndexStatus {
        self.shared.status()
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        Box::pin(self.look(move |search| search.find(&query)))
    }

    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        let answered = self.shared.inbox.changed(paths);
        Box::pin(async move { answered.await.map_err(|_| closed()) })
    }

    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        let (answer, answered) = oneshot::channel();
        self.shared.inbox.build(how, answer);
        Box::pin(async move { answered.await.map_err(|_| closed())? })
    }

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        Box::pin(self.look(move |search| search.references(&query)))
    }

    fn details(&self) -> IndexDetails {
        let published = self.shared.published();
        IndexDetails {
            progress: self.shared.control.progress(),
            skipped: published.snapshot.map_or(0, |snapshot| snapshot.skipped().len() as u64),
            notes: published.notes,
            vectors: None,
        }
    }

    fn skipped(&self, limit: usize) -> Vec<SkippedFile> {
        let Some(snapshot) = self.shared.published().snapshot else { return Vec::new() };
        let skipped = snapshot.skipped().into_iter().take(limit);
        skipped
            .map(|skipped| SkippedFile { path: skipped.path.to_string(), reason: skipped.reason.to_string() })
            .collect()
    }

    fn control(&self, control: IndexControl) {
        self.shared.control.wish(control);
    }
}

impl Shared {
    /// How the index is.
    pub(crate) fn status(&self) -> IndexStatus {
        let published = self.published();
        let progress = self.control.progress();
        let mut status = IndexStatus {
            state: published.state,
            files: 0,
            symbols: 0,
            chunks: 0,
            bytes: published.bytes,
            done: progress.map_or(0, |progress| progress.done),
            total: progress.map_or(0, |progress| progress.total),
            last_error: published.last_error,
        };
        if let Some(snapshot) = &published.snapshot {
            for (_, entry) in snapshot.entries() {
                status.files += 1;
                status.symbols += u64::from(entry.symbols);
                status.chunks += u64::from(entry.chunks);
            }
        }
        if status.state != IndexState::Building {
            (status.done, status.total) = (0, 0);
        }
        status
    }
}

fn closed() -> IndexError {
    IndexError::Unavailable("the index is closed".to_owned())
}
