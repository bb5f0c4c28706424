//! Agents of somebody else.

use std::pin::Pin;

use futures_core::Stream;

use super::GuestError;
use crate::{BoxFuture, JsonText, ToolSpec, Usage};

/// An agent of somebody else, which takes a whole turn: it has no conversation and reads no events.
pub trait AgentBackend: Send + Sync + 'static {
    /// What people call it.
    fn name(&self) -> String;

    /// Whether it can work now; if not, why. Not asked for work that has variables of its own: whether it can work with
    /// these, it finds out when it begins.
    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Lets it work.
    fn run(&self, request: AgentRequest) -> BoxFuture<'_, Result<AgentRun, GuestError>>;
}

/// An agent at work.
pub struct AgentRun {
    /// What it says. The end without an error means that it is done; dropping this stops it.
    pub parts: AgentStream,
    /// Where results of the tools it calls go.
    pub results: Box<dyn CallResults>,
}

impl std::fmt::Debug for AgentRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentRun").finish_non_exhaustive()
    }
}

/// What a guest agent says, as it comes.
pub type AgentStream = Pin<Box<dyn Stream<Item = Result<AgentPart, GuestError>> + Send>>;

/// Takes results of tools that a guest agent called.
pub trait CallResults: Send + Sync {
    /// Hands over what came of a call, in words; also that it failed or was not allowed.
    ///
    /// # Errors
    /// When the agent does not take it.
    fn give(&self, call: &str, result: String) -> Result<(), GuestError>;
}

/// What a guest agent is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentRequest {
    /// The conversation, rendered as one text.
    pub text: String,
    /// The task it belongs to.
    pub task: Option<String>,
    /// The step of the task.
    pub step: Option<String>,
    /// Files to look at, relative to the root.
    pub files: Vec<String>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Variables it gets for this work alone.
    pub environment: Vec<(String, String)>,
}

/// One piece of what a guest agent says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPart {
    /// Text of its answer.
    Text(String),
    /// Thinking aloud; no part of the answer.
    Thought(String),
    /// A file, relative to the root, should hold this, or should go. Collected, and proposed as a patch at the end.
    File(String, Option<String>),
    /// It wants a tool called, and waits for what comes of it.
    Call(GuestCall),
    /// It called a tool of its own, and this came of it.
    OwnCall {
        /// The agent's name of the call.
        id: String,
        /// What came of it.
        result: String,
    },
    /// What was used since the last of these.
    Usage(Usage),
    /// Something people should know; no part of the answer.
    Note(String),
}

/// A tool that a guest agent wants called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCall {
    /// The agent's name of the call, to be given back with the result.
    pub id: String,
    /// Which tool.
    pub tool: String,
    /// With what.
    pub arguments: JsonText,
    /// What for, in the agent's words.
    pub purpose: Option<String>,
}
