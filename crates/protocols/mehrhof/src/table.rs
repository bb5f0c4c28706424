//! The table of the protocol: every message, in the order of its specification, then those of peers.

use loggia_jsonrpc::{Method, MethodInfo};

use crate as m;

/// The side that started the process.
const HOST: &str = "host";
/// The process.
const PLUGIN: &str = "plugin";

/// Every message of the protocol. Plugins never ask; they answer, and tell of running agents.
pub const METHODS: &[MethodInfo] = &[
    call::<m::ProviderInit>(),
    call::<m::ProviderMatch>(),
    call::<m::ProviderParse>(),
    call::<m::ProviderFetch>(),
    call::<m::ProviderSnapshot>(),
    call::<m::ProviderList>(),
    call::<m::AgentInit>(),
    call::<m::AgentAvailable>(),
    call::<m::AgentRun>(),
    MethodInfo::notification::<m::Stream>(PLUGIN),
    call::<m::AgentToolResult>(),
    call::<m::WorkflowInit>(),
    call::<m::EvaluateGuard>(),
    call::<m::ExecuteEffect>(),
    call::<m::Shutdown>(),
    call::<m::Ping>(),
    call::<m::AddComment>().from_peers(),
    call::<m::UpdateStatus>().from_peers(),
    call::<m::FetchComments>().from_peers(),
    call::<m::AddLabels>().from_peers(),
    call::<m::RemoveLabels>().from_peers(),
    call::<m::LinkBranch>().from_peers(),
    call::<m::UnlinkBranch>().from_peers(),
    call::<m::GetLinkedBranch>().from_peers(),
    call::<m::CreatePr>().from_peers(),
    call::<m::DownloadAttachment>().from_peers(),
];

const fn call<M: Method>() -> MethodInfo {
    MethodInfo::request::<M>(HOST)
}
