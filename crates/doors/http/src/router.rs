//! Which handler answers what.
//!
//! Paths and methods are those of the protocol's table; a test walks the table and asks for each of them.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use loggia_protocol_agent_server::ProblemType;

use crate::Door;
use crate::door::Inner;
use crate::problem::Problem;
use crate::{guard, page, rest, stream};

impl Door {
    /// Everything the door answers, for any kind of connection. Requests carry a [`Peer`](crate::Peer) as an
    /// extension.
    pub fn router(&self) -> Router {
        let inner = Arc::clone(&self.0);
        Router::new()
            .merge(server())
            .merge(workspaces())
            .merge(plugins())
            .merge(tasks())
            .merge(messages())
            .merge(extensions())
            .merge(sessions())
            .merge(contract())
            .merge(page::routes())
            .merge(stream::routes())
            .fallback(nowhere)
            .method_not_allowed_fallback(not_like_this)
            .layer(from_fn_with_state(Arc::clone(&inner), guard::pass))
            .with_state(inner)
    }
}

/// What the server is and who may use it.
fn server() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/health", get(rest::health::health))
        .route("/v1/doctor", get(rest::doctor::doctor))
        .route("/v1/stop", post(rest::stop::stop))
        .route("/metrics", get(rest::metrics::metrics))
        .route("/v1/models", get(rest::models::list))
        .route(
            "/v1/models/current",
            get(rest::models::current).put(rest::models::set_current).delete(rest::models::forget_current),
        )
        .route("/v1/models/test", post(rest::models::test))
        .route("/v1/tokens", get(rest::tokens::list).post(rest::tokens::create))
        .route("/v1/tokens/{token_id}", delete(rest::tokens::revoke))
        .route("/v1/pair/start", post(rest::pairing::start))
        .route("/v1/pair", post(rest::pairing::redeem))
        .route("/v1/page/code", post(rest::page::code))
        .route("/v1/page/session", get(rest::page::who).post(rest::page::open).delete(rest::page::end))
}

fn workspaces() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/workspaces", get(rest::workspaces::list))
        .route("/v1/workspaces/register", post(rest::workspaces::register))
        .route("/v1/workspaces/{workspace_id}", get(rest::workspaces::one))
        .route(
            "/v1/workspaces/{workspace_id}/trust",
            get(rest::trust::report).post(rest::trust::give).delete(rest::trust::take),
        )
        .route("/v1/workspaces/{workspace_id}/policy", get(rest::policy::get).put(rest::policy::put))
        .route("/v1/workspaces/{workspace_id}/policy/check", post(rest::policy::check))
        .route("/v1/workspaces/{workspace_id}/index/status", get(rest::index::status))
        .route("/v1/workspaces/{workspace_id}/index/rebuild", post(rest::index::rebuild))
        .route("/v1/workspaces/{workspace_id}/index/refresh", post(rest::index::refresh))
        .route("/v1/workspaces/{workspace_id}/index/incremental", post(rest::index::incremental))
        .route("/v1/workspaces/{workspace_id}/index/skipped", get(rest::index::skipped))
        .route("/v1/workspaces/{workspace_id}/index/pause", post(rest::index::pause))
        .route("/v1/workspaces/{workspace_id}/index/resume", post(rest::index::resume))
        .route("/v1/workspaces/{workspace_id}/index/cancel", post(rest::index::cancel))
        .route("/v1/workspaces/{workspace_id}/index", delete(rest::index::forget))
        .route("/v1/workspaces/{workspace_id}/search", get(rest::search::search))
        .route("/v1/workspaces/{workspace_id}/references", get(rest::search::references))
}

fn plugins() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/plugins", get(rest::plugins::list))
        .route("/v1/plugins/install", post(rest::plugins::install))
        .route("/v1/plugins/{plugin}", get(rest::plugins::one).delete(rest::plugins::remove))
        .route("/v1/plugins/{plugin}/enable", post(rest::plugins::enable))
        .route("/v1/plugins/{plugin}/disable", post(rest::plugins::disable))
        .route("/v1/plugins/{plugin}/validate", post(rest::plugins::validate))
}

