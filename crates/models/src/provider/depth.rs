//! How much a model thinks before it replies: what was set for it, what its session wants, and what providers take.
//!
//! What always holds: what a provider does not take is not sent to it; the session's wish goes before the setting.

use genai::chat::ReasoningEffort;
use loggia_domain::{ModelInfo, Thinking, ThinkingControl};

use crate::{Effort, EndpointKind};

/// The fewest tokens Anthropic lets a model think with.
const ANTHROPIC_LEAST: u32 = 1024;

/// How much a model thinks before a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Not at all.
    Off,
    /// So hard.
    Effort(Effort),
    /// With at most so many tokens.
    Tokens(u32),
}

impl Depth {
    /// What holds for a reply; nothing if it is the provider's affair.
    pub(super) fn of(info: &ModelInfo, set: Option<Effort>, wanted: Option<Thinking>) -> Option<Self> {
        let wanted = wanted.filter(|wanted| info.thinking.takes(*wanted)).map(|wanted| match wanted {
            Thinking::Off => Self::Off,
            Thinking::Extended => Self::Effort(Effort::High),
            Thinking::Tokens(tokens) => Self::Tokens(tokens),
        });
        wanted.or(set.map(Self::Effort))
    }

    /// In the library's words.
    pub(super) fn effort(self, kind: EndpointKind) -> ReasoningEffort {
        match self {
            // It says nothing at all to Gemini for its own word.
            Self::Off if kind == EndpointKind::Gemini => ReasoningEffort::Budget(0),
            Self::Off => ReasoningEffort::Zero,
            Self::Effort(Effort::Low) => ReasoningEffort::Low,
            Self::Effort(Effort::Medium) => ReasoningEffort::Medium,
            Self::Effort(Effort::High) => ReasoningEffort::High,
            Self::Tokens(tokens) => ReasoningEffort::Budget(tokens),
        }
    }
}

/// What the models of an endpoint that think can be told about it.
pub(super) fn control(kind: EndpointKind) -> ThinkingControl {
    match kind {
        // Most of these servers refuse a request that forbids thinking, and none takes a number.
        EndpointKind::OpenAi => ThinkingControl { off: false, extended: true, least_tokens: None },
        EndpointKind::Ollama => ThinkingControl { off: true, extended: true, least_tokens: None },
        EndpointKind::Anthropic => {
            ThinkingControl { off: true, extended: true, least_tokens: Some(ANTHROPIC_LEAST) }
        }
        EndpointKind::Gemini => ThinkingControl { off: true, extended: true, least_tokens: Some(1) },
    }
}
