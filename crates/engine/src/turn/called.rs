//! A call that is carried out: what it is, and the span that tells of it.
//!
//! What always holds: the end of a call is told to its own span, whoever writes it down and in whichever task.

use std::time::Instant;

use loggia_domain::{CommandSummary, EventBody, FileChange, PatchId, ToolCall, ToolOutcome};
use tracing::Span;

use crate::session::{CallStage, OpenCall};
use crate::turn::spans;

/// A call of the turn under way.
#[derive(Debug, Clone)]
pub(super) struct Called {
    pub(super) call: ToolCall,
    /// How far it had come.
    pub(super) stage: CallStage,
    /// Whether it is another than the model wanted.
    pub(super) is_changed: bool,
    /// The changes it proposed before.
    pub(super) patches: Vec<PatchId>,
    /// None until it begins.
    span: Span,
}

impl Called {
    pub(super) fn new(open: &OpenCall) -> Self {
        let OpenCall { call, given, stage, patches, .. } = open;
        Self {
            call: call.clone(),
            stage: *stage,
            is_changed: given.is_some(),
            patches: patches.clone(),
            span: Span::none(),
        }
    }

    /// It is its turn. Gives the span to do it in.
    pub(super) fn begin(&mut self, is_known: bool) -> Span {
        self.span = spans::tool_call(is_known.then_some(self.call.tool.as_str()), self.call.id);
        self.span.clone()
    }

    /// How it ended, for the journal.
    pub(super) fn ended(
        &self,
        outcome: ToolOutcome,
        files: Vec<FileChange>,
        command: Option<CommandSummary>,
        began: Instant,
    ) -> EventBody {
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        spans::tool_ended(&self.span, &outcome);
        EventBody::ToolEnded { call: self.call.id, outcome, files, command, milliseconds }
    }
}
