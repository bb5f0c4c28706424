//! Making vectors in the background, the most useful first.
//!
//! Knows which pieces have none and in which order they get one. An embedder that fails is asked again later; a piece that
//! it refuses is looked for among those it came with, and passed over; a state that changes meanwhile is looked at after
//! the batch.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use loggia_domain::{EmbedderError, IndexError};

use crate::base::Base;
use crate::chunks::{Chunk, ChunkHash};
use crate::control::{Control, lock};
use crate::fault::Fault;
use crate::keeper::Shared;
use crate::query::Search;
use crate::vectors::Vectors;
use crate::workers;

/// Pieces that are given to an embedder at once: more were measured to be no quicker, and take more memory.
const BATCH: usize = 8;

/// How long an embedder that failed is left alone.
const RETRY: Duration = Duration::from_secs(30);

/// Makes vectors until the index ends.
pub(super) fn run(shared: &Arc<Shared>) {
    workers::lower_priority();
    let Some(vectors) = shared.vectors.get() else { return };
    let mut order = Order::default();
    let mut retry = None;
    while vectors.wait(retry.take()) {
        if let Some(snapshot) = shared.published().snapshot
            && let Err(fault) = vectors.tidy(&snapshot)
        {
            tracing::warn!(%fault, "old vectors could not be forgotten");
        }
        while let Some(batch) = next(shared, vectors, &mut order) {
            match vectors.embed(&batch) {
                Ok(Some(kept)) => {
                    // Who refuses everything is not sent the whole workspace at once for that.
                    retry = (kept == 0).then_some(RETRY);
                    lock(&vectors.failure).take()
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "pieces of code have no vectors yet");
                    retry = Some(RETRY);
                    // What was to be embedded is looked for again.
                    order.base = None;
                    lock(&vectors.failure).replace(error.to_string())
                }
            };
            if retry.is_some() {
                break;
            }
        }
    }
}

/// A piece as it is embedded.
struct Said {
    hash: ChunkHash,
    text: String,
}

/// In which order the files of a state on disk are looked at.
#[derive(Default)]
struct Order {
    /// The state they are of.
    base: Option<Arc<Base>>,
    /// Those that lack vectors, the most used last.
    files: Vec<u32>,
    /// How much others use these, by the files' keys. It is found out once for each: what others change meanwhile moves
    /// it little, and every look at it reads lists of words.
    central: HashMap<u64, f32>,
    /// Pieces that could not be read as they were.
    passed_over: HashSet<ChunkHash>,
}

impl Vectors {
    /// Waits until there is something new, or for a time. Says whether to go on.
    fn wait(&self, retry: Option<Duration>) -> bool {
        let mut wake = lock(&self.wake);
        while !wake.is_asked && !wake.is_stopping {
            match retry {
                None => wake = self.bell.wait(wake).unwrap_or_else(PoisonError::into_inner),
                Some(time) => {
                    wake = self.bell.wait_timeout(wake, time).unwrap_or_else(PoisonError::into_inner).0;
                    break;
                }
            }
        }
        wake.is_asked = false;
        !wake.is_stopping
    }

    /// Embeds and keeps some pieces, and passes over what the embedder refuses. Says how many were kept; nothing when no
    /// more are to be made.
    fn embed(&self, batch: &[Said]) -> Result<Option<usize>, EmbedderError> {
        let texts = batch.iter().map(|said| said.text.clone()).collect();
        match self.asked(texts) {
            Ok(Some(made)) => self.keep(batch, made).map(Some),
            Ok(None) => Ok(None),
            Err(EmbedderError::Refused(_)) if batch.len() > 1 => {
                let (first, rest) = batch.split_at(batch.len() / 2);
                let Some(kept) = self.embed(first)? else { return Ok(None) };
                Ok(self.embed(rest)?.map(|more| kept + more))
            }
            Err(EmbedderError::Refused(why)) => {
                batch.iter().for_each(|said| self.refuse(said.hash, why.clone()));
                Ok(Some(0))
            }
            Err(error) => Err(error),
        }
    }

    /// What the embedder makes of texts; nothing when no more is to be made.
    fn asked(&self, texts: Vec<String>) -> Result<Option<Vec<Vec<f32>>>, EmbedderError> {
        let mut stop = self.stop.subscribe();
        let work = async {
            tokio::select! {
                made = self.embedder.embed(texts) => made.map(Some),
                _ = stop.wait_for(|stop| *stop) => Ok(None),
            }
        };
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let failed = |error: std::io::Error| EmbedderError::Unavailable(error.to_string());
                runtime.map_err(failed)?.block_on(work)
            }
        }
    }

    /// Keeps the vectors of some pieces, and says how many.
    fn keep(&self, batch: &[Said], made: Vec<Vec<f32>>) -> Result<usize, EmbedderError> {
        if made.len() != batch.len() || made.iter().any(|vector| vector.len() != self.embedder.dimensions()) {
            let wrong = "the embedder gave vectors of another number or size";
            return Err(EmbedderError::Unavailable(wrong.to_owned()));
        }
        let rows = batch.iter().map(|said| said.hash).zip(made).collect();
        let lost = |fault: Fault| EmbedderError::Unavailable(fault.to_string());
        self.change(|table| table.add(rows)).map_err(lost)?;
        Ok(batch.len())
    }
}

