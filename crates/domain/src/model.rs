//! Models, and what the engine needs of them.
//!
//! One trait: a conversation and descriptions of tools in, a stream of pieces out.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;

use crate::{BoxFuture, Finding, JsonText, ModelName, ToolCall, ToolSpec, Usage};

/// Something that replies.
pub trait Model: Send + Sync + 'static {
    /// What is known about it.
    fn info(&self) -> ModelInfo;

    /// Begins a reply. Dropping the future, or the stream it gives, ends it.
    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>>;
}

/// The models there are.
pub trait ModelCatalogue: Send + Sync + 'static {
    /// The model with this name; the default one without.
    fn find(&self, name: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError>;

    /// As [`find`](Self::find), for work that only a model can do: what answers while none is set is no answer to it, and
    /// a default that is still being looked for is waited for. Whoever does not say more has nothing but models.
    fn find_for_work<'a>(
        &'a self,
        name: Option<&'a ModelName>,
    ) -> BoxFuture<'a, Result<Arc<dyn Model>, ModelError>> {
        Box::pin(std::future::ready(self.find(name)))
    }

    /// What can be used. A provider that does not answer costs only its own models. Whoever does not say more has
    /// its default and nothing else.
    fn list(&self) -> BoxFuture<'_, ModelListing> {
        let models = self.find(None).map(|model| vec![model.info()]).unwrap_or_default();
        Box::pin(std::future::ready(ModelListing { models, errors: Vec::new() }))
    }

    /// What was found and what works: where models are served, whether keys are there, whether anybody answers. May
    /// ask over the network, within its own time-outs. Whoever does not say more has nothing to say.
    fn doctor(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// What can be used, and who could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelListing {
    /// The models, the default first.
    pub models: Vec<ModelInfo>,
    /// Providers that could not be asked, and why.
    pub errors: Vec<(String, ModelError)>,
}

/// A reply as it comes.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Result<ReplyPart, ModelError>> + Send>>;

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name.
    pub name: ModelName,
    /// How many tokens it can look at, its reply included.
    pub context_tokens: u64,
    /// Whether it runs on this machine.
    pub local: bool,
    /// What it can do.
    pub abilities: ModelAbilities,
    /// What it can be told about its thinking.
    pub thinking: ThinkingControl,
    /// What it costs, where that is known.
    pub price: Option<Price>,
}

impl ModelInfo {
    /// What is assumed of a model of which nothing else is known: it can call tools, and its price is unknown.
    pub fn new(name: ModelName, context_tokens: u64, local: bool) -> Self {
        Self {
            name,
            context_tokens,
            local,
            abilities: ModelAbilities::default(),
            thinking: ThinkingControl::default(),
            price: None,
        }
    }

    /// What is assumed of an agent that a plugin brings: nobody says how much it can look at, and it is shown no images.
    pub fn of_guest(agent: &str) -> Self {
        Self::new(ModelName::of_guest(agent), GUEST_WINDOW, true)
    }
}

/// What agents of the day can look at, at the least.
const GUEST_WINDOW: u64 = 128_000;

/// What a model can do beyond reading and writing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelAbilities {
    /// It can call tools.
    pub tools: bool,
    /// It can look at images.
    pub images: bool,
    /// It thinks before it replies.
    pub reasoning: bool,
}

impl Default for ModelAbilities {
    /// Without tools there is no agent; the rest is not taken for granted.
    fn default() -> Self {
        Self { tools: true, images: false, reasoning: false }
    }
}

/// What a model can be told about its thinking; nothing, unless more is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThinkingControl {
    /// Not to think.
    pub off: bool,
    /// To think harder than it does by itself.
    pub extended: bool,
    /// How many tokens to think with: the fewest it takes, if it takes any.
    pub least_tokens: Option<u32>,
}

impl ThinkingControl {
    /// Whether it can be told this.
    pub fn takes(self, thinking: Thinking) -> bool {
        match thinking {
            Thinking::Off => self.off,
            Thinking::Extended => self.extended,
            Thinking::Tokens(tokens) => self.least_tokens.is_some_and(|least| tokens >= least),
        }
    }
}

/// What tokens cost, in millionths of a US dollar per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Tokens in.
    pub input: u64,
    /// Tokens in that the provider had cached.
    pub cached_input: u64,
    /// Tokens out.
    pub output: u64,
}

impl Price {
    /// What costs nothing: a model on one's own machine.
    pub const FREE: Self = Self { input: 0, cached_input: 0, output: 0 };

