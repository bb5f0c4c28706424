//! The index as others hold it: fills [`CodeIndex`].
//!
//! Knows who does what: the keeper's thread changes, threads for blocking work search. No caller waits for a build,
//! except whoever asked for it; a search that is not waited for any more ends early.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, Embedder, IndexBuild,
    IndexControl, IndexDetails, IndexError, IndexStatus, QueryKind, ReferenceQuery, Retrieved, SkippedFile,
};
use tokio::sync::oneshot;

use crate::control::lock;

use crate::disk::lock::Lock;
use crate::fault::OpenError;
use crate::keeper::{Keeper, Shared};
use crate::query::{self, Search};
use crate::settings::IndexSettings;
use crate::tuning::{Tuning, Way};
use crate::vectors::{Making, Similar, Vectors};

/// The code index of one workspace. Dropping it writes what waits, then lets go of its directory.
#[derive(Debug)]
pub struct FileIndex {
    pub(crate) shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
    embedding: Mutex<Option<JoinHandle<()>>>,
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
        let no_thread = |source| OpenError::NotWritable { path: directory, source };
        Ok(Self { shared, keeper: Some(spawned.map_err(no_thread)?), embedding: Mutex::default() })
    }

    /// Has vectors made by this embedder from now on; those that were made by the same one before are used at once. An
    /// index has one embedder, the first. Where vectors cannot be kept there is none, [`CodeIndex::details`] says why, and it
    /// may be tried again.
    pub fn embed_with(&self, embedder: Arc<dyn Embedder>, making: Making) -> Result<(), IndexError> {
        let given = self.give(embedder, making);
        let failure = given.as_ref().err().map(|error| format!("vectors cannot be kept: {error}"));
        *lock(&self.shared.no_vectors) = failure;
        given
    }

    fn give(&self, embedder: Arc<dyn Embedder>, making: Making) -> Result<(), IndexError> {
        let mut embedding = lock(&self.embedding);
        if self.shared.vectors.get().is_some() {
            return Ok(());
        }
        let unavailable = |why: &dyn std::fmt::Display| IndexError::Unavailable(why.to_string());
        let vectors = Vectors::open(&self.shared.settings, embedder);
        let vectors = vectors.map_err(|fault| unavailable(&fault))?;
        if self.shared.vectors.set(vectors).is_err() {
            return Ok(());
        }
        if making == Making::All {
            let started = Vectors::start(Arc::clone(&self.shared));
            *embedding = Some(started.map_err(|error| unavailable(&error))?);
            self.shared.vectors.get().into_iter().for_each(Vectors::wake);
        }
        Ok(())
    }

    /// Makes the vectors of the pieces that fit a question best by their words, as far as they have none: of so many
    /// files, some pieces each. For whoever compares rankings without waiting until all pieces have one.
    pub async fn embed_for(&self, question: CodeQuestion, files: usize) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        self.look(move |search, vectors| {
            let vectors = vectors.ok_or_else(query::no_vectors)?;
            vectors.embed_pieces(search, &search.shortlist(&question, files)?, &shared.control)
        })
        .await
    }

    /// Files that changed since it was opened, one or some at a time, the latest first: a question is often about these.
    #[must_use]
    pub fn changed_lately(&self) -> Vec<String> {
        self.shared.lately()
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
            let similar = similar_if_any(search, vectors, vector.as_deref(), &[]);
            search.files(&question, way, &tuning, similar.as_deref().unwrap_or(&[]))
        })
        .await
    }

    /// The vector of a text. One that cannot be made, or not soon, is done without.
    async fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let vectors = self.shared.vectors.get().filter(|vectors| vectors.count() > 0)?;
        match tokio::time::timeout(PATIENCE, vectors.of(text)).await {
            Ok(made) => made.inspect_err(|error| tracing::warn!(%error, "a question has no vector")).ok(),
            Err(_) => {
                tracing::warn!("a question has no vector: the embedder is too slow");
                None
            }
        }
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
            look(&search, shared.vectors.get())
        });
        let found = looking.await;
        drop(stop);
        found.unwrap_or_else(|error| Err(IndexError::Unavailable(format!("the search failed: {error}"))))
    }
}

