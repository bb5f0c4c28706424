//! What the engine needs of a code index, and an index of whoever makes vectors.

use crate::BoxFuture;

/// Finds code in one workspace. Queries never wait for a build: they see the last finished state.
pub trait CodeIndex: Send + Sync + 'static {
    /// How the index is.
    fn status(&self) -> IndexStatus;

    /// Looks for code.
    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>>;

    /// Says that files changed, by their paths relative to the root.
    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>>;

    /// Builds the index anew, or only what differs from the disk. A running build is joined.
    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>>;
}

/// Makes vectors of texts.
pub trait Embedder: Send + Sync + 'static {
    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// One vector per text, in order.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, IndexError>>;
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeQuery {
    /// The words.
    pub text: String,
    /// How.
    pub kind: QueryKind,
    /// At most so many findings.
    pub limit: usize,
}

/// How code is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueryKind {
    /// By the names of definitions.
    Symbols,
    /// By words.
    Text,
    /// By meaning.
    Vectors,
    /// By all of them, ranks fused.
    Fused,
}

/// One place in the code.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeFinding {
    /// The file, relative to the root.
    pub path: String,
    /// Its first line, counted from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The definition's name, if it is one.
    pub symbol: Option<String>,
    /// The code.
    pub snippet: String,
    /// How well it fits; higher is better, comparable within one answer only.
    pub score: f32,
}

/// How an index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    /// Its state.
    pub state: IndexState,
    /// Files in it.
    pub files: u64,
    /// Definitions in it.
    pub symbols: u64,
    /// Pieces of text in it.
    pub chunks: u64,
    /// Its size on disk.
    pub bytes: u64,
    /// Files done of a running build.
    pub done: u64,
    /// Files of a running build in all.
    pub total: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
}

/// The state of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexState {
    /// Nothing is in it.
    Empty,
    /// It is being built.
    Building,
    /// It is up to date.
    Ready,
    /// Files have changed since.
    Stale,
    /// The last build failed.
    Failed,
}

/// How an index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexBuild {
    /// From nothing.
    Rebuild,
    /// What differs from the disk.
    Refresh,
}

/// Why an index cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// It cannot be read or written.
    #[error("the index does not answer: {0}")]
    Unavailable(String),
    /// The query means nothing to it.
    #[error("the query cannot be understood: {0}")]
    BadQuery(String),
}
