//! The table of endpoints: what can be asked, where, and who may ask.
//!
//! Knows no router. The door walks this table to check that it serves all of it.

use loggia_jsonrpc::Origin;

use crate::http::Scope;

/// One thing that can be asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// How it is asked.
    pub verb: Verb,
    /// Where; parameters stand in braces.
    pub path: &'static str,
    /// What the token must allow; `None` where no token is needed.
    pub scope: Option<Scope>,
    /// Who defines it.
    pub origin: Origin,
    /// The body it takes, by its name in [`BODIES`](crate::BODIES).
    pub request: Option<&'static str>,
    /// The body of its good answer; a bad one is always a `problem`.
    pub answer: Option<&'static str>,
}

/// An HTTP method, or the opening of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
    /// `GET` with an upgrade to a WebSocket.
    WebSocket,
}

/// Every endpoint, in the order of the specification and then by subject.
pub const ENDPOINTS: &[Endpoint] = &[
    get("/v1/health", READ).open().answers("health"),
    get("/v1/workspaces", READ).answers("workspace_page"),
    post("/v1/workspaces/register", ADMIN).takes("register_workspace_params").answers("workspace"),
    get("/v1/workspaces/{workspace_id}", READ).answers("workspace"),
    get("/v1/workspaces/{workspace_id}/policy", READ).answers("policy"),
    put("/v1/workspaces/{workspace_id}/policy", ADMIN).takes("policy").answers("policy"),
    post("/v1/workspaces/{workspace_id}/index/rebuild", DRIVE).answers("index_status"),
    post("/v1/workspaces/{workspace_id}/index/refresh", DRIVE).answers("index_status"),
    post("/v1/workspaces/{workspace_id}/index/incremental", DRIVE)
        .takes("changes_params")
        .answers("changes_result"),
    get("/v1/workspaces/{workspace_id}/index/status", READ).answers("index_status"),
    post("/v1/sessions", DRIVE).takes("create_session_params").answers("session"),
    get("/v1/sessions", READ).answers("session_page"),
    get("/v1/sessions/{session_id}", READ).answers("session"),
    delete("/v1/sessions/{session_id}", DRIVE),
    get("/v1/models", READ).answers("model_list"),
    get("/v1/models/current", READ).answers("current_model"),
    put("/v1/models/current", ADMIN).takes("current_model").answers("current_model"),
    stream("/v1/sessions/{session_id}/stream", READ),
    // Beyond the specification.
    get("/v1/sessions/{session_id}/events", READ).answers("event_page").added(),
    post("/v1/sessions/{session_id}/rename", DRIVE).takes("rename_session_params").answers("session").added(),
    post("/v1/sessions/{session_id}/model", DRIVE).takes("session_model").answers("session").added(),
    post("/v1/sessions/{session_id}/fork", DRIVE).takes("fork_session_params").answers("session").added(),
    post("/v1/sessions/{session_id}/undo", DRIVE).takes("undo_params").answers("undo_result").added(),
    post("/v1/sessions/{session_id}/redo", DRIVE).takes("undo_params").answers("undo_result").added(),
    post("/v1/sessions/{session_id}/continue", DRIVE).answers("session").added(),
    post("/v1/sessions/{session_id}/cancel", DRIVE).answers("session").added(),
    get("/v1/sessions/{session_id}/export", READ).added(),
    post("/v1/sessions/import", DRIVE).answers("session").added(),
    post("/v1/workspaces/{workspace_id}/policy/check", READ)
        .takes("policy_check_params")
        .answers("policy_check_result")
        .added(),
    get("/v1/workspaces/{workspace_id}/index/skipped", READ).answers("skipped_list").added(),
    post("/v1/workspaces/{workspace_id}/index/pause", DRIVE).answers("index_status").added(),
    post("/v1/workspaces/{workspace_id}/index/resume", DRIVE).answers("index_status").added(),
    post("/v1/workspaces/{workspace_id}/index/cancel", DRIVE).answers("index_status").added(),
    delete("/v1/workspaces/{workspace_id}/index", DRIVE).answers("index_status").added(),
    get("/v1/workspaces/{workspace_id}/search", READ).answers("search_result").added(),
    get("/v1/workspaces/{workspace_id}/references", READ).answers("reference_list").added(),
    get("/v1/workspaces/{workspace_id}/trust", READ).answers("trust_report").added(),
    post("/v1/workspaces/{workspace_id}/trust", ADMIN).takes("trust_params").answers("workspace").added(),
    delete("/v1/workspaces/{workspace_id}/trust", ADMIN).added(),
    get("/v1/plugins", READ).answers("plugin_list").added(),
    post("/v1/plugins/install", ADMIN).takes("install_plugin_params").answers("plugin").added(),
    get("/v1/plugins/{plugin}", READ).answers("plugin").added(),
    delete("/v1/plugins/{plugin}", ADMIN).added(),
    post("/v1/plugins/{plugin}/enable", ADMIN).takes("plugin_params").answers("plugin").added(),
    post("/v1/plugins/{plugin}/disable", ADMIN).takes("plugin_params").answers("plugin").added(),
    post("/v1/plugins/{plugin}/validate", ADMIN).takes("plugin_params").answers("plugin_validation").added(),
    get("/v1/tasks", READ).answers("task_list").added(),
    post("/v1/tasks", DRIVE).takes("start_task_params").answers("task").added(),
    post("/v1/tasks/auto", DRIVE).takes("auto_task_params").answers("task").added(),
    get("/v1/tasks/browse", DRIVE).answers("work_item_page").added(),
    get("/v1/tasks/{task_id}", READ).answers("task").added(),
    post("/v1/tasks/{task_id}/plan", DRIVE).takes("task_step_params").answers("task").added(),
    post("/v1/tasks/{task_id}/implement", DRIVE).takes("task_step_params").answers("task").added(),
    post("/v1/tasks/{task_id}/review", DRIVE).takes("task_step_params").answers("task").added(),
    post("/v1/tasks/{task_id}/resume", DRIVE).takes("task_step_params").answers("task").added(),
    post("/v1/tasks/{task_id}/finish", DRIVE).takes("finish_task_params").answers("task").added(),
    post("/v1/tasks/{task_id}/abandon", DRIVE).takes("abandon_task_params").answers("task").added(),
    post("/v1/tasks/{task_id}/note", DRIVE).takes("task_text_params").answers("task").added(),
    post("/v1/tasks/{task_id}/answer", DRIVE).takes("task_text_params").answers("task").added(),
    post("/v1/tasks/{task_id}/metadata", DRIVE).takes("task_metadata_params").answers("task").added(),
    post("/v1/tasks/{task_id}/undo", DRIVE).takes("undo_task_params").answers("task").added(),
    post("/v1/tasks/{task_id}/redo", DRIVE).takes("undo_params").answers("task").added(),
    post("/v1/tasks/{task_id}/override", ADMIN).answers("task").added(),
    get("/v1/messages", READ).answers("message_list").added(),
    post("/v1/messages", DRIVE).takes("open_message_params").answers("open_message").added(),
    get("/v1/messages/schema", READ).answers("message_schema").added(),
    get("/v1/messages/{message_id}", READ).answers("open_message").added(),
    delete("/v1/messages/{message_id}", DRIVE).added(),
    get("/v1/messages/{message_id}/text", READ).answers("message_content").added(),
    put("/v1/messages/{message_id}/text", DRIVE).takes("set_message_params").answers("open_message").added(),
    get("/v1/messages/{message_id}/value", READ).answers("message_value").added(),
    post("/v1/messages/{message_id}/patch", DRIVE)
        .takes("patch_message_params")
        .answers("patched_message")
        .added(),
    post("/v1/messages/{message_id}/undo", DRIVE).answers("open_message").added(),
    post("/v1/messages/{message_id}/redo", DRIVE).answers("open_message").added(),
    post("/v1/messages/{message_id}/save", DRIVE)
        .takes("save_message_params")
        .answers("open_message")
        .added(),
    get("/v1/messages/{message_id}/validation", READ).answers("message_validation").added(),
    get("/v1/extensions", READ).answers("extension_list").added(),
    post("/v1/extensions/start", ADMIN).takes("extension_params").answers("extension_list").added(),
    get("/v1/extensions/{extension}", READ).answers("extension").added(),
    get("/v1/extensions/{extension}/logs", READ).answers("extension_log").added(),
    post("/v1/extensions/{extension}/restart", ADMIN).takes("extension_params").answers("extension").added(),
    post("/v1/extensions/{extension}/stop", ADMIN).takes("extension_params").answers("extension").added(),
    post("/v1/extensions/{extension}/run", DRIVE)
        .takes("run_extension_params")
        .answers("extension_run")
        .added(),
    post("/v1/pair/start", ADMIN).answers("pair_start_result").added(),
    post("/v1/pair", READ).open().takes("pair_params").answers("pair_result").added(),
    post("/v1/page/code", ADMIN).takes("page_code_params").answers("page_code").added(),
    get("/v1/page/session", READ).answers("page_session").added(),
    post("/v1/page/session", READ).open().takes("page_session_params").answers("page_session").added(),
    delete("/v1/page/session", READ).added(),
    get("/v1/tokens", ADMIN).answers("token_list").added(),
    post("/v1/tokens", ADMIN).takes("create_token_params").answers("created_token").added(),
    delete("/v1/tokens/{token_id}", ADMIN).added(),
    delete("/v1/models/current", ADMIN).added(),
    post("/v1/models/test", DRIVE).takes("test_model_params").answers("test_model_result").added(),
    get("/v1/doctor", ADMIN).answers("doctor_report").added(),
    post("/v1/stop", ADMIN).added(),
    stream("/v1/stream", READ).added(),
    get("/v1/openapi.json", READ).added(),
    get("/v1/schemas/{name}", READ).added(),
    get("/metrics", READ).added(),
    get("/", READ).open().added(),
    get("/page/{file}", READ).open().added(),
];

