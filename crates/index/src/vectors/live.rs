//! The pieces of a state by their hashes.
//!
//! Knows the state on disk and the files that changed since as one. It is made for one question and asked often: a vector
//! outlives the pieces it was made of, and only its hash says whether there is still one.

use crate::base::Piece;
use crate::chunks::ChunkHash;
use crate::snapshot::Snapshot;

/// The pieces of a state.
pub(super) struct Live<'s> {
    snapshot: &'s Snapshot,
    /// Those of files that changed. Sorted.
    changed: Vec<Piece>,
}

impl<'s> Live<'s> {
    pub(super) fn of(snapshot: &'s Snapshot) -> Self {
        let mut changed = Vec::new();
        for (file, known) in snapshot.changes() {
            let chunks = (0..).zip(&known.facts.chunks);
            changed.extend(chunks.map(|(place, chunk)| Piece { hash: chunk.hash, file, place }));
        }
        changed.sort_unstable();
        Self { snapshot, changed }
    }

    /// How many there are at most: files that changed are counted as they were, too.
    pub(super) fn at_most(&self) -> usize {
        self.snapshot.base.chunks.len() + self.changed.len()
    }

    /// The pieces that have a hash.
    pub(super) fn with(&self, hash: ChunkHash) -> impl Iterator<Item = Piece> {
        let is_there = |piece: &&Piece| self.snapshot.entry(piece.file).is_some();
        let base = run(&self.snapshot.base.chunks, hash).iter().filter(is_there);
        base.chain(run(&self.changed, hash)).copied()
    }

    /// Whether a piece has it.
    pub(super) fn has(&self, hash: ChunkHash) -> bool {
        self.with(hash).next().is_some()
    }
}

/// The pieces with a hash among sorted ones.
fn run(pieces: &[Piece], hash: ChunkHash) -> &[Piece] {
    let from = &pieces[pieces.partition_point(|piece| piece.hash < hash)..];
    &from[..from.partition_point(|piece| piece.hash == hash)]
}
