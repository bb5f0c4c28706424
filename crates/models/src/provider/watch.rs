//! What the frames of a reply say beyond what the library makes of them.
//!
//! The library hands over pieces of a call without saying which call they belong to, and takes a stream that was cut for
//! one that ended. It lets us look at every frame before it reads it; this is where we look. What always holds: what is
//! kept is bounded, whatever is sent.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde::Deserialize;
use serde_json::Value;

/// Pieces of calls in one frame: providers send one, or a few.
const MAX_PIECES: usize = 1024;

/// How much of a provider's own words about an error is kept.
const MAX_ERROR_CHARS: usize = 2000;

/// What the frames said so far.
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    pieces: VecDeque<Piece>,
    /// How many calls came whole.
    whole_calls: u32,
    /// Whether there was a frame with something in it, and one with nothing.
    told: bool,
    blank: bool,
    finished: bool,
    error: Option<String>,
}

/// Which call a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) index: u32,
    /// Whether the provider named the call.
    pub(super) has_id: bool,
}

impl Watch {
    /// Which call the next piece belongs to.
    pub(super) fn next_piece(&self) -> Option<Piece> {
        self.seen().pieces.pop_front()
    }

    /// The next piece is a whole call of its own.
    pub(super) fn expect_call(&self, has_id: bool) {
        let mut seen = self.seen();
        let index = seen.whole_calls;
        seen.whole_calls = index.saturating_add(1);
        if seen.pieces.len() < MAX_PIECES {
            seen.pieces.push_back(Piece { index, has_id });
        }
    }

    /// Whether something came that has no events in it.
    pub(super) fn is_blank(&self) -> bool {
        let seen = self.seen();
        seen.blank && !seen.told
    }

    /// Whether the model said that it is done.
    pub(super) fn is_finished(&self) -> bool {
        self.seen().finished
    }

    /// What the provider said went wrong, where the library does not hear it.
    pub(super) fn error(&self) -> Option<String> {
        self.seen().error.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Watch {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        {
            let mut seen = self.seen();
            seen.blank |= frame.data.is_empty();
            seen.told |= !frame.data.is_empty();
        }
        // A frame that does not fit is the library's to complain about.
        let Ok(frame) = serde_json::from_str::<Frame<'_>>(frame.data) else { return };
        let mut seen = self.seen();
        if let Some(error) = frame.error {
            seen.error = Some(error.get().chars().take(MAX_ERROR_CHARS).collect());
        }
        let Some(choice) = frame.choices.unwrap_or_default().into_iter().next() else { return };
        seen.finished |= choice.finish_reason.is_some_and(|reason| reason.is_string());
        let calls = choice.delta.and_then(|delta| delta.tool_calls).unwrap_or_default();
        for call in calls {
            // The same that the library passes over.
            let index = call.get("index").and_then(Value::as_u64).and_then(|index| u32::try_from(index).ok());
            let (Some(index), Some(_)) = (index, call.get("function")) else { continue };
            if seen.pieces.len() < MAX_PIECES {
                seen.pieces.push_back(Piece { index, has_id: call.get("id").is_some_and(Value::is_string) });
            }
        }
    }
}

/// What is of interest in a frame of the chat completions, and in an error of any kind.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(borrow, default)]
    error: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    tool_calls: Option<Vec<Value>>,
}
