//! The HTTP side: endpoints, and bodies by resource.
//!
//! What a client posts ends in `Params`, a listing in `Page` or `List`; a resource carries its own name and is
//! the same in every answer. Journals are exported and imported as JSON Lines and have no body type here.

mod doctor;
mod endpoint;
mod extension;
mod health;
mod index;
mod message;
mod model;
mod page;
mod plugin;
mod policy;
mod problem;
mod search;
mod session;
mod task;
mod token;
mod workspace;

use loggia_jsonrpc::MessageInfo;

pub use doctor::{DoctorCheck, DoctorReport};
pub use endpoint::{ENDPOINTS, Endpoint, Verb};
pub use extension::{
    Extension, ExtensionAbout, ExtensionButton, ExtensionCommand, ExtensionList, ExtensionLog,
    ExtensionLogEntry, ExtensionParams, ExtensionRun, ExtensionScope, ExtensionState, LogLevel,
    RunExtensionParams,
};
pub use health::{CONTROL_VERSION, CheckState, Health, HealthChecks, HealthStatus};
pub use index::{
    ChangesParams, ChangesResult, IndexState, IndexStatus, IndexStep, RejectedChange, SkippedFile,
    SkippedList,
};
pub use message::{
    FieldDataType, FindingSeverity, MessageContent, MessageFinding, MessageFormat, MessageList, MessagePatch,
    MessageSchema, MessageValidation, MessageValue, OpenMessage, OpenMessageParams, PatchMessageParams,
    PatchedMessage, RefusedPatch, SaveMessageParams, SchemaField, SetMessageParams,
};
pub use model::{
    CurrentModel, ListedModel, ModelAbility, ModelList, ModelPrice, ProviderProblem, TestModelParams,
    TestModelResult,
};
pub use page::{PageCode, PageCodeParams, PageSession, PageSessionParams};
pub use plugin::{
    InstallPluginParams, Plugin, PluginList, PluginParams, PluginScope, PluginState, PluginType,
    PluginValidation, PluginVariable, TrustParams, TrustReport, TrustedSetting,
};
pub use policy::{
    CommandMode, Decision, HardLinks, Policy, PolicyCheckParams, PolicyCheckResult, PolicyExample,
    PolicyLimits, PolicyPreset, PolicyRule, RiskLevel, Sandbox,
};
pub use problem::{FieldProblem, Problem, ProblemType};
pub use search::{
    HitKind, PartialAnswer, Reference, ReferenceKind, ReferenceList, SearchHit, SearchResult, TextMatch,
};
pub use session::{
    Budget, CreateSessionParams, Event, EventPage, ForkSessionParams, RenameSessionParams, Session,
    SessionModel, SessionPage, SessionStatus, UndoParams, UndoResult,
};
pub use task::{
    AbandonTaskParams, AutoTaskParams, FinishTaskParams, StartTaskParams, Task, TaskAgents, TaskBranch,
    TaskCheckpoint, TaskCost, TaskDelivery, TaskFinish, TaskHeld, TaskLineStep, TaskList, TaskMetadataParams,
    TaskPlace, TaskQuestion, TaskStepParams, TaskTextParams, UndoTaskParams, WorkItem, WorkItemPage,
};
pub use token::{
    CreateTokenParams, CreatedToken, PairParams, PairResult, PairStartResult, Scope, TokenInfo, TokenList,
};
pub use workspace::{RegisterWorkspaceParams, Workspace, WorkspacePage};

use crate::message::{CLIENT, SERVER};
use crate::schema::SchemaInfo;

