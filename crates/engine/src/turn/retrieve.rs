//! Looking for code that belongs to an instruction, before the model is first asked.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Aim, CodeContext, CodeFinding, CodeQuestion, EventBody, IndexState, Instruction, PastChange, Purpose,
    StageCount,
};
use tokio::time::Instant;

use crate::session::State;
use crate::turn::{Stop, Turn};

/// Findings handed to the model. It can search for more itself.
const FINDINGS: usize = 8;

/// About how many tokens of code these have together: somebody pays for them, wanted or not.
const BUDGET: usize = 4000;

/// How many commits back a file counts as changed lately.
const LATELY: usize = 10;

/// How long people wait for hints before the model is asked without them.
const PATIENCE: Duration = Duration::from_secs(2);

impl Turn {
    /// Relevant code, if the workspace has a usable index and this is the turn's first step.
    pub(super) async fn retrieve(&self, state: &State) -> Result<Vec<CodeFinding>, Stop> {
        let Some(turn) = state.turn.as_ref().filter(|turn| turn.steps == 0) else { return Ok(Vec::new()) };
        // What is to be explained is told, and nothing else.
        if matches!(turn.instruction.aim, Some(Aim { purpose: Purpose::Explain, .. })) {
            return Ok(Vec::new());
        }
        let Some(index) = self.workspace.index() else { return Ok(Vec::new()) };
        let until = Instant::now() + PATIENCE;
        let (status, committed) =
            tokio::join!(tokio::time::timeout_at(until, index.prepare()), self.committed());
        let Ok(status) = status else { return Ok(Vec::new()) };
        // One that is being built still answers from its last finished state.
        if !matches!(status.state, IndexState::Ready | IndexState::Stale | IndexState::Building) {
            return Ok(Vec::new());
        }
        let question = CodeQuestion {
            text: turn.instruction.text.clone(),
            context: code_context(&turn.instruction, state, &committed),
            history: committed,
            limit: FINDINGS,
            budget: BUDGET,
        };
        let Ok(found) = tokio::time::timeout_at(until, index.retrieve(question)).await else {
            tracing::warn!(session = %self.session, "code was searched for too long");
            return Ok(Vec::new());
        };
        let found = match found {
            Ok(found) => found,
            // The model can look for itself; a turn does not fail for want of a hint.
            Err(error) => {
                tracing::debug!(session = %self.session, %error, "code could not be searched");
                return Ok(Vec::new());
            }
        };
        let event = |count: &StageCount| EventBody::Retrieved { stage: count.stage, results: count.results };
        let events: Vec<EventBody> = found.stages.iter().map(event).collect();
        if !events.is_empty() {
            self.link.record(events).await?;
        }
        Ok(found.findings)
    }

    /// What the last commits changed.
    async fn committed(&self) -> Arc<[PastChange]> {
        let repository = (self.shared.parts.repositories)(&self.workspace.workspace().root);
        self.workspace.commits().lately(&self.shared, repository).await
    }
}

/// Which files matter: what the client said of its surroundings, what this session changed, and the last commits.
fn code_context(instruction: &Instruction, state: &State, committed: &[PastChange]) -> CodeContext {
    let mut context = instruction.nearby.clone();
    let aimed = instruction.aim.iter().flat_map(|aim| aim.files.iter().map(|file| file.path.clone()));
    context.mentions.extend(aimed);
    context.recent.splice(0..0, state.lately.iter().map(ToString::to_string));
    for path in committed.iter().take(LATELY).flat_map(|change| &change.files) {
        if context.recent.len() >= CodeContext::MAX_EACH {
            break;
        }
        if !context.recent.contains(path) {
            context.recent.push(path.clone());
        }
    }
    context
}
