//! What a client may look up: commands, models, tools, what fills the model's window.

use std::sync::Arc;

use loggia_domain::ToolSpec;
use loggia_jsonrpc::{ErrorObject, NoParams};
use loggia_protocol_autohand::{
    GetContextUsageResult, GetSupportedCommandsResult, GetSupportedModelsResult, GetToolsRegistryResult,
    McpGetServerConfigsResult, McpListServersResult, McpListToolsParams, McpListToolsResult, RegisteredTool,
    SupportedModel, ToolSource,
};
use loggia_wire::peer::Context;

use crate::commands::COMMANDS;
use crate::door::Door;
use crate::tell::names::{description, tool_name};

/// From this share of the window on it gets tight, in percent.
const WARNING: u64 = 70;
/// From this share on it is about to burst.
const CRITICAL: u64 = 90;

/// What tokenizers come to on JSON and English, within a fifth or so.
const BYTES_PER_TOKEN: usize = 4;

pub(super) async fn commands(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetSupportedCommandsResult, ErrorObject> {
    let commands = COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    Ok(GetSupportedCommandsResult { commands })
}

/// Never empty: the one in use is there, also when its provider does not answer.
pub(super) async fn models(
    door: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetSupportedModelsResult, ErrorObject> {
    let listing = door.parts.models.list().await;
    let mut names: Vec<String> = listing.models.into_iter().map(|model| model.name.0).collect();
    let current = door.place().teller().model.name.clone();
    if !names.contains(&current) {
        names.insert(0, current);
    }
    let model = |id: String| SupportedModel { display_name: display_name(&id), id };
    Ok(GetSupportedModelsResult { models: names.into_iter().map(model).collect() })
}

/// `provider:model` as people read it.
fn display_name(id: &str) -> String {
    id.split_once(':').map_or_else(|| id.to_owned(), |(provider, model)| format!("{model} ({provider})"))
}

pub(super) async fn context_usage(
    door: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetContextUsageResult, ErrorObject> {
    let place = door.place();
    let tools = door.parts.engine.tools(place.workspace.id).await.map_err(ErrorObject::internal)?;
    let size = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.parameters.0.len();
    let tools = (tools.iter().map(size).sum::<usize>() / BYTES_PER_TOKEN) as u64;
    let teller = place.teller();
    let (used, window) = (teller.tokens_used(), teller.model.window);
    // What a model counts includes its tools; what is guessed from the conversation does not.
    let total = used.max(tools);
    let percent = (window > 0).then(|| (total.saturating_mul(100) / window).min(100));
    Ok(GetContextUsageResult {
        system_prompt: 0,
        tools,
        messages: total - tools,
        mcp_tools: 0,
        memory_files: 0,
        total,
        context_window: (window > 0).then_some(window),
        usage_percent: percent.map(Into::into),
        is_warning: percent.map(|percent| percent >= WARNING),
        is_critical: percent.map(|percent| percent >= CRITICAL),
    })
}

pub(super) async fn tools(
    door: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetToolsRegistryResult, ErrorObject> {
    let workspace = door.place().workspace.id;
    let tools = door.parts.engine.tools(workspace).await.map_err(ErrorObject::internal)?;
    let registered = |tool: &ToolSpec| RegisteredTool {
        name: tool_name(&tool.name).to_owned(),
        description: description(&tool.description),
        source: ToolSource::Builtin,
    };
    Ok(GetToolsRegistryResult { tools: tools.iter().map(registered).collect(), diagnostics: Vec::new() })
}

/// There are no tool servers here.
pub(super) async fn servers(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<McpListServersResult, ErrorObject> {
    Ok(McpListServersResult { servers: Vec::new() })
}

pub(super) async fn server_tools(
    _: Arc<Door>,
    _: Context,
    _: McpListToolsParams,
) -> Result<McpListToolsResult, ErrorObject> {
    Ok(McpListToolsResult { tools: Vec::new() })
}

pub(super) async fn server_configs(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<McpGetServerConfigsResult, ErrorObject> {
    Ok(McpGetServerConfigsResult { configs: Vec::new() })
}
