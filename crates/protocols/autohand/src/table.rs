//! The table of the protocol: every message, in the order of its specification, then those of peers.

use loggia_jsonrpc::{Method, MethodInfo, Notification};

use crate as a;

/// The side that started the process.
const CLIENT: &str = "client";
/// The process.
const AGENT: &str = "agent";

/// Every message of the protocol.
pub const METHODS: &[MethodInfo] = &[
    call::<a::Prompt>(),
    call::<a::Abort>(),
    call::<a::Reset>(),
    call::<a::GetState>(),
    call::<a::GetMessages>(),
    call::<a::PermissionResponse>(),
    call::<a::PermissionAcknowledged>(),
    call::<a::ChangesDecision>(),
    event::<a::AgentStart>(),
    event::<a::AgentEnd>(),
    event::<a::TurnStart>(),
    event::<a::TurnEnd>(),
    event::<a::MessageStart>(),
    event::<a::MessageUpdate>(),
    event::<a::MessageEnd>(),
    event::<a::ToolStart>(),
    event::<a::ToolUpdate>(),
    event::<a::ToolEnd>(),
    event::<a::PermissionRequest>(),
    event::<a::Error>(),
    event::<a::ChangesBatchStart>(),
    event::<a::ChangesBatchUpdate>(),
    event::<a::ChangesBatchEnd>(),
    event::<a::HookPreTool>(),
    event::<a::HookPostTool>(),
    event::<a::HookFileModified>(),
    event::<a::HookPrePrompt>(),
    event::<a::HookPostResponse>(),
    event::<a::HookSessionError>(),
    call::<a::PermissionModeSet>().from_peers(),
    call::<a::PlanModeSet>().from_peers(),
    call::<a::ApplyFlagSettings>().from_peers(),
    call::<a::ModelSet>().from_peers(),
    call::<a::GetSupportedCommands>().from_peers(),
    call::<a::GetSupportedModels>().from_peers(),
    call::<a::GetContextUsage>().from_peers(),
    call::<a::MaxThinkingTokensSet>().from_peers(),
    call::<a::SetContextCompact>().from_peers(),
    call::<a::DirectoryAccessResponse>().from_peers(),
    call::<a::DirectoryAccessAcknowledged>().from_peers(),
    call::<a::StepDecision>().from_peers(),
    call::<a::GetHistory>().from_peers(),
    call::<a::GetSession>().from_peers(),
    call::<a::SessionAttach>().from_peers(),
    call::<a::YoloSet>().from_peers(),
    call::<a::YoloSetDotted>().from_peers(),
    call::<a::GetToolsRegistry>().from_peers(),
    call::<a::McpListServers>().from_peers(),
    call::<a::McpListTools>().from_peers(),
    call::<a::McpGetServerConfigs>().from_peers(),
    call::<a::McpToggleServer>().from_peers(),
    call::<a::McpReconnectServer>().from_peers(),
    call::<a::McpSetServers>().from_peers(),
    call::<a::GetSupportedAgents>().from_peers(),
    call::<a::ReloadPlugins>().from_peers(),
    call::<a::GoalGet>().from_peers(),
    call::<a::AutomodeStatus>().from_peers(),
    event::<a::Ping>().from_peers(),
    event::<a::HookStop>().from_peers(),
    event::<a::HookSessionStart>().from_peers(),
    event::<a::HookSessionEnd>().from_peers(),
    event::<a::HookPermissionRequest>().from_peers(),
    event::<a::DirectoryAccessRequest>().from_peers(),
    event::<a::StepEnd>().from_peers(),
];

const fn call<M: Method>() -> MethodInfo {
    MethodInfo::request::<M>(CLIENT)
}

const fn event<N: Notification>() -> MethodInfo {
    MethodInfo::notification::<N>(AGENT)
}
