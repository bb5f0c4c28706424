//! What a turn does, as spans for whoever collects them. Without a collector they cost nothing.
//!
//! They hold names, numbers and outcomes. Refuses to know contents: arguments, replies and comments stay in the journal.

use loggia_domain::{ApprovalId, CallId, ModelErrorKind, ModelName, ToolOutcome};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::session::chronicle::{model_word, name, number, scope_word};
use crate::turn::Stop;
use crate::turn::calls::Clearance;
use crate::turn::reply::{Broken, Replied};

/// The model is asked once.
pub(super) fn model_call(model: &ModelName) -> Span {
    info_span!(
        "model call",
        otel.kind = "client",
        gen_ai.request.model = model_word(model).as_ref(),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        outcome = Empty,
        otel.status_code = Empty,
    )
}

/// What came of it.
pub(super) fn model_replied(span: &Span, replied: &Result<Result<Replied, Broken>, Stop>) {
    let outcome = match replied {
        Ok(Ok(replied)) => {
            span.record("gen_ai.usage.input_tokens", number(replied.usage.input));
            span.record("gen_ai.usage.output_tokens", number(replied.usage.output));
            "replied"
        }
        Ok(Err(broken)) => {
            span.record("otel.status_code", "ERROR");
            match broken.error.kind {
                ModelErrorKind::Transient { .. } => "failed for now",
                ModelErrorKind::TooLong => "too long",
                _ => "failed",
            }
        }
        Err(_) => "stopped",
    };
    span.record("outcome", outcome);
}

/// A tool is called. Its name is one of ours; nothing stands for what a model makes up.
pub(super) fn tool_call(tool: Option<&str>, call: CallId) -> Span {
    let tool = tool.unwrap_or("_OTHER");
    info_span!("tool call", gen_ai.tool.name = tool, call.id = %call, outcome = Empty)
}

/// What came of the call; once, since a collector would get both. One that is dropped with its turn has no outcome.
pub(super) fn tool_ended(span: &Span, outcome: &ToolOutcome) {
    let word = match outcome {
        ToolOutcome::Succeeded { .. } => "succeeded",
        ToolOutcome::Failed { .. } => "failed",
        ToolOutcome::Denied { .. } => "denied",
        ToolOutcome::Cancelled => "cancelled",
    };
    span.record("outcome", word);
}

/// People are waited for.
pub(super) fn approval_wait(approval: ApprovalId) -> Span {
    info_span!("approval wait", approval.id = %approval, by = Empty, outcome = Empty)
}

/// What they decided.
pub(super) fn approval_decided(span: &Span, clearance: &Clearance) {
    span.record("outcome", scope_word(&clearance.scope));
    if let Some(by) = &clearance.by {
        span.record("by", name(by));
    }
}
