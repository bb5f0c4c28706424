//! What hosts fill: programs of other people that the engine works with without knowing their protocols.
//!
//! A guest says what it can do; what it cannot is [`GuestError::Unsupported`], never silence. Dropping a future or a
//! stream tells the host to stop what it began. How long a guest may take is the host's affair.

use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;

use crate::{BoxFuture, JsonText, Page, SessionId, Usage};

/// An agent of somebody else, which takes a whole turn: it has no conversation and reads no events.
pub trait AgentBackend: Send + Sync + 'static {
    /// What people call it.
    fn name(&self) -> String;

    /// Whether it can work now; if not, why.
    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Lets it work. The end of the stream without an error means that it is done.
    fn run(&self, request: AgentRequest) -> BoxFuture<'_, Result<AgentStream, GuestError>>;
}

/// What a guest agent says, as it comes.
pub type AgentStream = Pin<Box<dyn Stream<Item = Result<AgentPart, GuestError>> + Send>>;

/// What a guest agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRequest {
    /// The conversation, rendered as one text.
    pub text: String,
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
    /// What was used since the last of these.
    Usage(Usage),
}

/// Brings work items from somewhere and tells that place what became of them.
pub trait TaskProvider: Send + Sync + 'static {
    /// What references to its items begin with, before the colon.
    fn schemes(&self) -> Vec<String>;

    /// The key of the item that a reference such as `scheme:rest` means; nothing if it is not one of its own.
    fn resolve(&self, reference: String) -> BoxFuture<'_, Result<Option<String>, GuestError>>;

    /// One item.
    fn fetch(&self, key: String) -> BoxFuture<'_, Result<WorkItem, GuestError>>;

    /// Lists items.
    fn list(&self, query: WorkQuery) -> BoxFuture<'_, Result<Page<WorkItem>, GuestError>>;

    /// Moves an item to another status.
    fn set_status(&self, key: String, status: String) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Who said what about an item, oldest first.
    fn comments(&self, key: String) -> BoxFuture<'_, Result<Vec<(String, String)>, GuestError>>;

    /// Says something about an item.
    fn comment(&self, key: String, text: String) -> BoxFuture<'_, Result<(), GuestError>>;
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// What it is fetched with.
    pub key: String,
    /// What people call it for short, for names of branches; nothing if it has no such name.
    pub label: Option<String>,
    /// In one line.
    pub title: String,
    /// In full, as its place has it.
    pub description: String,
    /// How far it is, in its place's words.
    pub status: Option<String>,
    /// Words it was marked with.
    pub tags: Vec<String>,
    /// Where people look at it.
    pub location: Option<String>,
    /// Whatever else its place told, as an object.
    pub more: JsonText,
}

/// Which items to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkQuery {
    /// Only with this status.
    pub status: Option<String>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// At most so many.
    pub limit: usize,
    /// Those after this place, as an earlier page gave it.
    pub cursor: Option<String>,
}

/// Has a say in how work goes from step to step.
pub trait WorkflowHook: Send + Sync + 'static {
    /// The steps it adds.
    fn steps(&self) -> BoxFuture<'_, Result<Vec<WorkflowStep>, GuestError>>;

    /// A step is about to begin.
    fn before(&self, moment: StepMoment) -> BoxFuture<'_, Result<Verdict, GuestError>>;

    /// A step is done; the next one begins unless this stops it.
    fn after(&self, moment: StepMoment) -> BoxFuture<'_, Result<Verdict, GuestError>>;
}

/// A step that a hook adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowStep {
    /// Its name.
    pub name: String,
    /// The step it comes right after; without one it comes last.
    pub after: Option<String>,
}

/// What a hook is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepMoment {
    /// The step.
    pub step: String,
    /// The session it happens in.
    pub session: SessionId,
    /// What is worked on.
    pub item: WorkItem,
    /// What the step's agent will be told; empty for a step without one.
    pub instruction: String,
}

/// What a hook says to a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on. These things went wrong without stopping anything; people are told.
    Allow(Vec<String>),
    /// Go on, with this instruction instead.
    Change(String),
    /// Stop here, for this reason, until somebody decides otherwise.
    Stop(String),
}

/// Commands that extensions offer.
pub trait GuestCommands: Send + Sync + 'static {
    /// The commands of all extensions that run, in the order in which these were configured.
    fn commands(&self) -> Vec<GuestCommand>;

    /// Runs a command. It ends when its extension has gone quiet.
    fn execute(&self, command: String, arguments: JsonText) -> BoxFuture<'_, Result<(), GuestError>>;
}

/// A command that an extension offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCommand {
    /// What it is run with.
    pub id: String,
    /// The extension.
    pub guest: String,
    /// What people see.
    pub title: String,
}

/// The open message of one workspace, which its extensions work on.
pub trait MessageDesk: Send + Sync + 'static {
    /// What is open, if anything is.
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>>;

    /// Opens a file, relative to the root; an empty message without one. What was open is closed.
    fn open(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// The message in a format.
    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<String, MessageError>>;

    /// Puts another message in its place.
    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;

    /// Writes it to its file, or to another one.
    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>>;
}

/// A message that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMessage {
    /// Its file, relative to the root; nothing if it was never saved.
    pub path: Option<String>,
    /// Whether it differs from its file.
    pub unsaved: bool,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageFormat {
    /// As in its file.
    Plain,
    /// As JSON.
    Json,
    /// As YAML.
    Yaml,
    /// As TOML.
    Toml,
}

/// Why a message cannot be worked on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// None is open.
    #[error("no message is open")]
    NoneOpen,
    /// The text is no message in that format.
    #[error("the text is not a message: {0}")]
    BadText(String),
    /// Its file cannot be read or written.
    #[error("the message's file cannot be used: {0}")]
    BadFile(String),
}

/// Why a guest did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuestError {
    /// It cannot do this at all: do not ask again.
    #[error("this is nothing it can do")]
    Unsupported,
    /// There is nothing of that name.
    #[error("there is no `{0}`")]
    NotFound(String),
    /// It lacks a key or a password: somebody must give it one.
    #[error("it has no access: {0}")]
    NoAccess(String),
    /// It did not answer in time.
    #[error("it did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It is not running, or not any more.
    #[error("it is not running: {0}")]
    Gone(String),
    /// It answered that it failed.
    #[error("{0}")]
    Failed(String),
}
