//! The Autohand protocol: a coding agent as a child process, spoken to in JSON-RPC over its standard streams.
//!
//! Knows every message of the protocol's specification, and those that existing clients need beyond it, as
//! types; the table that lists them; the error codes and the numbers. Refuses to know streams, time, the
//! engine and what any message makes happen. The agent's side is ours, so parameters of calls are read
//! leniently and notifications are written strictly; both directions can be read and written.
//!
//! Choices that hold for the whole crate:
//! - field names are camelCase on the wire;
//! - an optional field is left out when there is nothing to say, never `null`: clients reject `null` there.
//!   The exceptions carry a comment;
//! - absent and `null` mean the same on input, and unknown fields are ignored;
//! - where the specification and existing clients want different fields, the type holds both, and its
//!   constructor fills both;
//! - times are [`Timestamp`]s, plain numbers are [`Quantity`]s or whole numbers.

mod absent;
mod changes;
mod conversation;
mod dialect;
mod directory;
mod errors;
mod history;
mod hooks;
mod ids;
mod images;
pub mod limits;
mod listings;
mod modes;
mod permission;
mod quantity;
mod session;
mod steps;
mod table;
mod tools;
mod turn;
mod whole;

pub use absent::{
    AutomodeStatus, AutomodeStatusResult, GetSupportedAgents, GetSupportedAgentsResult, GoalGet, GoalResult,
    McpReconnectServer, McpSetServers, McpToggleServer, ReloadPlugins, ReloadPluginsResult,
};
pub use changes::{
    ApplyError, ChangeType, ChangesAction, ChangesBatchEnd, ChangesBatchEndParams, ChangesBatchStart,
    ChangesBatchStartParams, ChangesBatchUpdate, ChangesBatchUpdateParams, ChangesChoice, ChangesDecision,
    ChangesDecisionParams, ChangesDecisionResult, ProposedChange, SelectedHunks,
};
pub use conversation::{
    Abort, AgentStatus, AgentsMd, AuthenticatedUser, GetMessages, GetMessagesParams, GetMessagesResult,
    GetState, GetStateResult, HistoryMessage, Prompt, PromptContext, PromptParams, Reset, ResetResult, Role,
    Selection, StopMode, StopWhen, SuccessResult, ThinkingLevel, ToolCall,
};
pub use dialect::DIALECT;
pub use directory::{
    DirectoryAccessAcknowledged, DirectoryAccessAcknowledgedParams, DirectoryAccessRequest,
    DirectoryAccessRequestParams, DirectoryAccessResponse, DirectoryAccessResponseParams,
};
pub use errors::codes;
pub use history::{
    GetHistory, GetHistoryParams, GetHistoryResult, GetSession, GetSessionParams, GetSessionResult,
    SessionAttach, SessionAttachParams, SessionAttachResult, SessionDetails, SessionStatus, SessionSummary,
};
pub use hooks::{
    HookFileModified, HookFileModifiedParams, HookPermissionRequest, HookPermissionRequestParams,
    HookPostResponse, HookPostResponseParams, HookPostTool, HookPostToolParams, HookPrePrompt,
    HookPrePromptParams, HookPreTool, HookPreToolParams, HookSessionEnd, HookSessionEndParams,
    HookSessionError, HookSessionErrorParams, HookSessionStart, HookSessionStartParams, HookStop,
    SessionEndReason, SessionType,
};
pub use ids::{BatchId, ChangeId, MessageId, PermissionRequestId, SessionId, StepId, ToolId, TurnId};
pub use images::{ImageAttachment, ImageFault};
pub use listings::{
    GetContextUsage, GetContextUsageResult, GetSupportedCommands, GetSupportedCommandsResult,
    GetSupportedModels, GetSupportedModelsResult, GetToolsRegistry, GetToolsRegistryResult,
    McpGetServerConfigs, McpGetServerConfigsResult, McpListServers, McpListServersResult, McpListTools,
    McpListToolsParams, McpListToolsResult, McpServer, McpTool, RegisteredTool, RegistryDiagnostic,
    SupportedModel, ToolSource,
};
pub use modes::{
    ApplyFlagSettings, ApplyFlagSettingsParams, ApplyFlagSettingsResult, MaxThinkingTokensSet,
    MaxThinkingTokensSetParams, MaxThinkingTokensSetResult, ModelSet, ModelSetParams, ModelSetResult,
    PermissionMode, PermissionModeSet, PermissionModeSetParams, PermissionModeSetResult, PlanModeSet,
    PlanModeSetParams, SetContextCompact, SetContextCompactParams, SetContextCompactResult, YoloSet,
    YoloSetDotted, YoloSetParams, YoloSetResult,
};
pub use permission::{
    Decision, DecisionName, PermissionAcknowledged, PermissionAcknowledgedParams, PermissionContext,
    PermissionRequest, PermissionRequestParams, PermissionResponse, PermissionResponseParams,
    PermissionResponseResult, Scope,
};
pub use quantity::{NotFinite, Quantity, Timestamp};
pub use session::{
    AgentEnd, AgentEndParams, AgentEndReason, AgentStart, AgentStartParams, EndMarkerType, EndOfTurnMarker,
    Error, ErrorParams, KeepAlive, Ping, PingParams,
};
pub use steps::{Step, StepCall, StepDecision, StepDecisionParams, StepEnd, StepEndParams};
pub use table::METHODS;
pub use tools::{
    OutputStream, ToolEnd, ToolEndParams, ToolStart, ToolStartParams, ToolUpdate, ToolUpdateParams,
};
pub use turn::{
    MessageEnd, MessageEndParams, MessageStart, MessageStartParams, MessageUpdate, MessageUpdateParams,
    TokensUsageStatus, TurnEnd, TurnEndParams, TurnEndReason, TurnStart, TurnStartParams, TurnStats,
};