/// How many pieces are compared by meaning, for a ranking by several signs.
const MANY: usize = 100;

/// How long a question with other signs waits for its vector.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pieces that are like a vector, of the files with these paths; nothing without a vector or without anybody who has
/// some.
fn similar(
    search: &Search<'_>,
    vectors: Option<&Vectors>,
    vector: Option<&[f32]>,
    limit: usize,
    paths: &[String],
) -> Result<Option<Vec<Similar>>, IndexError> {
    let (Some(vectors), Some(vector)) = (vectors, vector) else { return Ok(None) };
    let is_wanted = search.wanted_files(paths)?;
    let found = vectors.similar(search.snapshot, vector, limit, &is_wanted);
    found.map(Some).map_err(|fault| IndexError::Unavailable(fault.to_string()))
}

/// The same for a ranking by several signs, which does without.
fn similar_if_any(
    search: &Search<'_>,
    vectors: Option<&Vectors>,
    vector: Option<&[f32]>,
    paths: &[String],
) -> Option<Vec<Similar>> {
    let found = similar(search, vectors, vector, MANY, paths);
    found.inspect_err(|error| tracing::warn!(%error, "vectors cannot be compared")).ok().flatten()
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
        self.shared.control.close();
        self.shared.inbox.stop();
        self.shared.vectors.get().into_iter().for_each(Vectors::stop);
        if lock(&self.embedding).take().is_some_and(|embedding| embedding.join().is_err()) {
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
                    let vectors = self.shared.vectors.get().ok_or_else(query::no_vectors)?;
                    Some(vectors.of(&query.text).await?)
                }
                QueryKind::Fused => self.vector(&query.text).await,
                QueryKind::Symbols | QueryKind::Text => None,
            };
            self.look(move |search, vectors| {
                let similar = match query.kind {
                    QueryKind::Fused => similar_if_any(search, vectors, vector.as_deref(), &query.paths),
                    _ => similar(search, vectors, vector.as_deref(), query.limit, &query.paths)?,
                };
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

    fn retrieve(&self, mut question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        Box::pin(async move {
            // A page that was pasted is no less a question: its beginning says what it is about.
            question.text.truncate(question.text.floor_char_boundary(query::MAX_QUERY));
            query::checked(&CodeQuery::new(question.text.as_str(), QueryKind::Fused, question.limit))?;
            let vector = self.vector(&question.text).await;
            self.look(move |search, vectors| {
                let similar = similar_if_any(search, vectors, vector.as_deref(), &[]);
                let retrieved = search.retrieve(&question, &Tuning::default(), similar.as_deref())?;
                // What people ask about is asked about again, in other words.
                let paths = retrieved.findings.iter().map(|found| found.path.as_str());
                vectors.into_iter().for_each(|vectors| vectors.prefer(paths.clone()));
                Ok(retrieved)
            })
            .await
        })
    }

    fn details(&self) -> IndexDetails {
        let mut published = self.shared.published();
        let vectors = self.shared.vectors.get();
        published.notes.extend(vectors.into_iter().flat_map(Vectors::notes));
        published.notes.extend(lock(&self.shared.no_vectors).clone());
        published.notes.extend(lock(&self.shared.not_heard).clone());
        IndexDetails {
            progress: self.shared.control.progress(),
            is_paused: self.shared.control.is_paused(),
            was_cancelled: published.was_cancelled,
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
        if control == IndexControl::Cancel {
            self.shared.inbox.cancel();
        }
    }
}

impl Shared {
    /// How the index is.
    pub(crate) fn status(&self) -> IndexStatus {
        let published = self.published();
        let (done, total) = self.control.done();
        let mut status = IndexStatus {
            state: published.state,
            files: 0,
            symbols: 0,
            chunks: 0,
            bytes: published.bytes,
            done,
            total,
            last_error: published.last_error,
        };
        if let Some(snapshot) = &published.snapshot {
            for (_, entry) in snapshot.entries() {
                status.files += 1;
                status.symbols += u64::from(entry.symbols);
                status.chunks += u64::from(entry.chunks);
            }
        }
        status
    }
}

fn closed() -> IndexError {
    IndexError::Unavailable("the index is closed".to_owned())
}