impl Vectors {
    /// Makes the vectors of these pieces, as far as they have none.
    pub(crate) fn embed_pieces(
        &self,
        search: &Search<'_>,
        pieces: &[(u32, Chunk)],
        control: &Control,
    ) -> Result<(), IndexError> {
        let mut wanted = Vec::new();
        for (file, chunk) in pieces.iter().filter(|(_, chunk)| self.lacks(chunk.hash)) {
            let Some(entry) = search.snapshot.entry(*file) else { continue };
            if (self.is_secret)(&entry.path) {
                continue;
            }
            let Ok(Some(facts)) = search.snapshot.outline(*file) else { continue };
            let said = search.current(&entry.path).map(|text| chunk.said(&entry.path, &text, &facts));
            // A file that changed since says something else.
            if let Some(text) = said.filter(|said| chunk.hash.is_of(said)) {
                wanted.push(Said { hash: chunk.hash, text });
            }
        }
        wanted.sort_by_key(|said| said.hash);
        wanted.dedup_by_key(|said| said.hash);
        for batch in wanted.chunks(BATCH) {
            control.check_making().map_err(|_| IndexError::Cancelled)?;
            self.embed(batch)?.ok_or(IndexError::Cancelled)?;
        }
        Ok(())
    }
}

/// The next pieces to embed; nothing when all have a vector.
fn next(shared: &Shared, vectors: &Vectors, order: &mut Order) -> Option<Vec<Said>> {
    shared.control.check_making().ok();
    let snapshot = shared.published().snapshot?;
    let stop = AtomicBool::new(false);
    let search = Search { snapshot: &snapshot, root: &shared.settings.root, stop: &stop };
    let mut picking = Picking { search, vectors, batch: Vec::new() };
    for (file, _) in snapshot.changes() {
        if picking.take(file, order) == Fill::Full {
            return Some(picking.batch);
        }
    }
    while let Some(path) = vectors.next_preferred() {
        let Some(file) = snapshot.find(&path) else { continue };
        if picking.take(file, order) == Fill::Full {
            // There may be more of it.
            vectors.prefer(std::iter::once(&*path));
            return Some(picking.batch);
        }
    }
    if !order.follow(&picking.search, vectors) {
        return None;
    }
    while let Some(file) = order.files.last().copied() {
        if picking.take(file, order) == Fill::Full {
            return Some(picking.batch);
        }
        order.files.pop();
    }
    (!picking.batch.is_empty()).then_some(picking.batch)
}

impl Order {
    /// Looks at another state, if there is one. Says whether to go on.
    fn follow(&mut self, search: &Search<'_>, vectors: &Vectors) -> bool {
        let base = &search.snapshot.base;
        if self.base.as_ref().is_some_and(|known| Arc::ptr_eq(known, base)) {
            return true;
        }
        self.base = Some(Arc::clone(base));
        self.passed_over.clear();
        let mut known = std::mem::take(&mut self.central);
        let mut files: Vec<(f32, u32)> = Vec::new();
        for (file, key) in lacking(base, vectors) {
            if vectors.is_stopping() {
                return false;
            }
            let central = known.remove(&key).unwrap_or_else(|| search.central(file).unwrap_or(0.0));
            self.central.insert(key, central);
            files.push((central, file));
        }
        files.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        self.files = files.into_iter().map(|(_, file)| file).collect();
        true
    }
}

/// The files of a state that lack vectors, with their keys.
fn lacking(base: &Base, vectors: &Vectors) -> Vec<(u32, u64)> {
    let mut lacks = vec![false; base.entries().len()];
    for piece in &base.chunks {
        let lacks = &mut lacks[piece.file as usize];
        *lacks = *lacks || vectors.lacks(piece.hash);
    }
    let files = (0..).zip(base.entries()).zip(lacks).filter(|(_, lacks)| *lacks);
    let files = files.filter(|((_, entry), _)| !(vectors.is_secret)(&entry.path));
    files.map(|((file, entry), _)| (file, entry.key)).collect()
}

