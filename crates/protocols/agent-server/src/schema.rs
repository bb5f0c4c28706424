//! The contract as JSON Schema (2020-12): one schema for each message and each body, made from its type.
//!
//! Knows which of our types stands behind each name. Refuses to know where the schemas are kept or served.
//!
//! What always holds:
//! - A schema stands alone: all its references point into itself.
//! - What clients send is described as we read it, `null` for an absent field included. What the server sends is
//!   described as we write it: a field that is always there is required, and none is ever `null`.
//! - Lists of words that may grow take any text; closed ones do not.

mod shape;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::client::{
    ApprovalResponse, Cancel, ClientHello, CommandResult, ContextUpdate, FileChanges, PatchApplyResult,
    UserMessage,
};
use crate::error::ServerError;
use crate::http::{
    ChangesParams, ChangesResult, CreateSessionParams, CreateTokenParams, CreatedToken, CurrentModel,
    DoctorReport, EventPage, ForkSessionParams, Health, IndexStatus, ModelList, PairParams, PairResult,
    PairStartResult, Policy, PolicyCheckParams, PolicyCheckResult, Problem, RegisterWorkspaceParams,
    RenameSessionParams, SearchResult, Session, SessionPage, TestModelParams, TestModelResult, TokenList,
    UndoParams, UndoResult, Workspace, WorkspacePage,
};
use crate::message::{CLIENT, Message, SERVER};
use crate::server::{
    ClientEcho, CommandRequestApproval, MessageFinal, PatchProposed, Plan, RetrieveStatus, ServerHello,
    SessionNotice, SessionStateUpdate, Thinking, Token, ToolExecute, ToolOutput, ToolRequestApproval,
};

/// What every schema's `$id` begins with.
const ID_PREFIX: &str = "urn:loggia:agent-server:v1:";

/// One schema of the contract.
#[derive(Debug, Clone, Copy)]
pub struct SchemaInfo {
    /// The message's `type`, or the body's name in [`BODIES`](crate::BODIES).
    pub name: &'static str,
    /// Which side writes what it describes: [`CLIENT`] or [`SERVER`].
    pub sender: &'static str,
    make: fn(&str) -> Schema,
}

/// A schema for every row of [`MESSAGES`](crate::MESSAGES), [`BODIES`](crate::BODIES) and
/// [`STRICT_BODIES`](crate::STRICT_BODIES), in their order.
pub const SCHEMAS: &[SchemaInfo] = &[
    message::<ClientHello>(CLIENT),
    message::<UserMessage>(CLIENT),
    message::<ContextUpdate>(CLIENT),
    message::<ApprovalResponse>(CLIENT),
    message::<PatchApplyResult>(CLIENT),
    message::<CommandResult>(CLIENT),
    message::<Cancel>(CLIENT),
    message::<FileChanges>(CLIENT),
    message::<ServerHello>(SERVER),
    message::<Thinking>(SERVER),
    message::<Plan>(SERVER),
    message::<RetrieveStatus>(SERVER),
    message::<ToolExecute>(SERVER),
    message::<PatchProposed>(SERVER),
    message::<ToolRequestApproval>(SERVER),
    message::<CommandRequestApproval>(SERVER),
    message::<Token>(SERVER),
    message::<MessageFinal>(SERVER),
    message::<ServerError>(SERVER),
    message::<SessionStateUpdate>(SERVER),
    message::<ToolOutput>(SERVER),
    message::<ClientEcho>(SERVER),
    message::<SessionNotice>(SERVER),
    body::<Problem>("problem", SERVER),
    body::<Health>("health", SERVER),
    body::<WorkspacePage>("workspace_page", SERVER),
    body::<RegisterWorkspaceParams>("register_workspace_params", CLIENT),
    body::<Workspace>("workspace", SERVER),
    body::<PolicyCheckParams>("policy_check_params", CLIENT),
    body::<PolicyCheckResult>("policy_check_result", SERVER),
    body::<IndexStatus>("index_status", SERVER),
    body::<ChangesParams>("changes_params", CLIENT),
    body::<ChangesResult>("changes_result", SERVER),
    body::<SearchResult>("search_result", SERVER),
    body::<CreateSessionParams>("create_session_params", CLIENT),
    body::<Session>("session", SERVER),
    body::<SessionPage>("session_page", SERVER),
    body::<EventPage>("event_page", SERVER),
    body::<RenameSessionParams>("rename_session_params", CLIENT),
    body::<ForkSessionParams>("fork_session_params", CLIENT),
    body::<UndoParams>("undo_params", CLIENT),
    body::<UndoResult>("undo_result", SERVER),
    body::<ModelList>("model_list", SERVER),
    body::<CurrentModel>("current_model", CLIENT),
    body::<TestModelParams>("test_model_params", CLIENT),
    body::<TestModelResult>("test_model_result", SERVER),
    body::<PairStartResult>("pair_start_result", SERVER),
    body::<PairParams>("pair_params", CLIENT),
    body::<PairResult>("pair_result", SERVER),
    body::<CreateTokenParams>("create_token_params", CLIENT),
    body::<CreatedToken>("created_token", SERVER),
    body::<TokenList>("token_list", SERVER),
    body::<DoctorReport>("doctor_report", SERVER),
    body::<Policy>("policy", CLIENT),
];

impl SchemaInfo {
    /// The schema, whole.
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)(self.sender);
        schema.insert("$id".to_owned(), format!("{ID_PREFIX}{}", self.name).into());
        schema.insert("title".to_owned(), self.name.into());
        let mut schema = schema.to_value();
        // The same text whether or not some crate makes maps keep their order.
        schema.sort_all_objects();
        schema
    }

    /// The schema as the text of a file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

const fn message<M: Message + JsonSchema>(sender: &'static str) -> SchemaInfo {
    SchemaInfo { name: M::TYPE, sender, make: message_schema::<M> }
}

const fn body<B: JsonSchema>(name: &'static str, sender: &'static str) -> SchemaInfo {
    SchemaInfo { name, sender, make: root_schema::<B> }
}

/// A message's schema with its `type`, which the derive leaves out of structs.
fn message_schema<M: Message + JsonSchema>(sender: &str) -> Schema {
    let mut schema = root_schema::<M>(sender);
    let tag = json!({ "type": "string", "const": M::TYPE });
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("type".to_owned(), tag);
    }
    let mut required = vec![Value::from("type")];
    if let Some(Value::Array(names)) = schema.remove("required") {
        required.extend(names);
    }
    schema.insert("required".to_owned(), required.into());
    schema
}

fn root_schema<T: JsonSchema>(sender: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(shape::bound_integers))
        .with_transform(RecursiveTransform(shape::plain_description));
    let settings = if sender == CLIENT {
        settings.for_deserialize()
    } else {
        settings.for_serialize().with_transform(RecursiveTransform(shape::as_written))
    };
    settings.into_generator().into_root_schema_for::<T>()
}
