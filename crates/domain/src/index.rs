//! What the engine needs of a code index, and an index of whoever makes vectors.

mod question;
mod readable;
mod symbol;

use crate::BoxFuture;

pub use question::{CodeContext, CodeQuestion, Retrieved, StageCount};
pub use readable::ReadableCode;
pub use symbol::{CodeReference, Definition, ReferenceKind, ReferenceQuery, SymbolKind};

/// Finds code in one workspace. Queries never wait for a build: they see the last finished state.
pub trait CodeIndex: Send + Sync + 'static {
    /// How the index is.
    fn status(&self) -> IndexStatus;

    /// How the index is once what was kept of it has been read. Begins no build.
    fn opened(&self) -> BoxFuture<'_, IndexStatus> {
        Box::pin(std::future::ready(self.status()))
    }

    /// Says that it will be asked soon: one that looks after itself begins to, and one that has nothing yet may be waited
    /// for a little. Tells how it is then.
    fn prepare(&self) -> BoxFuture<'_, IndexStatus> {
        self.opened()
    }

    /// Looks for code.
    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>>;

    /// Says that files changed, by their paths relative to the root. A directory stands for all files in it, and the empty
    /// path for all there are. The answer comes when the changes can be searched, which may take as long as whatever the
    /// index is doing.
    fn changed(&self, paths: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>>;

    /// Builds the index anew, or only what differs from the disk. A running build is joined.
    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>>;

    /// Finds what belongs to a question, by all ways of looking, and packs it into a budget.
    ///
    /// An index that has no way of its own asks itself each kind of query and gives what the fused one finds.
    fn retrieve(&self, question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        Box::pin(question::by_searching(self, question))
    }

    /// Finds where a name is used.
    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        let reason = format!("uses of `{}` are not known to this index", query.name);
        Box::pin(std::future::ready(Err(IndexError::Unavailable(reason))))
    }

    /// More about how the index is than its status tells.
    fn details(&self) -> IndexDetails {
        IndexDetails::default()
    }

    /// The files that are not in the index though the rules would have them, at most `limit`, sorted by path.
    fn skipped(&self, limit: usize) -> Vec<SkippedFile> {
        let _ = limit;
        Vec::new()
    }

    /// Holds a build up, lets it go on, or ends it.
    fn control(&self, control: IndexControl) {
        let _ = control;
    }

    /// Takes the index away, with all that is kept of it. It may be built again.
    fn forget(&self) -> BoxFuture<'_, Result<(), IndexError>> {
        let reason = "this index cannot be dropped".to_owned();
        Box::pin(std::future::ready(Err(IndexError::Unavailable(reason))))
    }
}

/// Makes vectors of texts.
pub trait Embedder: Send + Sync + 'static {
    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// What makes its vectors comparable: those of embedders with different ones are not.
    fn identity(&self) -> String {
        String::new()
    }

    /// One vector per text, in order, or none at all.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>>;
}

/// Why an embedder made no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedderError {
    /// It makes none now. It may later, of the same texts.
    #[error("{0}")]
    Unavailable(String),
    /// It makes vectors, but not of these texts together: one of them is not to its liking, and will not be later.
    #[error("{0}")]
    Refused(String),
}

impl From<EmbedderError> for IndexError {
    fn from(error: EmbedderError) -> Self {
        Self::Unavailable(error.to_string())
    }
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
    /// How the text of a [`QueryKind::Text`] query is read.
    pub matching: TextMatch,
    /// Only definitions of these kinds; of all kinds if there are none.
    pub symbols: Vec<SymbolKind>,
    /// Only files whose path matches one of these globs; one that begins with `!` leaves files out.
    pub paths: Vec<String>,
}

impl CodeQuery {
    /// How many findings an index gives at most, whoever asks.
    pub const MAX_LIMIT: usize = 1000;

    /// A query without filters, its text read as words.
    #[must_use]
    pub fn new(text: impl Into<String>, kind: QueryKind, limit: usize) -> Self {
        Self {
            text: text.into(),
            kind,
            limit,
            matching: TextMatch::default(),
            symbols: Vec::new(),
            paths: Vec::new(),
        }
    }
}

/// How the text of a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TextMatch {
    /// As words: files rank by how many of them they hold, and how rare those are.
    #[default]
    Words,
    /// As it stands, within one line. Without a capital letter, case does not matter.
    Phrase,
    /// As a regular expression within one line.
    Regex,
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
    /// What is known of the definition, if it is one and the index knows it.
    pub definition: Option<Definition>,
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

/// What an index tells of itself besides its status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IndexDetails {
    /// The build under way.
    pub progress: Option<IndexProgress>,
    /// Whether builds and the making of vectors are held up.
    pub is_paused: bool,
    /// Whether the last build was ended before its time.
    pub was_cancelled: bool,
    /// How many files are left out.
    pub skipped: u64,
    /// What people should know, such as that an index of an older version is being rebuilt.
    pub notes: Vec<String>,
    /// How many pieces of text have a vector; nothing if there is no embedder.
    pub vectors: Option<u64>,
}

/// How far a build is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexProgress {
    /// What it is doing.
    pub step: IndexStep,
    /// Files done in this step.
    pub done: u64,
    /// Files of this step in all.
    pub total: u64,
    /// Files per second, since the step began.
    pub per_second: f64,
    /// Seconds to the end of the step at that rate; nothing while there is no rate.
    pub seconds_left: Option<f64>,
    /// Whether it is held up.
    pub is_paused: bool,
}

/// A step of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexStep {
    /// Looking which files there are.
    Walking,
    /// Words of files. When it is done, text can be searched.
    Text,
    /// Definitions and uses of names.
    Symbols,
    /// Writing what was found.
    Writing,
}

/// What can be done to a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexControl {
    /// It does nothing until it is resumed.
    Pause,
    /// It goes on.
    Resume,
    /// It ends; the last finished state stays.
    Cancel,
}

/// A file that is not in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path, relative to the root.
    pub path: String,
    /// Why, for people.
    pub reason: String,
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
    /// There is nobody to make vectors.
    #[error("vector search is off: {0}")]
    NoVectors(String),
    /// The build was ended before it was done.
    #[error("the build was cancelled")]
    Cancelled,
}
