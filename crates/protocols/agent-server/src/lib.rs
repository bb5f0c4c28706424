//! The agent server protocol (HTTP and WebSocket) as types.
//!
//! Knows every WebSocket message in both directions, every HTTP body, the endpoints, the error codes, the
//! close codes and the limits. Refuses to know sockets, routers, time and what a session does with any of it,
//! so that a client can use this crate alone.
//!
//! What always holds:
//! - **Casing:** field names and words are `snake_case`. Three lists of words differ: error codes are in
//!   capitals, policy presets and problem types in `kebab-case`.
//! - **Absence:** an optional field that has no value is left out, never `null`. The one exception is `error`
//!   in `client.patch_apply_result`, which the specification shows as `null`. On input `null` and absent are
//!   the same.
//! - **Unknown fields** are ignored, so that a peer may be newer than we are. Not so in the bodies of requests: an
//!   unknown key is a typo there, and their schemas are closed. The types of policies refuse it by themselves,
//!   since people write those on disk too; for the others it is the server that does.
//! - **Open words:** where a peer may be newer than we are (capabilities, phases, codes), an unknown word is
//!   kept as it came. Words that decide what is allowed (scopes, decisions) are closed.
//! - Every message writes its own `type`, first.
//! - The JSON Schema of every message and body is made from its type, see [`SCHEMAS`]. It promises what we write
//!   and takes what we read.

mod client;
mod context;
mod decode;
mod error;
mod http;
mod ids;
mod limits;
mod message;
mod schema;
mod server;
mod ui;
mod words;

pub use client::{
    ApprovalResponse, ApprovalScope, Cancel, ClientCapability, ClientHello, ClientInfo, ClientMessage,
    CommandResult, ContextUpdate, FileChange, FileChangeKind, FileChanges, FileHunks, PatchApplyError,
    PatchApplyResult, PatchFailure, Remember, UserMessage,
};
pub use context::{
    ActiveEditor, Commit, Diagnostic, EditorContext, GitContext, LineRange, Mention, OpenEditor, Position,
    Selection, Severity, SlashCommand, TerminalOutput,
};
pub use decode::{DecodeError, ReadFields};
pub use error::{AlreadyDecidedDetails, ErrorBody, ErrorCode, InvalidMessageDetails, ServerError};
pub use http::{
    AbandonTaskParams, AutoTaskParams, BODIES, Budget, CONTROL_VERSION, ChangesParams, ChangesResult,
    CheckState, CommandMode, CreateSessionParams, CreateTokenParams, CreatedToken, CurrentModel, Decision,
    DoctorCheck, DoctorReport, ENDPOINTS, Endpoint, Event, EventPage, Extension, ExtensionAbout,
    ExtensionButton, ExtensionCommand, ExtensionList, ExtensionLog, ExtensionLogEntry, ExtensionParams,
    ExtensionRun, ExtensionScope, ExtensionState, FieldDataType, FieldProblem, FindingSeverity,
    FinishTaskParams, ForkSessionParams, HardLinks, Health, HealthChecks, HealthStatus, HitKind, IndexState,
    IndexStatus, IndexStep, InstallPluginParams, ListedModel, LogLevel, MessageContent, MessageFinding,
    MessageFormat, MessageList, MessagePatch, MessageSchema, MessageValidation, MessageValue, ModelAbility,
    ModelList, ModelPrice, OpenMessage, OpenMessageParams, PageCode, PageCodeParams, PageSession,
    PageSessionParams, PairParams, PairResult, PairStartResult, PartialAnswer, PatchMessageParams,
    PatchedMessage, Plugin, PluginList, PluginParams, PluginScope, PluginState, PluginType, PluginValidation,
    PluginVariable, Policy, PolicyCheckParams, PolicyCheckResult, PolicyExample, PolicyLimits, PolicyPreset,
    PolicyRule, Problem, ProblemType, ProviderProblem, Reference, ReferenceKind, ReferenceList, RefusedPatch,
    RegisterWorkspaceParams, RejectedChange, RenameSessionParams, RiskLevel, RunExtensionParams,
    STRICT_BODIES, Sandbox, SaveMessageParams, SchemaField, Scope, SearchHit, SearchResult, Session,
    SessionModel, SessionPage, SessionStatus, SetMessageParams, SkippedFile, SkippedList, StartTaskParams,
    Task, TaskAgents, TaskBranch, TaskCheckpoint, TaskCost, TaskDelivery, TaskFinish, TaskHeld, TaskLineStep,
    TaskList, TaskMetadataParams, TaskPlace, TaskQuestion, TaskStepParams, TaskTextParams, TestModelParams,
    TestModelResult, TextMatch, TokenInfo, TokenList, TrustParams, TrustReport, TrustedSetting, UndoParams,
    UndoResult, UndoTaskParams, Verb, WorkItem, WorkItemPage, Workspace, WorkspacePage,
};
pub use ids::{
    ApprovalId, CommandId, ContentHash, DialogId, MessageId, PatchId, Secret, SessionId, Timestamp, TokenId,
    TurnId, WindowId, WorkspaceId,
};
pub use limits::{
    BEARER_SUBPROTOCOL_PREFIX, DEFAULT_PORT, HELLO_DEADLINE, MAX_BODY_BYTES, MAX_HEADER_BYTES,
    MAX_JSON_DEPTH, MAX_MESSAGE_BYTES, MAX_PAIRING_TRIES, MAX_SOCKETS_PER_TOKEN, PAGE_CODE_LIFETIME,
    PAGE_LIFETIME, PAIRING_CODE_LENGTH, PAIRING_CODE_LIFETIME, PING_INTERVAL, SILENCE_DEADLINE,
    STREAM_SUBPROTOCOL, close,
};
pub use message::{CLIENT, MESSAGES, Message, SERVER, Tagged};
pub use schema::{SCHEMAS, SchemaInfo};
pub use server::{
    ClientEcho, CommandRequestApproval, Decided, DoorName, Hunk, MessageFinal, ModelCapability, ModelInfo,
    NoticeKind, OutputStream, PatchProposed, Phase, Plan, PlanStep, ReplyMetadata, RetrievalStage,
    RetrieveStatus, ServerCapability, ServerHello, ServerInfo, ServerMessage, SessionNotice, SessionState,
    SessionStateUpdate, Stamp, Thinking, Token, TokenUsage, ToolExecute, ToolOutput, ToolRequestApproval,
    ToolStatus, UnknownCapability,
};
pub use ui::{
    DialogButtons, DialogCloseReason, DialogClosed, DialogKind, DialogLevel, DialogRequest, DialogResponse,
    FileFilter, WindowCloseReason, WindowClosed, WindowOpened,
};
