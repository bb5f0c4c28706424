//! Loggia's words as plain types.
//!
//! Knows what a session, an event, an approval and a patch are, and what the engine needs of the parts around it:
//! a store, models, tools, a runner, an index, a repository, guests. Refuses to know how anything is stored, sent or shown: no
//! type here derives serde, and no wire protocol's field name appears. Uses nothing of ours.
//!
//! What always holds:
//! - ids are the same text on every door: a prefix that says what they name, then a UUIDv7;
//! - an event is an immutable fact with a sequence number that only rises; what is not worth keeping is a
//!   [`Passing`] and has none;
//! - free-form JSON (tool arguments) stays text in [`JsonText`] and is parsed by whoever owns it.

mod aim;
mod approval;
mod client;
mod dialog;
mod event;
mod extension;
mod finding;
mod guest;
mod id;
mod index;
mod intent;
mod json;
mod message;
mod message_desk;
mod model;
mod patch;
mod plan;
mod plugin;
mod policy;
mod repository;
mod runner;
mod session;
mod store;
mod task;
mod time;
mod tool;
mod turn;
mod workspace;

pub use aim::{Aim, AimedFile, Purpose, Spot};
pub use approval::{ApprovalAnswer, ApprovalScope, Question, Remember, Risk};
pub use client::{Abilities, Actor, Client, Door, Role};
pub use dialog::{
    ConfirmWords, Dialog, DialogAnswer, DialogBody, DialogError, DialogWeight, Dialogs, FileKind, GuestWindow,
};
pub use event::{Event, EventBody, NewEvent, Passing};
pub use extension::{
    CommandDone, ExtensionAbout, ExtensionDesk, ExtensionDeskError, ExtensionListing, ExtensionLogEntry,
    ExtensionLogLevel, ExtensionState, ExtensionSummary, GuestButton, GuestCommand, GuestCommands,
    NoExtensions,
};
pub use finding::{Finding, FindingLevel};
pub use guest::{
    AgentBackend, AgentPart, AgentRequest, AgentRun, AgentStream, BarredAgent, BarredProvider, CallResults,
    GuestCall, GuestError, GuestFinder, Guests, Occasion, Proposal, Proposed, ProviderAbility, StepMoment,
    StepPlace, TaskProvider, Verdict, WorkItem, WorkQuery, WorkflowEffect, WorkflowGuard, WorkflowHook,
    WorkflowParts, WorkflowStep,
};
pub use id::{
    ApprovalId, BatchId, CallId, CheckpointId, ClientId, DialogId, DocumentId, IdError, MessageId, PatchId,
    SessionId, TurnId, WindowId, WorkspaceId,
};
pub use index::{
    CodeContext, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, Definition, Embedder,
    EmbedderError, IndexBuild, IndexControl, IndexDetails, IndexError, IndexProgress, IndexState,
    IndexStatus, IndexStep, QueryKind, ReadableCode, ReferenceKind, ReferenceQuery, Retrieved, SkippedFile,
    StageCount, SymbolKind, TextMatch,
};
pub use intent::{Accepted, CommandReport, Intent, PatchReport, WhenBusy};
pub use json::JsonText;
pub use message::{AssistantMessage, ToolCall};
pub use message_desk::{
    DeskEvent, DeskEvents, FieldOverlay, MessageDesk, MessageError, MessageFinding, MessageFormat,
    MessageKind, MessagePatch, MessageSchema, MessageText, OpenMessage, Opening, Overlaid, PatchedMessage,
    ProposedMessage, RefusedPatch, SchemaField, SchemaMoment, SchemaOverlay, Unsaved,
};
pub use model::{
    Model, ModelAbilities, ModelCatalogue, ModelError, ModelErrorKind, ModelImage, ModelInfo, ModelListing,
    ModelMessage, ModelRequest, ModelTrouble, Price, ReplyPart, ReplyStream, Thinking, ThinkingControl,
};
pub use patch::{
    ContentHash, FileChange, FileChangeKind, FileState, Hunk, ObservedChange, Patch, PatchFailure,
};
pub use plan::{Plan, PlanStep};
pub use plugin::{
    NoPlugins, PluginAbout, PluginDesk, PluginDeskError, PluginKind, PluginListing, PluginStanding,
    PluginSummary, PluginVariable, TrustConsequences, TrustedSetting,
};
pub use policy::{CommandMode, Decision, HardLinks, Policy, PolicyLimits, Rule, RuleExample, SandboxPolicy};
pub use repository::{Commit, Merge, PastChange, Repository, RepositoryError, Standing};
pub use runner::{
    CapturedOutput, CommandEnd, CommandExit, CommandSpec, Confinement, OutputSink, RunError, Runner,
    SandboxLevel,
};
pub use session::{Budget, Seq, SessionSummary};
pub use store::{BlobError, BoxFuture, Page, RunningReply, SessionQuery, Store, StoreError};
pub use task::{
    CheckResult, Delivery, EffectResult, GuardWord, StepEnd, TaskAgents, TaskBranch, TaskCommit, TaskEvent,
    TaskId, TaskIdError, TaskNames, TaskQuestion, TaskStart,
};
pub use time::Timestamp;
pub use tool::{
    ArgumentError, CommandRequest, CommandSummary, Demand, Executor, FileEdit, GuestCommandRequest,
    OutputStream, PreparedCall, Tool, ToolContext, ToolEffect, ToolError, ToolOutcome, ToolSpec,
};
pub use turn::{
    Image, Instruction, ModelName, OwnInstructions, Restraint, RetrievalStage, TurnEnd, TurnFailure, Usage,
};
pub use workspace::{Preset, Workspace};
