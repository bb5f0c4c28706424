//! How much each sign counts when all are put together.
//!
//! Numbers and nothing else. They were found by trying many on pairs of questions and files from a history:
//! `docs/search.md` says how, how far that goes, and what came of it. `cargo xtask bench retrieval`
//! measures them on any repository.

/// What a fused ranking pays attention to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// How much a word counts in the path, the code, the comments and the defined names.
    pub fields: [f32; 4],
    /// How much the length of each of these is held against a file.
    pub lengths: [f32; 4],
    /// How soon more of the same word stops to count.
    pub saturation: f32,
    /// How much another form of a word counts beside the word.
    pub forms: f32,
    /// How much the best piece of a file counts beside the whole file.
    pub piece: f32,
    /// What it is worth that a file defines a name that was typed.
    pub typed_name: f32,
    /// What it is worth to be used by many other files.
    pub central: f32,
    /// How much the meaning counts beside the words, if there are vectors.
    pub vectors: f32,
    /// What is left of the score of a test that was not asked for.
    pub tests: f32,
    /// What is left of the score of prose.
    pub prose: f32,
    /// What is left of the score of data: lock files, snapshots, tables.
    pub data: f32,
    /// What it is worth to be open, to be mentioned, to have complaints, to have changed lately.
    pub context: [f32; 4],
    /// What it is worth to have been changed before for the same words.
    pub history: f32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            fields: [6.0, 1.0, 2.6, 1.0],
            lengths: [0.5, 0.45, 0.15, 0.3],
            saturation: 9.0,
            forms: 0.4,
            piece: 0.5,
            typed_name: 0.4,
            central: 0.0005,
            vectors: 2.0,
            tests: 0.95,
            prose: 1.0,
            data: 0.7,
            context: [0.15, 0.6, 0.3, 0.2],
            history: 1.2,
        }
    }
}

/// A way to put files in order, for whoever compares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// By words alone.
    Text,
    /// By the words of defined names alone.
    Symbols,
    /// By meaning alone.
    Vectors,
    /// By everything.
    Fused,
    /// By the words of whole files, as BM25 is usually meant.
    Plain,
    /// By how many of the words a file has and how often, as a search for words gives.
    Counts,
}