    /// What a use costs, in millionths of a US dollar, rounded up: a cost is never shown as less than it is.
    pub fn cost(self, usage: &Usage) -> u64 {
        let cached = usage.cached.min(usage.input);
        let parts =
            [(usage.input - cached, self.input), (cached, self.cached_input), (usage.output, self.output)];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// The conversation.
    pub messages: Vec<ModelMessage>,
    /// The tools it may call.
    pub tools: Arc<[ToolSpec]>,
    /// How many tokens it may write, if there is a limit.
    pub max_output: Option<u64>,
    /// How much it is to think, if somebody said. A model that cannot be told so takes no notice.
    pub thinking: Option<Thinking>,
}

/// How much a model is to think before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As much as hard questions need.
    Extended,
    /// At most so many tokens.
    Tokens(u32),
}

/// One message of a conversation, as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelMessage {
    /// What it is and how it should behave.
    System(String),
    /// What people said.
    User(String),
    /// What people said and showed.
    Shown {
        /// What they said.
        text: String,
        /// What they showed.
        images: Vec<ModelImage>,
    },
    /// What it replied.
    Assistant {
        /// Its text.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    ToolResult {
        /// The call it answers.
        call: ToolCall,
        /// The answer.
        output: String,
        /// Whether it is an error.
        failed: bool,
    },
}

/// A picture for a model to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelImage {
    /// What it is: `image/png`.
    pub media_type: String,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
}

/// One piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyPart {
    /// Text.
    Text(String),
    /// Thinking aloud.
    Thought(String),
    /// A tool is to be called.
    Call {
        /// The provider's id of the call.
        provider_id: Option<String>,
        /// Which tool.
        tool: String,
        /// With what; not necessarily JSON, since a model wrote it.
        arguments: JsonText,
    },
    /// What the reply used; the last one counts.
    Usage(Usage),
    /// Another model replies than the one that was asked. Comes with every such reply, before everything else of it.
    Switched {
        /// The model that would have replied.
        from: ModelName,
        /// The model that replies.
        to: ModelName,
        /// Why.
        reason: String,
    },
}

/// Why a model did not reply, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What to do about it.
    pub kind: ModelErrorKind,
    /// What kind of trouble it is.
    pub trouble: ModelTrouble,
    /// What went wrong.
    pub message: String,
}

impl ModelError {
    /// An error of which nothing more is known than what to do about it.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let trouble = match kind {
            ModelErrorKind::TooLong => ModelTrouble::TooLong,
            ModelErrorKind::NotConfigured => ModelTrouble::NoModel,
            ModelErrorKind::Transient { .. } | ModelErrorKind::Permanent => ModelTrouble::Unknown,
        };
        Self { kind, trouble, message: message.into() }
    }

    /// The same, with what kind of trouble it is.
    #[must_use]
    pub fn with(mut self, trouble: ModelTrouble) -> Self {
        self.trouble = trouble;
        self
    }
}

/// What kind of trouble there is with a model, for whoever tells it to people or reacts to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelTrouble {
    /// It cannot be reached, or the connection broke.
    Network,
    /// It said nothing for too long.
    TimedOut,
    /// It is not well.
    Server,
    /// It is asked too often.
    TooOften,
    /// It refuses the key, or there is none.
    Key,
    /// It wants to be paid first.
    Payment,
    /// There is no such model.
    NoModel,
    /// The conversation is too long for it.
    TooLong,
    /// Something else.
    #[default]
    Unknown,
}

/// What to do about a model's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Try again: the network, an overload, a limit per minute.
    Transient {
        /// Not before this has passed, if the provider said so.
        retry_after: Option<Duration>,
    },
    /// The conversation is too long: shorten it and try again.
    TooLong,
    /// Trying again does not help: a wrong key, an unknown model, a refused request.
    Permanent,
    /// There is no model.
    NotConfigured,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_counts_cached_tokens_once_and_is_rounded_up() {
        let price = Price { input: 1_250_000, cached_input: 125_000, output: 10_000_000 };
        let usage = Usage { input: 10_000, cached: 8_000, output: 500, micro_dollars: None };
        assert_eq!(price.cost(&usage), 2_500 + 1_000 + 5_000);
        assert_eq!(price.cost(&Usage { input: 1, ..Usage::default() }), 2);
        assert_eq!(Price::FREE.cost(&usage), 0);
        // More cached than read is a provider's mistake, not a negative price.
        assert_eq!(price.cost(&Usage { input: 8, cached: 16, ..Usage::default() }), 1);
        let much = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(price.cost(&much), u64::MAX);
    }
}
