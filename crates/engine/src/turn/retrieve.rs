//! Looking for code that belongs to an instruction, before the model is first asked.

use std::time::Duration;

use loggia_domain::{Aim, CodeFinding, CodeQuery, EventBody, IndexState, Purpose, QueryKind, RetrievalStage};
use tokio::time::Instant;

use crate::session::State;
use crate::turn::{Stop, Turn};

/// Findings handed to the model. It can search for more itself.
const FINDINGS: usize = 8;

/// How long people wait for hints before the model is asked without them.
const PATIENCE: Duration = Duration::from_secs(2);

const STAGES: [(QueryKind, RetrievalStage); 4] = [
    (QueryKind::Symbols, RetrievalStage::Symbols),
    (QueryKind::Text, RetrievalStage::Text),
    (QueryKind::Vectors, RetrievalStage::Vectors),
    (QueryKind::Fused, RetrievalStage::Ranking),
];

impl Turn {
    /// Relevant code, if the workspace has a usable index and this is the turn's first step.
    pub(super) async fn retrieve(&self, state: &State) -> Result<Vec<CodeFinding>, Stop> {
        let Some(turn) = state.turn.as_ref().filter(|turn| turn.steps == 0) else { return Ok(Vec::new()) };
        // What is to be explained is told, and nothing else.
        if matches!(turn.instruction.aim, Some(Aim { purpose: Purpose::Explain, .. })) {
            return Ok(Vec::new());
        }
        let Some(index) = self.workspace.index() else { return Ok(Vec::new()) };
        if !matches!(index.status().state, IndexState::Ready | IndexState::Stale) {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        let mut best = Vec::new();
        let until = Instant::now() + PATIENCE;
        for (kind, stage) in STAGES {
            let query = CodeQuery::new(turn.instruction.text.clone(), kind, FINDINGS);
            let Ok(searched) = tokio::time::timeout_at(until, index.search(query)).await else {
                tracing::warn!(session = %self.session, "code was searched for too long");
                break;
            };
            match searched {
                Ok(mut findings) => {
                    findings.truncate(FINDINGS);
                    let results = u32::try_from(findings.len()).unwrap_or(u32::MAX);
                    events.push(EventBody::Retrieved { stage, results });
                    best = findings;
                }
                // The model can look for itself; a turn does not fail for want of a hint.
                Err(error) => {
                    tracing::warn!(session = %self.session, %error, "code could not be searched");
                }
            }
        }
        if !events.is_empty() {
            self.link.record(events).await?;
        }
        Ok(best)
    }
}
