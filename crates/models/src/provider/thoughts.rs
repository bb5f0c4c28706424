//! Thoughts that a provider wants back.
//!
//! Anthropic signs what its models think, and wants it back unchanged with the results of the calls that followed. A
//! journal does not keep it, so it is kept here, for as long as the daemon runs. Whoever does not find it asks without
//! thinking, which is always allowed. What always holds: what is kept is bounded, the oldest goes first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::ContentPart;

/// Replies whose thoughts are kept: the open turns of many sessions.
const MAX_KEPT: usize = 512;

/// All kept thoughts together.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Thoughts by the id of the first call that followed them.
#[derive(Debug, Default)]
pub(crate) struct Thoughts(Mutex<VecDeque<(String, Vec<ContentPart>)>>);

impl Thoughts {
    /// Keeps the thoughts before a call.
    pub(super) fn keep(&self, call: &str, parts: Vec<ContentPart>) {
        if parts.is_empty() {
            return;
        }
        let mut kept = self.kept();
        kept.push_back((call.to_owned(), parts));
        let size = |parts: &[ContentPart]| parts.iter().map(ContentPart::size).sum::<usize>();
        let mut bytes: usize = kept.iter().map(|(_, parts)| size(parts)).sum();
        while kept.len() > MAX_KEPT || bytes > MAX_KEPT_BYTES {
            let Some((_, oldest)) = kept.pop_front() else { break };
            bytes = bytes.saturating_sub(size(&oldest));
        }
    }

    /// The thoughts before a call.
    pub(super) fn before(&self, call: &str) -> Option<Vec<ContentPart>> {
        self.kept().iter().rev().find(|(id, _)| id == call).map(|(_, parts)| parts.clone())
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(String, Vec<ContentPart>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What of a reply is thought.
pub(super) fn is_thought(part: &ContentPart) -> bool {
    matches!(
        part,
        ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_thoughts_go_first() {
        let thoughts = Thoughts::default();
        let some = |text: &str| vec![ContentPart::ReasoningContent(text.to_owned())];
        for number in 0..MAX_KEPT + 1 {
            thoughts.keep(&format!("call-{number}"), some("hm"));
        }
        assert!(thoughts.before("call-0").is_none());
        assert!(thoughts.before("call-1").is_some());
        thoughts.keep("long", some(&"x".repeat(MAX_KEPT_BYTES - 10)));
        assert!(thoughts.before("call-1").is_none());
        assert!(thoughts.before("long").is_some());
        thoughts.keep("longer", some(&"x".repeat(MAX_KEPT_BYTES + 1)));
        assert_eq!(thoughts.kept().len(), 0);
    }
}
