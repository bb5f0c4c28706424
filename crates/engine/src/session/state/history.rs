//! What has been said, as a model is to see it.
//!
//! Knows what was said and in which order. Refuses to know how it is put to a model: that is the turn's affair.
//! Items are shared, so that a copy of the history costs a pointer each.

use std::sync::Arc;

use loggia_domain::{
    Actor, AssistantMessage, Instruction, JsonText, Patch, PatchFailure, Seq, ToolCall, ToolOutcome,
};
use serde_json::{Map, Value};

use crate::changes;

/// What has been said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    items: Vec<Arc<HistoryItem>>,
    /// What summaries stand for, the newest last: undoing goes back to before a summary, too.
    compacted: Vec<Compacted>,
}

/// What a summary stands for.
#[derive(Debug, Clone, PartialEq)]
struct Compacted {
    through: Seq,
    items: Arc<[Arc<HistoryItem>]>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryItem {
    /// The event it came with.
    pub seq: Seq,
    /// What was said.
    pub said: Said,
}

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Somebody gave an instruction.
    User {
        /// The instruction.
        instruction: Instruction,
        /// Who.
        by: Actor,
    },
    /// A client told of its surroundings.
    Context(JsonText),
    /// The model replied.
    Assistant {
        /// The reply.
        message: AssistantMessage,
        /// Whether it was cut before its end.
        cut: bool,
    },
    /// A tool answered.
    Tool {
        /// The call.
        call: ToolCall,
        /// The answer.
        outcome: ToolOutcome,
    },
    /// What the model has to know besides.
    Notice(String),
    /// What stands for everything before it.
    Summary(String),
}

impl History {
    /// Oldest first.
    pub fn items(&self) -> &[Arc<HistoryItem>] {
        &self.items
    }

    pub(super) fn push(&mut self, seq: Seq, said: Said) {
        self.items.push(Arc::new(HistoryItem { seq, said }));
    }

    /// Replaces everything up to an event by a summary.
    pub(super) fn compact(&mut self, through: Seq, summary: &str) {
        let kept = self.items.iter().position(|item| item.seq > through).unwrap_or(self.items.len());
        let summary = HistoryItem { seq: through, said: Said::Summary(summary.to_owned()) };
        let items = self.items.splice(..kept, [Arc::new(summary)]).collect();
        self.compacted.push(Compacted { through, items });
    }

    /// Takes off everything from an event on. A summary of something after it gives way to what it stands for.
    pub(super) fn cut_from(&mut self, from: Seq) -> Vec<Arc<HistoryItem>> {
        while let Some(compacted) = self.compacted.pop_if(|compacted| compacted.through >= from) {
            self.items.splice(..1, compacted.items.iter().cloned());
        }
        let place = self.items.iter().position(|item| item.seq >= from).unwrap_or(self.items.len());
        self.items.split_off(place)
    }

    /// Puts back what was taken off. What was said meanwhile comes after it, as it did.
    pub(super) fn put_back(&mut self, items: &[Arc<HistoryItem>]) {
        self.items.extend_from_slice(items);
        self.items.sort_by_key(|item| item.seq);
    }
}

/// What a model is told of a change of which people took only some hunks.
pub(crate) fn partly(patch: &Patch, hunks: &[usize]) -> String {
    format!(
        "Applied {} of {} hunks to `{}`. These were refused:\n{}",
        hunks.len(),
        patch.hunks.len(),
        patch.path,
        changes::rest(patch, hunks)
    )
}

/// What a model is told of a comment.
pub(crate) fn says(comment: &str) -> String {
    format!("The one who decided says: {comment}")
}

/// What a model is told of a call that somebody changed: what of it is other than it was.
pub(super) fn changed(call: &ToolCall, given: &JsonText) -> String {
    let fields = |JsonText(text): &JsonText| serde_json::from_str::<Map<String, Value>>(text);
    let news = match (fields(given), fields(&call.arguments)) {
        (Ok(given), Ok(now)) => {
            let differs = |(name, value): &(&String, &Value)| given.get(*name) != Some(*value);
            let told = |(name, value): (&String, &Value)| format!("`{name}` became {value}");
            let became = now.iter().filter(differs).map(told);
            let gone = given.keys().filter(|name| !now.contains_key(*name));
            became.chain(gone.map(|name| format!("`{name}` was left out"))).collect::<Vec<_>>().join(", ")
        }
        _ => format!("its arguments became {}", call.arguments.0),
    };
    format!("Whoever was asked about your `{}` call changed it: {news}.", call.tool)
}

/// What a model is told of a collected change that did not come about.
pub(super) fn dropped(patch: &Patch, failure: &PatchFailure) -> Option<String> {
    let why = match failure {
        // The model made the later change itself.
        PatchFailure::Superseded => return None,
        PatchFailure::Refused => "was refused".to_owned(),
        PatchFailure::Withdrawn => "was not decided about before the turn ended".to_owned(),
        PatchFailure::Conflict { .. } => "does not fit any more, since the file has changed".to_owned(),
        PatchFailure::Unwritable { message } => format!("could not be written: {message}"),
    };
    Some(format!("The collected change to `{}` {why}; the file is as it was.", patch.path))
}