fn tasks() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/tasks", get(rest::tasks::list).post(rest::tasks::start))
        .route("/v1/tasks/auto", post(rest::tasks::auto))
        .route("/v1/tasks/browse", get(rest::tasks::browse))
        .route("/v1/tasks/{task_id}", get(rest::tasks::one))
        .route("/v1/tasks/{task_id}/plan", post(rest::tasks::plan))
        .route("/v1/tasks/{task_id}/implement", post(rest::tasks::implement))
        .route("/v1/tasks/{task_id}/review", post(rest::tasks::review))
        .route("/v1/tasks/{task_id}/resume", post(rest::tasks::resume))
        .route("/v1/tasks/{task_id}/finish", post(rest::tasks::finish))
        .route("/v1/tasks/{task_id}/abandon", post(rest::tasks::abandon))
        .route("/v1/tasks/{task_id}/note", post(rest::tasks::note))
        .route("/v1/tasks/{task_id}/answer", post(rest::tasks::answer))
        .route("/v1/tasks/{task_id}/metadata", post(rest::tasks::set_metadata))
        .route("/v1/tasks/{task_id}/undo", post(rest::tasks::undo))
        .route("/v1/tasks/{task_id}/redo", post(rest::tasks::redo))
        .route("/v1/tasks/{task_id}/override", post(rest::tasks::override_guard))
}

fn messages() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/messages", get(rest::messages::list).post(rest::messages::open))
        .route("/v1/messages/schema", get(rest::messages::the_schema))
        .route("/v1/messages/{message_id}", get(rest::messages::one).delete(rest::messages::close))
        .route("/v1/messages/{message_id}/text", get(rest::messages::text).put(rest::messages::set_text))
        .route("/v1/messages/{message_id}/value", get(rest::messages::value))
        .route("/v1/messages/{message_id}/patch", post(rest::messages::patch))
        .route("/v1/messages/{message_id}/undo", post(rest::messages::undo))
        .route("/v1/messages/{message_id}/redo", post(rest::messages::redo))
        .route("/v1/messages/{message_id}/save", post(rest::messages::save))
        .route("/v1/messages/{message_id}/validation", get(rest::messages::validate))
}

fn extensions() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/extensions", get(rest::extensions::list))
        .route("/v1/extensions/start", post(rest::extensions::start))
        .route("/v1/extensions/{extension}", get(rest::extensions::one))
        .route("/v1/extensions/{extension}/logs", get(rest::extensions::logs))
        .route("/v1/extensions/{extension}/restart", post(rest::extensions::restart))
        .route("/v1/extensions/{extension}/stop", post(rest::extensions::stop))
        .route("/v1/extensions/{extension}/run", post(rest::extensions::run))
}

fn sessions() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/sessions", get(rest::sessions::list).post(rest::sessions::create))
        .route("/v1/sessions/import", post(rest::transfer::import))
        .route("/v1/sessions/{session_id}", get(rest::sessions::one).delete(rest::sessions::delete))
        .route("/v1/sessions/{session_id}/events", get(rest::events::events))
        .route("/v1/sessions/{session_id}/export", get(rest::transfer::export))
        .route("/v1/sessions/{session_id}/rename", post(rest::intents::rename))
        .route("/v1/sessions/{session_id}/model", post(rest::intents::set_model))
        .route("/v1/sessions/{session_id}/continue", post(rest::intents::go_on))
        .route("/v1/sessions/{session_id}/cancel", post(rest::intents::cancel))
        .route("/v1/sessions/{session_id}/fork", post(rest::sessions::fork))
        .route("/v1/sessions/{session_id}/undo", post(rest::undo::undo))
        .route("/v1/sessions/{session_id}/redo", post(rest::undo::redo))
}

/// What the endpoints take and answer, for programs.
fn contract() -> Router<Arc<Inner>> {
    Router::new()
        .route("/v1/openapi.json", get(rest::contract::openapi))
        .route("/v1/schemas/{name}", get(rest::contract::schema))
}

async fn nowhere() -> Problem {
    Problem::not_found("there is nothing here; `/v1/openapi.json` lists what there is")
}

async fn not_like_this() -> Problem {
    Problem::of(
        ProblemType::MethodNotAllowed,
        "this exists, but not with this method; `allow` says with which",
    )
}