/// Declares a list of bodies once, as what can be read and written and as what is described.
macro_rules! bodies {
    (
        $(#[doc = $doc:literal])+
        $rows:ident, $schemas:ident:
        $( $body:ident = $name:literal from $sender:ident, )+
    ) => {
        $(#[doc = $doc])+
        pub const $rows: &[MessageInfo] = &[$( body::<$body>($name, $sender) ),+];
        pub(crate) const $schemas: &[SchemaInfo] = &[$( SchemaInfo::body::<$body>($name, $sender) ),+];
    };
}

bodies! {
    /// Every body, with the side that writes it. [`Endpoint::request`] and [`Endpoint::answer`] name these rows.
    ///
    /// The specification names the endpoints and leaves their bodies open, hence every row's origin.
    BODIES, BODY_SCHEMAS:
    Problem = "problem" from SERVER,
    Health = "health" from SERVER,
    WorkspacePage = "workspace_page" from SERVER,
    RegisterWorkspaceParams = "register_workspace_params" from CLIENT,
    Workspace = "workspace" from SERVER,
    PolicyCheckParams = "policy_check_params" from CLIENT,
    PolicyCheckResult = "policy_check_result" from SERVER,
    IndexStatus = "index_status" from SERVER,
    ChangesParams = "changes_params" from CLIENT,
    ChangesResult = "changes_result" from SERVER,
    SearchResult = "search_result" from SERVER,
    SkippedList = "skipped_list" from SERVER,
    ReferenceList = "reference_list" from SERVER,
    CreateSessionParams = "create_session_params" from CLIENT,
    Session = "session" from SERVER,
    SessionPage = "session_page" from SERVER,
    EventPage = "event_page" from SERVER,
    RenameSessionParams = "rename_session_params" from CLIENT,
    SessionModel = "session_model" from CLIENT,
    ForkSessionParams = "fork_session_params" from CLIENT,
    UndoParams = "undo_params" from CLIENT,
    UndoResult = "undo_result" from SERVER,
    ModelList = "model_list" from SERVER,
    CurrentModel = "current_model" from CLIENT,
    TestModelParams = "test_model_params" from CLIENT,
    TestModelResult = "test_model_result" from SERVER,
    PairStartResult = "pair_start_result" from SERVER,
    PairParams = "pair_params" from CLIENT,
    PairResult = "pair_result" from SERVER,
    PageCodeParams = "page_code_params" from CLIENT,
    PageCode = "page_code" from SERVER,
    PageSessionParams = "page_session_params" from CLIENT,
    PageSession = "page_session" from SERVER,
    CreateTokenParams = "create_token_params" from CLIENT,
    CreatedToken = "created_token" from SERVER,
    TokenList = "token_list" from SERVER,
    DoctorReport = "doctor_report" from SERVER,
    PluginList = "plugin_list" from SERVER,
    Plugin = "plugin" from SERVER,
    PluginParams = "plugin_params" from CLIENT,
    PluginValidation = "plugin_validation" from SERVER,
    InstallPluginParams = "install_plugin_params" from CLIENT,
    TrustParams = "trust_params" from CLIENT,
    TrustReport = "trust_report" from SERVER,
    TaskList = "task_list" from SERVER,
    Task = "task" from SERVER,
    StartTaskParams = "start_task_params" from CLIENT,
    AutoTaskParams = "auto_task_params" from CLIENT,
    TaskStepParams = "task_step_params" from CLIENT,
    FinishTaskParams = "finish_task_params" from CLIENT,
    AbandonTaskParams = "abandon_task_params" from CLIENT,
    UndoTaskParams = "undo_task_params" from CLIENT,
    TaskTextParams = "task_text_params" from CLIENT,
    TaskMetadataParams = "task_metadata_params" from CLIENT,
    WorkItemPage = "work_item_page" from SERVER,
    MessageList = "message_list" from SERVER,
    OpenMessage = "open_message" from SERVER,
    OpenMessageParams = "open_message_params" from CLIENT,
    MessageContent = "message_content" from SERVER,
    SetMessageParams = "set_message_params" from CLIENT,
    MessageValue = "message_value" from SERVER,
    PatchMessageParams = "patch_message_params" from CLIENT,
    PatchedMessage = "patched_message" from SERVER,
    SaveMessageParams = "save_message_params" from CLIENT,
    MessageValidation = "message_validation" from SERVER,
    MessageSchema = "message_schema" from SERVER,
    ExtensionList = "extension_list" from SERVER,
    Extension = "extension" from SERVER,
    ExtensionParams = "extension_params" from CLIENT,
    RunExtensionParams = "run_extension_params" from CLIENT,
    ExtensionRun = "extension_run" from SERVER,
    ExtensionLog = "extension_log" from SERVER,
}

bodies! {
    /// The bodies that people write, on disk too: their types refuse an unknown key wherever they are read.
    STRICT_BODIES, STRICT_BODY_SCHEMAS:
    Policy = "policy" from CLIENT,
}

const fn body<B: serde::Serialize + serde::de::DeserializeOwned>(
    name: &'static str,
    sender: &'static str,
) -> MessageInfo {
    MessageInfo::new::<B>(name, sender).from_peers()
}
