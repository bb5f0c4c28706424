//! Questions to a code index, and what it finds for them.

use std::sync::Arc;

use crate::PastChange;
use crate::index::{CodeFinding, CodeIndex, CodeQuery, IndexError, QueryKind};
use crate::turn::RetrievalStage;

/// What is to be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeQuestion {
    /// The question, in anybody's words.
    pub text: String,
    /// What is known of whoever asks.
    pub context: CodeContext,
    /// What was changed before, the latest first: files that were changed for the same words are likely meant again.
    pub history: Arc<[PastChange]>,
    /// At most so many findings.
    pub limit: usize,
    /// At most about so many tokens of code.
    pub budget: usize,
}

/// What is known of whoever asks. All paths are relative to the root. Hints and no more: what is not there is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeContext {
    /// Files that are open, the one in front first.
    pub open_files: Vec<String>,
    /// Files and names that were mentioned.
    pub mentions: Vec<String>,
    /// Files that tools complain about.
    pub diagnostics: Vec<String>,
    /// Files that changed lately, the latest first.
    pub recent: Vec<String>,
}

impl CodeContext {
    /// How many of each kind help: who has more open than that looks at something else.
    pub const MAX_EACH: usize = 64;

    /// All of it, for whoever bounds it.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        let Self { open_files, mentions, diagnostics, recent } = self;
        [open_files, mentions, diagnostics, recent].into_iter().flatten()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// What was found for a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Retrieved {
    /// The code, best first.
    pub findings: Vec<CodeFinding>,
    /// How much each stage found.
    pub stages: Vec<StageCount>,
    /// About how many tokens the findings have.
    pub tokens: usize,
    /// Findings that had no room any more.
    pub left_out: usize,
}

/// How much a stage found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageCount {
    /// The stage.
    pub stage: RetrievalStage,
    /// Its findings.
    pub results: u32,
}

const STAGES: [(QueryKind, RetrievalStage); 4] = [
    (QueryKind::Symbols, RetrievalStage::Symbols),
    (QueryKind::Text, RetrievalStage::Text),
    (QueryKind::Vectors, RetrievalStage::Vectors),
    (QueryKind::Fused, RetrievalStage::Ranking),
];

/// Bytes that make about one token of code.
const BYTES_PER_TOKEN: usize = 4;

/// Asks an index each kind of query. A kind that fails is a stage without a count, unless all fail.
pub(super) async fn by_searching<I: CodeIndex + ?Sized>(
    index: &I,
    question: CodeQuestion,
) -> Result<Retrieved, IndexError> {
    let mut retrieved = Retrieved::default();
    let mut failure = None;
    for (kind, stage) in STAGES {
        match index.search(CodeQuery::new(question.text.clone(), kind, question.limit)).await {
            Ok(findings) => {
                let results = u32::try_from(findings.len()).unwrap_or(u32::MAX);
                retrieved.stages.push(StageCount { stage, results });
                retrieved.findings = findings;
            }
            Err(error) => failure = Some(error),
        }
    }
    if let (true, Some(error)) = (retrieved.stages.is_empty(), failure) {
        return Err(error);
    }
    let found = retrieved.findings.len();
    retrieved.findings.truncate(question.limit);
    while tokens_of(&retrieved.findings) > question.budget {
        retrieved.findings.pop();
    }
    retrieved.tokens = tokens_of(&retrieved.findings);
    retrieved.left_out = found - retrieved.findings.len();
    Ok(retrieved)
}

fn tokens_of(findings: &[CodeFinding]) -> usize {
    findings.iter().map(|found| found.snippet.len().div_ceil(BYTES_PER_TOKEN)).sum()
}
