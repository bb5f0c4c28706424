//! The conversation as clients read it.
//!
//! Pure. Ids are the same on every reading, times are those of the events.

use std::collections::BTreeMap;

use loggia_domain::{Seq, Timestamp, ToolOutcome};
use loggia_engine::{HistoryItem, Mask, Said};
use loggia_protocol_autohand::{HistoryMessage, MessageId, Role};

use crate::tell::moment::moment;
use crate::tell::names;

/// When each event happened.
pub(crate) type Times = BTreeMap<Seq, Timestamp>;

/// One thing that was said.
pub(crate) fn message(item: &HistoryItem, times: &Times, mask: &Mask) -> HistoryMessage {
    let at = times.get(&item.seq).copied().unwrap_or(Timestamp(0));
    let numbered = || MessageId(format!("msg_{}", item.seq.0));
    let (id, role, content, tool_calls) = match &item.said {
        Said::User { instruction, .. } => (numbered(), Role::User, instruction.told().into_owned(), None),
        Said::Assistant { message, .. } => {
            let calls = message.calls.iter().map(|call| names::call(call, mask));
            let calls = (!message.calls.is_empty()).then(|| calls.collect());
            (MessageId(message.id.to_string()), Role::Assistant, message.text.clone(), calls)
        }
        Said::Tool { call, outcome } => {
            (MessageId(format!("msg_{}", call.id)), Role::Tool, outcome_text(outcome).to_owned(), None)
        }
        Said::Context(context) => (numbered(), Role::System, context.0.clone(), None),
        Said::Notice(text) | Said::Summary(text) => (numbered(), Role::System, text.clone(), None),
    };
    HistoryMessage { id, role, content, timestamp: moment(at), tool_calls }
}

/// What a tool's end comes to, in words.
pub(crate) fn outcome_text(outcome: &ToolOutcome) -> &str {
    match outcome {
        ToolOutcome::Succeeded { output } => output,
        ToolOutcome::Failed { message } => message,
        ToolOutcome::Denied { reason } => reason,
        ToolOutcome::Cancelled => "cancelled",
    }
}
