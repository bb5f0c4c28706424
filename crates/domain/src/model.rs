//! Models, and what the engine needs of them.
//!
//! One trait: a conversation and descriptions of tools in, a stream of pieces out.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;

use crate::{BoxFuture, JsonText, ModelName, ToolCall, ToolSpec, Usage};

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

    /// What can be used. A provider that does not answer costs only its own models. Whoever does not say more has
    /// its default and nothing else.
    fn list(&self) -> BoxFuture<'_, ModelListing> {
        let models = self.find(None).map(|model| vec![model.info()]).unwrap_or_default();
        Box::pin(std::future::ready(ModelListing { models, errors: Vec::new() }))
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
}

/// One message of a conversation, as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelMessage {
    /// What it is and how it should behave.
    System(String),
    /// What people said.
    User(String),
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
}

/// Why a model did not reply, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What to do about it.
    pub kind: ModelErrorKind,
    /// What went wrong.
    pub message: String,
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
