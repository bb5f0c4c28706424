//! The Mehrhof plugin protocol: task sources, agents and workflow steps as child processes of a host.
//!
//! Knows every message of the protocol's specification, and those that existing plugins and hosts use beyond
//! it, as types; the table that lists them; the error codes with what a host should do about each; the
//! numbers. Refuses to know processes, manifests, the task's life and what any message makes happen. The
//! host's side is ours, so what plugins say is read leniently and what we say is written strictly; both
//! directions can be read and written.
//!
//! Choices that hold for the whole crate:
//! - the protocol mixes two casings. Provider and workflow messages and the work unit are camelCase, what an
//!   agent's run is made of (`task_id`, `tokens_used`, `input_schema`, `retry_after`) and the workflow's
//!   `context` are snake_case. Each container states its own;
//! - an optional field is left out when there is nothing to say. `null` is written once, as the `data` of a
//!   stream's end, because the specification shows it;
//! - absent and `null` mean the same on input, absent lists are empty lists, unknown fields are ignored;
//! - where the specification and existing peers name the same thing differently, the type holds both names:
//!   its constructor fills both and its accessor reads either.

mod agent;
mod comments;
mod common;
mod dialect;
mod errors;
mod ids;
mod lenient;
pub mod limits;
mod provider;
mod pull_request;
mod stream;
mod table;
mod unwrap;
mod work_unit;
mod workflow;

pub use agent::{
    AgentAvailable, AgentAvailableResult, AgentCapability, AgentInit, AgentInitParams, AgentInitResult,
    AgentMetadata, AgentRun, AgentRunParams, AgentRunResult, AgentToolResult, AgentToolResultParams,
    AgentToolResultResult, RunContext, RunStatus, ToolDefinition,
};
pub use comments::{
    AddComment, AddCommentParams, AddCommentResult, AddLabels, FetchComments, FetchCommentsParams,
    FetchCommentsResult, LabelsParams, RemoveLabels, UpdateStatus, UpdateStatusParams,
};
pub use common::{Ping, PingResult, Shutdown, ShutdownResult};
pub use dialect::DIALECT;
pub use errors::{Reaction, codes, is_required, retry_after};
pub use ids::{AttachmentId, CommentId, ReferenceId, ToolUseId, WorkUnitId};
pub use provider::{
    ListFilter, ListParams, ListResult, ProviderCapability, ProviderFetch, ProviderFetchParams, ProviderInit,
    ProviderInitParams, ProviderInitResult, ProviderList, ProviderMatch, ProviderMatchParams,
    ProviderMatchResult, ProviderParse, ProviderParseParams, ProviderParseResult, ProviderSnapshot,
    ProviderSnapshotParams, ProviderSnapshotResult,
};
pub use pull_request::{
    BranchParams, CreatePr, CreatePrParams, CreatePrResult, DownloadAttachment, DownloadAttachmentParams,
    DownloadAttachmentResult, GetLinkedBranch, GetLinkedBranchParams, GetLinkedBranchResult, LinkBranch,
    UnlinkBranch,
};
pub use stream::{
    FileAction, FileEvent, Stream, StreamError, StreamEvent, ToolResultEvent, ToolUseEvent, UsageEvent,
};
pub use table::METHODS;
pub use unwrap::unwrap_result;
pub use work_unit::{Attachment, Comment, Person, Source, WorkUnit};
pub use workflow::{
    EffectDeclaration, EffectEvent, EvaluateGuard, EvaluateGuardParams, EvaluateGuardResult, ExecuteEffect,
    ExecuteEffectParams, ExecuteEffectResult, GuardDeclaration, PhaseDeclaration, WorkUnitSource,
    WorkUnitView, WorkflowContext, WorkflowInit, WorkflowInitParams, WorkflowInitResult,
};