const READ: Scope = Scope::Read;
const DRIVE: Scope = Scope::Drive;
const ADMIN: Scope = Scope::Admin;

const fn get(path: &'static str, scope: Scope) -> Endpoint {
    Endpoint::new(Verb::Get, path, scope)
}

const fn post(path: &'static str, scope: Scope) -> Endpoint {
    Endpoint::new(Verb::Post, path, scope)
}

const fn put(path: &'static str, scope: Scope) -> Endpoint {
    Endpoint::new(Verb::Put, path, scope)
}

const fn delete(path: &'static str, scope: Scope) -> Endpoint {
    Endpoint::new(Verb::Delete, path, scope)
}

const fn stream(path: &'static str, scope: Scope) -> Endpoint {
    Endpoint::new(Verb::WebSocket, path, scope)
}

impl Endpoint {
    const fn new(verb: Verb, path: &'static str, scope: Scope) -> Self {
        let origin = Origin::Specification;
        Self { verb, path, scope: Some(scope), origin, request: None, answer: None }
    }

    /// Needs no token.
    const fn open(mut self) -> Self {
        self.scope = None;
        self
    }

    const fn takes(mut self, body: &'static str) -> Self {
        self.request = Some(body);
        self
    }

    const fn answers(mut self, body: &'static str) -> Self {
        self.answer = Some(body);
        self
    }

    /// Is not in the specification.
    const fn added(mut self) -> Self {
        self.origin = Origin::Peers;
        self
    }
}
