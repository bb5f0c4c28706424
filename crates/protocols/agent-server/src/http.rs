//! The HTTP side: endpoints, and bodies by resource.
//!
//! What a client posts ends in `Params`, a listing in `Page` or `List`; a resource carries its own name and is
//! the same in every answer. Journals are exported and imported as JSON Lines and have no body type here.

mod doctor;
mod endpoint;
mod health;
mod index;
mod model;
mod policy;
mod problem;
mod search;
mod session;
mod token;
mod workspace;

use loggia_jsonrpc::MessageInfo;

pub use doctor::{DoctorCheck, DoctorReport};
pub use endpoint::{ENDPOINTS, Endpoint, Verb};
pub use health::{CONTROL_VERSION, CheckState, Health, HealthChecks, HealthStatus};
pub use index::{ChangesParams, ChangesResult, IndexState, IndexStatus, RejectedChange};
pub use model::{CurrentModel, ListedModel, ModelList, ProviderProblem};
pub use policy::{
    CommandMode, Decision, HardLinks, Policy, PolicyCheckParams, PolicyCheckResult, PolicyExample,
    PolicyLimits, PolicyPreset, PolicyRule, RiskLevel, Sandbox,
};
pub use problem::{FieldProblem, Problem, ProblemType};
pub use search::{HitKind, SearchHit, SearchResult};
pub use session::{
    Budget, CreateSessionParams, Event, EventPage, ForkSessionParams, RenameSessionParams, Session,
    SessionModel, SessionPage, SessionStatus, UndoParams, UndoResult,
};
pub use token::{
    CreateTokenParams, CreatedToken, PairParams, PairResult, PairStartResult, Scope, TokenInfo, TokenList,
};
pub use workspace::{RegisterWorkspaceParams, Workspace, WorkspacePage};

use crate::message::{CLIENT, SERVER};

/// Every body, with the side that writes it. [`Endpoint::request`] and [`Endpoint::answer`] name these rows.
///
/// The specification names the endpoints and leaves their bodies open, hence every row's origin.
pub const BODIES: &[MessageInfo] = &[
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
    body::<PairStartResult>("pair_start_result", SERVER),
    body::<PairParams>("pair_params", CLIENT),
    body::<PairResult>("pair_result", SERVER),
    body::<CreateTokenParams>("create_token_params", CLIENT),
    body::<CreatedToken>("created_token", SERVER),
    body::<TokenList>("token_list", SERVER),
    body::<DoctorReport>("doctor_report", SERVER),
];

/// The bodies that people write: an unknown key is refused in these.
pub const STRICT_BODIES: &[MessageInfo] = &[body::<Policy>("policy", CLIENT)];

const fn body<B: serde::Serialize + serde::de::DeserializeOwned>(
    name: &'static str,
    sender: &'static str,
) -> MessageInfo {
    MessageInfo::new::<B>(name, sender).from_peers()
}
