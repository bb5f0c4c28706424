//! The index as others hold it: fills [`CodeIndex`].
//!
//! Knows who does what: the keeper's thread changes, threads for blocking work search. No caller waits for a build,
//! except whoever asked for it; a search that is not waited for any more ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, IndexBuild, IndexControl,
    IndexDetails, IndexError, IndexState, IndexStatus, QueryKind, ReferenceQuery, Retrieved, SkippedFile,
};
use tokio::sync::oneshot;

use crate::disk::lock::Lock;
use crate::fault::OpenError;
use crate::keeper::{Keeper, Shared};
use crate::query::{self, Search};
use crate::settings::IndexSettings;
use crate::tuning::{Tuning, Way};
use crate::vectors::{Similar, Vectors};

/// The code index of one workspace. Dropping it writes what waits, then lets go of its directory.
#[derive(Debug)]
pub struct FileIndex {
    pub(crate) shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
    embedding: Option<JoinHandle<()>>,
}

impl FileIndex {
    /// Opens the index in a directory, or begins an empty one. What is on disk is read in the background.
    ///
    /// An index that is damaged or of another version is built anew at once; [`CodeIndex::details`] says why.
    pub fn open(settings: IndexSettings) -> Result<Self, OpenError> {
        let lock = Lock::take(&settings.directory)?;
        let directory = settings.directory.clone();
        let vectors = settings.embedder.clone().and_then(|embedder| {
            let opened = Vectors::open(&directory, embedder);
            opened.inspect_err(|fault| tracing::warn!(%fault, "vectors cannot be kept")).ok()
        });
        let has_vectors = vectors.is_some();
        let shared = Arc::new(Shared::new(settings, vectors));
        let no_thread = |source| OpenError::NotWritable { path: directory.clone(), source };
        let embedding = match has_vectors {
            true => Some(Vectors::start(Arc::clone(&shared)).map_err(no_thread)?),
            false => None,
        };
        let keeper = Keeper::new(Arc::clone(&shared), lock);
        let spawned = std::thread::Builder::new().name("index".to_owned()).spawn(move || keeper.run());
        let keeper = Some(spawned.map_err(no_thread)?);
        Ok(Self { shared, keeper, embedding })
    }

    /// Waits until what was on disk is there to be searched.
    pub async fn loaded(&self) {
        // The sender lives as long as we do.
        let _ = self.shared.is_loaded.subscribe().wait_for(|loaded| *loaded).await;
    }

    /// Files in the order that one way of looking puts them in, for whoever compares the ways.
    pub async fn ranked_files(
        &self,
        question: CodeQuestion,
        way: Way,
        tuning: Tuning,
    ) -> Result<Vec<String>, IndexError> {
        let vector = match way {
            Way::Fused | Way::Vectors => self.vector(&question.text).await,
            _ => None,
        };
        self.look(move |search, vectors| {
            let similar = similar(search, vectors, vector.as_deref(), MANY)?;
            search.files(&question, way, &tuning, similar.as_deref().unwrap_or(&[]))
        })
        .await
    }

    /// The vector of a text. One that cannot be made is done without.
    async fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let vectors = self.shared.vectors.as_ref()?;
        let made = vectors.of(text).await;
        made.inspect_err(|error| tracing::warn!(%error, "a question has no vector")).ok()
    }

    /// Does something with the state that is there now, on a thread where it may take its time.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Search<'_>, Option<&Vectors>) -> Result<T, IndexError> + Send + 'static,
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
            let search = Search { snapshot: &snapshot, root: &shared.settings.root, stop: &flag };
            look(&search, shared.vectors.as_ref())
        });
        let found = looking.await;
        drop(stop);
        found.unwrap_or_else(|error| Err(IndexError::Unavailable(format!("the search failed: {error}"))))
    }
}

/// How many pieces are compared by meaning, for a ranking by several signs.
const MANY: usize = 100;

/// The pieces that are like a vector; nothing without a vector or without anybody who has some.
fn similar(
    search: &Search<'_>,
    vectors: Option<&Vectors>,
    vector: Option<&[f32]>,
    limit: usize,
) -> Result<Option<Vec<Similar>>, IndexError> {
    let (Some(vectors), Some(vector)) = (vectors, vector) else { return Ok(None) };
    let found = vectors.similar(search.snapshot, vector, limit);
    found.map(Some).map_err(|fault| IndexError::Unavailable(fault.to_string()))
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
        self.shared.vectors.iter().for_each(Vectors::stop);
        if self.embedding.take().is_some_and(|embedding| embedding.join().is_err()) {
            tracing::error!("the thread that makes vectors panicked");
        }
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
        Box::pin(async move {
            let query = query::checked(&query)?;
            let vector = match query.kind {
                QueryKind::Vectors => {
                    let vectors = self.shared.vectors.as_ref().ok_or_else(query::no_vectors)?;
                    Some(vectors.of(&query.text).await?)
                }
                QueryKind::Fused => self.vector(&query.text).await,
                QueryKind::Symbols | QueryKind::Text => None,
            };
            self.look(move |search, vectors| {
                let limit = if query.kind == QueryKind::Fused { MANY } else { query.limit };
                let similar = similar(search, vectors, vector.as_deref(), limit)?;
                search.find(&query, similar.as_deref())
            })
            .await
        })
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
        Box::pin(self.look(move |search, _| search.references(&query)))
    }

    fn retrieve(&self, question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        Box::pin(async move {
            query::checked(&CodeQuery::new(question.text.as_str(), QueryKind::Fused, question.limit))?;
            let vector = self.vector(&question.text).await;
            self.look(move |search, vectors| {
                let similar = similar(search, vectors, vector.as_deref(), MANY)?;
                search.retrieve(&question, &Tuning::default(), similar.as_deref())
            })
            .await
        })
    }

    fn details(&self) -> IndexDetails {
        let mut published = self.shared.published();
        let vectors = self.shared.vectors.as_ref();
        published.notes.extend(vectors.and_then(Vectors::failure));
        IndexDetails {
            progress: self.shared.control.progress(),
            skipped: published.snapshot.map_or(0, |snapshot| snapshot.skipped().len() as u64),
            notes: published.notes,
            vectors: vectors.map(Vectors::count),
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