/// Putting a batch together.
struct Picking<'p> {
    search: Search<'p>,
    vectors: &'p Vectors,
    batch: Vec<Said>,
}

/// Whether more fits into a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    Open,
    Full,
}

impl Picking<'_> {
    /// Adds the pieces of a file that have no vector and may have one.
    fn take(&mut self, file: u32, order: &mut Order) -> Fill {
        let snapshot = self.search.snapshot;
        let entry = snapshot.entry(file).filter(|entry| !(self.vectors.is_secret)(&entry.path));
        let (Some(entry), Ok(Some(pieces))) = (entry, snapshot.pieces(file)) else { return Fill::Open };
        if pieces.iter().all(|chunk| !self.is_wanted(chunk.hash, order)) {
            return Fill::Open;
        }
        let Ok(Some(facts)) = snapshot.outline(file) else { return Fill::Open };
        let text = self.search.current(&entry.path);
        for chunk in &facts.chunks {
            if !self.is_wanted(chunk.hash, order) {
                continue;
            }
            let said = text.as_ref().map(|text| chunk.said(&entry.path, text, &facts));
            // A file that changed since is embedded when its change is known.
            match said.filter(|said| chunk.hash.is_of(said)) {
                Some(text) => self.batch.push(Said { hash: chunk.hash, text }),
                None => drop(order.passed_over.insert(chunk.hash)),
            }
            if self.batch.len() >= BATCH {
                return Fill::Full;
            }
        }
        Fill::Open
    }

    fn is_wanted(&self, hash: ChunkHash, order: &Order) -> bool {
        self.vectors.lacks(hash)
            && !order.passed_over.contains(&hash)
            && self.batch.iter().all(|said| said.hash != hash)
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::{BoxFuture, CodeIndex, Embedder, IndexBuild};
    use loggia_tree::{Root, RootSettings};

    use super::*;
    use crate::index::FileIndex;
    use crate::settings::IndexSettings;
    use crate::vectors::Making;

    /// An embedder that nobody asks.
    struct Nobody;

    impl Embedder for Nobody {
        fn dimensions(&self) -> usize {
            1
        }

        fn embed(&self, _: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>> {
            Box::pin(async { Err(EmbedderError::Unavailable("nobody".to_owned())) })
        }
    }

    /// Brings an order up to date with an index, and tells which files it has, the first one first.
    fn followed(order: &mut Order, index: &FileIndex) -> Vec<String> {
        let shared = &index.shared;
        let snapshot = shared.published().snapshot.unwrap();
        let stop = AtomicBool::new(false);
        let search = Search { snapshot: &snapshot, root: &shared.settings.root, stop: &stop };
        assert!(order.follow(&search, shared.vectors.get().unwrap()));
        let path = |file: &u32| snapshot.entry(*file).unwrap().path.to_string();
        order.files.iter().rev().map(path).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_files_that_lack_vectors_are_put_in_order_and_each_of_them_once() {
        let (files, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |path: &str, text: &str| std::fs::write(files.path().join(path), text).unwrap();
        write("a.rs", "pub fn plain() {}\n");
        write("b.rs", "pub fn favourite() {}\n");
        write("c.rs", "pub fn user() { favourite(); }\n");
        write("key.pem", "secret\n");
        let root = Arc::new(Root::open(files.path(), RootSettings::default()).unwrap());
        let is_secret = |path: &str| path == "key.pem";
        let index = FileIndex::open(IndexSettings { is_secret, ..IndexSettings::new(data.path(), root) });
        let index = index.unwrap();
        index.build(IndexBuild::Rebuild).await.unwrap();
        index.embed_with(Arc::new(Nobody), Making::OnRequest).unwrap();
        let mut order = Order::default();
        assert_eq!(followed(&mut order, &index), ["b.rs", "a.rs", "c.rs"]);
        // In the next state they stand where they stood, whatever would be found out now.
        let last = order.files[0];
        let key = order.base.as_ref().unwrap().entries()[last as usize].key;
        order.central.insert(key, 99.0);
        index.build(IndexBuild::Refresh).await.unwrap();
        order.base = None;
        assert_eq!(followed(&mut order, &index), ["c.rs", "b.rs", "a.rs"]);
        // What has all its vectors is not looked at.
        let pieces = &order.base.as_ref().unwrap().chunks;
        let all: Vec<ChunkHash> = pieces.iter().map(|piece| piece.hash).collect();
        let rows = all.into_iter().map(|hash| (hash, vec![1.0])).collect();
        index.shared.vectors.get().unwrap().change(|table| table.add(rows)).unwrap();
        order.base = None;
        assert_eq!(followed(&mut order, &index), Vec::<String>::new());
        assert!(order.central.is_empty());
    }
}
