//! What a client may ask for: one file for each group of methods.
//!
//! Knows how a call becomes one of the engine, and how its outcome is told. Methods that nobody needs are not here, and
//! are answered by name as unknown.

mod absent;
mod changes;
mod conversation;
mod history;
mod language_client;
mod listings;
mod modes;
mod named;
mod permission;
mod prompt;
mod session;
mod shutdown;
mod steps;

use std::future::Future;
use std::sync::Arc;

use loggia_engine::IntentError;
use loggia_jsonrpc::{ErrorObject, Method};
use loggia_protocol_autohand::{self as wire, codes};
use loggia_wire::peer::{Context, Router};

use crate::door::Door;
use crate::framing::Framing;
use named::{Named, Object};

/// Everything that is served on a connection.
pub(crate) fn router(door: &Arc<Door>, framing: &Framing) -> Router {
    let router = language_client::serve(Router::new(), door, framing);
    let router = held::<wire::Prompt, _, _, _>(router, door, prompt::prompt);
    let router = free::<wire::Abort, _, _>(router, door, conversation::abort);
    let router = free::<wire::GetState, _, _>(router, door, conversation::get_state);
    let router = free::<wire::GetMessages, _, _>(router, door, conversation::get_messages);
    let router = free::<wire::Reset, _, _>(router, door, session::reset);
    let router = free::<wire::PermissionResponse, _, _>(router, door, permission::response);
    let router = free::<wire::PermissionAcknowledged, _, _>(router, door, permission::acknowledged);
    let router = free::<wire::ChangesDecision, _, _>(router, door, changes::decision);
    let router = free::<wire::PermissionModeSet, _, _>(router, door, modes::permission_mode);
    let router = free::<wire::PlanModeSet, _, _>(router, door, modes::plan_mode);
    let router = free::<wire::ApplyFlagSettings, _, _>(router, door, modes::flag_settings);
    let router = free::<wire::ModelSet, _, _>(router, door, modes::model);
    let router = free::<wire::MaxThinkingTokensSet, _, _>(router, door, modes::thinking_tokens);
    let router = free::<wire::SetContextCompact, _, _>(router, door, modes::context_compact);
    let router = free::<wire::YoloSet, _, _>(router, door, modes::yolo);
    let router = free::<wire::YoloSetDotted, _, _>(router, door, modes::yolo);
    let router = free::<wire::GetSupportedCommands, _, _>(router, door, listings::commands);
    let router = free::<wire::GetSupportedModels, _, _>(router, door, listings::models);
    let router = free::<wire::GetContextUsage, _, _>(router, door, listings::context_usage);
    let router = free::<wire::GetToolsRegistry, _, _>(router, door, listings::tools);
    let router = free::<wire::McpListServers, _, _>(router, door, listings::servers);
    let router = free::<wire::McpListTools, _, _>(router, door, listings::server_tools);
    let router = free::<wire::McpGetServerConfigs, _, _>(router, door, listings::server_configs);
    let router = free::<wire::McpToggleServer, _, _>(router, door, absent::servers);
    let router = free::<wire::McpReconnectServer, _, _>(router, door, absent::servers);
    let router = free::<wire::McpSetServers, _, _>(router, door, absent::servers);
    let router = free::<wire::GetSupportedAgents, _, _>(router, door, absent::agents);
    let router = free::<wire::ReloadPlugins, _, _>(router, door, absent::plugins);
    let router = free::<wire::GoalGet, _, _>(router, door, absent::goal);
    let router = free::<wire::AutomodeStatus, _, _>(router, door, absent::automode);
    let router = free::<wire::DirectoryAccessResponse, _, _>(router, door, permission::directory_response);
    let router =
        free::<wire::DirectoryAccessAcknowledged, _, _>(router, door, permission::directory_acknowledged);
    let router = free::<wire::StepDecision, _, _>(router, door, steps::decision);
    let router = free::<wire::GetHistory, _, _>(router, door, history::list);
    let router = free::<wire::GetSession, _, _>(router, door, history::read);
    let router = held::<wire::SessionAttach, _, _, _>(router, door, session::attach);
    free::<shutdown::AutohandShutdown, _, _>(router, door, shutdown::shutdown)
}

/// Serves a method.
fn free<M, H, F>(router: Router, door: &Arc<Door>, handler: H) -> Router
where
    M: Method,
    H: Fn(Arc<Door>, Context, M::Params) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<M::Result, ErrorObject>> + Send + 'static,
{
    held::<M, _, _, ()>(router, door, move |door, context, params| {
        let work = handler(door, context, params);
        async move { (work.await, ()) }
    })
}

/// Serves a method that holds something until it is answered.
fn held<M, H, F, G>(router: Router, door: &Arc<Door>, handler: H) -> Router
where
    M: Method,
    H: Fn(Arc<Door>, Context, M::Params) -> F + Send + Sync + 'static,
    F: Future<Output = (Result<M::Result, ErrorObject>, G)> + Send + 'static,
    G: Send + 'static,
{
    let door = Arc::clone(door);
    router.serve_holding::<Named<M>, _, _, _>(move |context, Object(params)| {
        let under_way = door.serving();
        let work = handler(Arc::clone(&door), context, params);
        async move {
            let (outcome, held) = work.await;
            (outcome, (held, under_way))
        }
    })
}

/// Why the session did not do what it was asked, as clients are told.
fn refused(error: &IntentError) -> ErrorObject {
    match error {
        IntentError::Busy => busy(),
        IntentError::TooLong { .. }
        | IntentError::TooManyImages
        | IntentError::BadAnswer(_)
        | IntentError::Agent(_) => ErrorObject::invalid_params(error),
        IntentError::Forbidden { .. } => ErrorObject::new(codes::PERMISSION_DENIED, error.to_string()),
        IntentError::Store(_) => ErrorObject::internal(error),
        _ => ErrorObject::new(codes::EXECUTION_ERROR, error.to_string()),
    }
}

fn busy() -> ErrorObject {
    ErrorObject::new(codes::AGENT_BUSY, "Agent is already processing a request")
}

/// What was asked was called off, by an abort or because the connection is being closed.
fn aborted() -> ErrorObject {
    ErrorObject::new(codes::ABORTED, "The operation was aborted")
}
