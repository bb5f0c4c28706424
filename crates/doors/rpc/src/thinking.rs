//! How much the model is to think, in this protocol's words.
//!
//! Pure. What a model can be told about it is the model's affair: a level that it cannot be told stays the session's
//! wish, and changes nothing.

use loggia_domain::Thinking;
use loggia_protocol_autohand::ThinkingLevel;

/// A level that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Not at all.
    None,
    /// As the model does by itself.
    Normal,
    /// As much as hard questions need.
    Extended,
}

impl Level {
    /// The level with this name; nothing if nobody knows it.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "normal" => Some(Self::Normal),
            "extended" => Some(Self::Extended),
            _ => None,
        }
    }

    /// The level a client asks for; nothing if nobody knows it.
    pub(crate) fn of(level: &ThinkingLevel) -> Option<Self> {
        match level {
            ThinkingLevel::None => Some(Self::None),
            ThinkingLevel::Normal => Some(Self::Normal),
            ThinkingLevel::Extended => Some(Self::Extended),
            ThinkingLevel::Other(_) => None,
        }
    }

    /// What a session is asked for.
    pub(crate) fn thinking(self) -> Option<Thinking> {
        match self {
            Self::None => Some(Thinking::Off),
            Self::Normal => None,
            Self::Extended => Some(Thinking::Extended),
        }
    }
}

/// What a number of tokens asks for: none is no thinking.
pub(crate) fn of_tokens(tokens: Option<u64>) -> Thinking {
    match tokens {
        None | Some(0) => Thinking::Off,
        // More than any model thinks with.
        Some(tokens) => Thinking::Tokens(u32::try_from(tokens).unwrap_or(u32::MAX)),
    }
}

/// What is in force, as clients are told: a level, or a number of tokens.
pub(crate) fn told(thinking: Option<Thinking>) -> (Option<ThinkingLevel>, Option<u64>) {
    match thinking {
        None => (None, None),
        Some(Thinking::Off) => (Some(ThinkingLevel::None), None),
        Some(Thinking::Extended) => (Some(ThinkingLevel::Extended), None),
        Some(Thinking::Tokens(tokens)) => (None, Some(u64::from(tokens))),
    }
}
