//! Every endpoint has a method, and the method asks for it.

use std::path::Path;

use loggia_client::{Browse, Client, Error, Page};
use loggia_protocol_agent_server::{
    ChangesParams, CreateSessionParams, CreateTokenParams, CurrentModel, ENDPOINTS, Endpoint,
    ForkSessionParams, HitKind, MessageFormat, MessageId, PageCodeParams, PairParams, PatchMessageParams,
    PolicyCheckParams, RegisterWorkspaceParams, RenameSessionParams, Scope, SessionId, SessionModel,
    TestModelParams, TokenId, UndoParams, Verb, WorkspaceId,
};

use crate::play::{Play, Request};

/// A task whose name must not lead elsewhere.
const TASK: &str = "1a2b/..";

/// A plugin whose name must not lead elsewhere.
const PLUGIN: &str = "../link";

/// An extension whose name must not lead elsewhere.
const EXTENSION: &str = "../demo";

/// Endpoints without a method, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("/", "a page for browsers"),
    ("/page/{file}", "a part of that page"),
    ("/v1/page/session", "a cookie, for that page"),
];

/// An example of a body from the protocol's own tests.
fn example(name: &str) -> String {
    let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/agent-server");
    let file = |folder: &str| std::fs::read_to_string(protocol.join(folder).join(format!("{name}.jsonl")));
    let text = file("golden-http").or_else(|_| file("golden-http-strict")).unwrap();
    text.lines().find(|line| !line.starts_with('#')).unwrap().to_owned()
}

fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&example(name)).unwrap()
}

/// Calls the method of an endpoint; `None` if there is none.
async fn call(client: &Client, endpoint: &Endpoint) -> Option<Result<(), Error>> {
    let workspace = WorkspaceId("ws/1".to_owned());
    let session = SessionId("ses 1".to_owned());
    let page = Page { limit: Some(5), cursor: Some("a=b".to_owned()) };
    Some(match (endpoint.verb, endpoint.path) {
        (Verb::Get, "/v1/health") => client.health().await.map(drop),
        (Verb::Get, "/v1/workspaces") => client.workspaces(&page).await.map(drop),
        (Verb::Post, "/v1/workspaces/register") => client
            .register_workspace(&read::<RegisterWorkspaceParams>("register_workspace_params"))
            .await
            .map(drop),
        (Verb::Get, "/v1/workspaces/{workspace_id}") => client.workspace(&workspace).await.map(drop),
        (Verb::Post, "/v1/workspaces/{workspace_id}/trust") => {
            client.trust_for_run(&workspace, &read("trust_params")).await.map(drop)
        }
        (Verb::Get, "/v1/workspaces/{workspace_id}/trust") => client.trust_report(&workspace).await.map(drop),
        (Verb::Delete, "/v1/workspaces/{workspace_id}/trust") => client.distrust_workspace(&workspace).await,
        (Verb::Get, "/v1/workspaces/{workspace_id}/policy") => client.policy(&workspace).await.map(drop),
        (Verb::Put, "/v1/workspaces/{workspace_id}/policy") => {
            client.put_policy(&workspace, &read("policy")).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/policy/check") => {
            client.check_policy(&workspace, &read::<PolicyCheckParams>("policy_check_params")).await.map(drop)
        }
        (Verb::Get, "/v1/workspaces/{workspace_id}/index/status") => {
            client.index_status(&workspace).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/rebuild") => {
            client.rebuild_index(&workspace).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/refresh") => {
            client.refresh_index(&workspace).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/incremental") => {
            client.change_index(&workspace, &read::<ChangesParams>("changes_params")).await.map(drop)
        }
        (Verb::Get, "/v1/workspaces/{workspace_id}/index/skipped") => {
            client.skipped_files(&workspace, Some(9)).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/pause") => {
            client.pause_index(&workspace).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/resume") => {
            client.resume_index(&workspace).await.map(drop)
        }
        (Verb::Post, "/v1/workspaces/{workspace_id}/index/cancel") => {
            client.cancel_index(&workspace).await.map(drop)
        }
        (Verb::Delete, "/v1/workspaces/{workspace_id}/index") => {
            client.drop_index(&workspace).await.map(drop)
        }
        (Verb::Get, "/v1/workspaces/{workspace_id}/references") => {
            client.references(&workspace, "a b", &["*.rs".to_owned()], Some(9)).await.map(drop)
        }
        (Verb::Get, "/v1/workspaces/{workspace_id}/search") => {
            client.search(&workspace, "a b", Some(&HitKind::Symbol)).await.map(drop)
        }
        (Verb::Post, "/v1/sessions") => {
            client.create_session(&read::<CreateSessionParams>("create_session_params")).await.map(drop)
        }
        (Verb::Get, "/v1/sessions") => client.sessions(Some(&workspace), &page).await.map(drop),
        (Verb::Get, "/v1/sessions/{session_id}") => client.session(&session).await.map(drop),
        (Verb::Delete, "/v1/sessions/{session_id}") => client.delete_session(&session).await,
        (Verb::Get, "/v1/sessions/{session_id}/events") => {
            client.events(&session, 7, Some(9)).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/rename") => client
            .rename_session(&session, &read::<RenameSessionParams>("rename_session_params"))
            .await
            .map(drop),
        (Verb::Post, "/v1/sessions/{session_id}/model") => {
            client.set_session_model(&session, &read::<SessionModel>("session_model")).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/fork") => {
            client.fork_session(&session, &ForkSessionParams::default()).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/undo") => {
            client.undo(&session, &UndoParams::default()).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/redo") => {
            client.redo(&session, &UndoParams::default()).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/continue") => {
            client.continue_session(&session).await.map(drop)
        }
        (Verb::Post, "/v1/sessions/{session_id}/cancel") => client.cancel_session(&session).await.map(drop),
        (Verb::Get, "/v1/sessions/{session_id}/export") => export(client, &session).await,
        (Verb::Post, "/v1/sessions/import") => client.import_session(&workspace, "{}\n").await.map(drop),
        (Verb::Get, "/v1/tasks") => client.tasks(Some(&workspace)).await.map(drop),
        (Verb::Post, "/v1/tasks") => client.start_task(&read("start_task_params")).await.map(drop),
        (Verb::Post, "/v1/tasks/auto") => client.auto_task(&read("auto_task_params")).await.map(drop),
        (Verb::Get, "/v1/tasks/browse") => {
            let browse =
                Browse { reference: "link:".to_owned(), tag: Some("a,b".to_owned()), ..Browse::default() };
            client.browse_tasks(&workspace, &Browse { page, ..browse }).await.map(drop)
        }
        (Verb::Get, "/v1/tasks/{task_id}") => client.task(TASK).await.map(drop),
        (Verb::Post, path) if path.starts_with("/v1/tasks/") => return task_call(client, path).await,
        (_, path) if path.starts_with("/v1/plugins") => {
            return plugin_call(client, endpoint, &workspace).await;
        }
        (_, path) if path.starts_with("/v1/messages") => {
            return message_call(client, endpoint, &workspace).await;
        }
        (_, path) if path.starts_with("/v1/extensions") => {
            return extension_call(client, endpoint, &workspace).await;
        }
        (Verb::Get, "/v1/models") => client.models().await.map(drop),
        (Verb::Get, "/v1/models/current") => client.current_model().await.map(drop),
        (Verb::Put, "/v1/models/current") => {
            client.put_current_model(&read::<CurrentModel>("current_model")).await.map(drop)
        }
        (Verb::Delete, "/v1/models/current") => client.forget_current_model().await,
        (Verb::Post, "/v1/models/test") => {
            client.test_model(&read::<TestModelParams>("test_model_params")).await.map(drop)
        }
        (Verb::Post, "/v1/pair/start") => client.start_pairing().await.map(drop),
        (Verb::Post, "/v1/pair") => client.pair(&read::<PairParams>("pair_params")).await.map(drop),
        (Verb::Post, "/v1/page/code") => client.page_code(&PageCodeParams::default()).await.map(drop),
        (Verb::Get, "/v1/tokens") => client.tokens().await.map(drop),
        (Verb::Post, "/v1/tokens") => {
            let params = CreateTokenParams { name: "n".to_owned(), scope: Scope::Read };
            client.create_token(&params).await.map(drop)
        }
        (Verb::Delete, "/v1/tokens/{token_id}") => client.revoke_token(&TokenId("tok:1".to_owned())).await,
        (Verb::Get, "/v1/doctor") => client.doctor().await.map(drop),
        (Verb::Post, "/v1/stop") => client.stop().await,
        (Verb::Get, "/v1/openapi.json") => client.openapi().await.map(drop),
        (Verb::Get, "/v1/schemas/{name}") => client.schema("client.hello").await.map(drop),
        (Verb::Get, "/metrics") => client.metrics().await.map(drop),
        (Verb::WebSocket, "/v1/sessions/{session_id}/stream") => {
            client.follow(&session).after(3).open().await.map(drop)
        }
        (Verb::WebSocket, "/v1/stream") => client.follow_all().open().await.map(drop),
        _ => return None,
    })
}

/// The method of an endpoint that does something about a task.
async fn task_call(client: &Client, path: &str) -> Option<Result<(), Error>> {
    let done = match path.strip_prefix("/v1/tasks/{task_id}/")? {
        "plan" => client.plan_task(TASK, &read("task_step_params")).await,
        "implement" => client.implement_task(TASK, &read("task_step_params")).await,
        "review" => client.review_task(TASK, &read("task_step_params")).await,
        "resume" => client.resume_task(TASK, &read("task_step_params")).await,
        "finish" => client.finish_task(TASK, &read("finish_task_params")).await,
        "abandon" => client.abandon_task(TASK, &read("abandon_task_params")).await,
        "note" => client.note_task(TASK, &read("task_text_params")).await,
        "answer" => client.answer_task(TASK, &read("task_text_params")).await,
        "metadata" => client.set_task_metadata(TASK, &read("task_metadata_params")).await,
        "undo" => client.undo_task(TASK, &read("undo_task_params")).await,
        "redo" => client.redo_task(TASK, &UndoParams::default()).await,
        "override" => client.override_task(TASK).await,
        _ => return None,
    };
    Some(done.map(drop))
}

/// The method of an endpoint about plugins.
async fn plugin_call(
    client: &Client,
    endpoint: &Endpoint,
    workspace: &WorkspaceId,
) -> Option<Result<(), Error>> {
    let place = Some(workspace);
    Some(match (endpoint.verb, endpoint.path.strip_prefix("/v1/plugins")?) {
        (Verb::Get, "") => client.plugins(place).await.map(drop),
        (Verb::Post, "/install") => client.install_plugin(&read("install_plugin_params")).await.map(drop),
        (Verb::Get, "/{plugin}") => client.plugin(PLUGIN, place).await.map(drop),
        (Verb::Delete, "/{plugin}") => client.remove_plugin(PLUGIN, place).await,
        (Verb::Post, "/{plugin}/enable") => {
            client.enable_plugin(PLUGIN, &read("plugin_params")).await.map(drop)
        }
        (Verb::Post, "/{plugin}/disable") => {
            client.disable_plugin(PLUGIN, &read("plugin_params")).await.map(drop)
        }
        (Verb::Post, "/{plugin}/validate") => {
            client.validate_plugin(PLUGIN, &read("plugin_params")).await.map(drop)
        }
        _ => return None,
    })
}

/// The method of an endpoint about messages.
async fn message_call(
    client: &Client,
    endpoint: &Endpoint,
    workspace: &WorkspaceId,
) -> Option<Result<(), Error>> {
    let id = MessageId("doc/1".to_owned());
    Some(match (endpoint.verb, endpoint.path.strip_prefix("/v1/messages")?) {
        (Verb::Get, "") => client.messages(Some(workspace)).await.map(drop),
        (Verb::Post, "") => client.open_message(&read("open_message_params")).await.map(drop),
        (Verb::Get, "/schema") => client.message_schema(workspace).await.map(drop),
        (Verb::Get, "/{message_id}") => client.message(&id).await.map(drop),
        (Verb::Delete, "/{message_id}") => client.close_message(&id).await,
        (Verb::Get, "/{message_id}/text") => {
            client.message_text(&id, Some(&MessageFormat::Json)).await.map(drop)
        }
        (Verb::Put, "/{message_id}/text") => {
            client.set_message(&id, &read("set_message_params")).await.map(drop)
        }
        (Verb::Get, "/{message_id}/value") => client.message_value(&id, "PID.5 1").await.map(drop),
        (Verb::Post, "/{message_id}/patch") => {
            let params: PatchMessageParams = read("patch_message_params");
            client.patch_message(&id, params.patches).await.map(drop)
        }
        (Verb::Post, "/{message_id}/undo") => client.undo_message(&id).await.map(drop),
        (Verb::Post, "/{message_id}/redo") => client.redo_message(&id).await.map(drop),
        (Verb::Post, "/{message_id}/save") => {
            client.save_message(&id, &read("save_message_params")).await.map(drop)
        }
        (Verb::Get, "/{message_id}/validation") => client.validate_message(&id).await.map(drop),
        _ => return None,
    })
}

/// The method of an endpoint about extensions.
async fn extension_call(
    client: &Client,
    endpoint: &Endpoint,
    workspace: &WorkspaceId,
) -> Option<Result<(), Error>> {
    Some(match (endpoint.verb, endpoint.path.strip_prefix("/v1/extensions")?) {
        (Verb::Get, "") => client.extensions(workspace).await.map(drop),
        (Verb::Post, "/start") => client.start_extensions(&read("extension_params")).await.map(drop),
        (Verb::Get, "/{extension}") => client.extension(EXTENSION, workspace).await.map(drop),
        (Verb::Get, "/{extension}/logs") => client.extension_log(EXTENSION, workspace).await.map(drop),
        (Verb::Post, "/{extension}/restart") => {
            client.restart_extension(EXTENSION, &read("extension_params")).await.map(drop)
        }
        (Verb::Post, "/{extension}/stop") => {
            client.stop_extension(EXTENSION, &read("extension_params")).await.map(drop)
        }
        (Verb::Post, "/{extension}/run") => {
            client.run_extension(EXTENSION, &read("run_extension_params")).await.map(drop)
        }
        _ => return None,
    })
}

async fn export(client: &Client, session: &SessionId) -> Result<(), Error> {
    let mut export = client.export_session(session).await?;
    let mut text = Vec::new();
    while let Some(piece) = export.next().await? {
        text.extend(piece);
    }
    assert_eq!(text, b"{}");
    Ok(())
}

/// What the method should have asked for, after the method and the path.
fn filled(endpoint: &Endpoint) -> String {
    let method = match endpoint.verb {
        Verb::Get | Verb::WebSocket => "GET",
        Verb::Post => "POST",
        Verb::Put => "PUT",
        Verb::Delete => "DELETE",
    };
    let path = endpoint
        .path
        .replace("{workspace_id}", "ws%2F1")
        .replace("{session_id}", "ses%201")
        .replace("{token_id}", "tok%3A1")
        .replace("{task_id}", "1a2b%2F..")
        .replace("{plugin}", "..%2Flink")
        .replace("{message_id}", "doc%2F1")
        .replace("{extension}", "..%2Fdemo")
        .replace("{name}", "client.hello");
    format!("{method} {path}")
}

async fn serve<S>(endpoint: &Endpoint, request: Request<S>) -> String
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let asked = format!("{} {}", request.method, request.target);
    assert_eq!(request.headers["authorization"], "Bearer tok_secret", "{asked}");
    if let Some(name) = endpoint.request {
        assert_eq!(request.headers["content-type"], "application/json", "{asked}");
        let _: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_else(|_| panic!("{name}"));
    }
    if endpoint.path.ends_with("/policy") && endpoint.verb == Verb::Put {
        let policy: loggia_protocol_agent_server::Policy = read("policy");
        assert_eq!(request.headers["if-match"], format!("\"{}\"", policy.revision));
    }
    match (endpoint.verb, endpoint.answer) {
        (Verb::WebSocket, _) => drop(request.open().await),
        (Verb::Delete, None) => drop(request.answer("204 No Content", "", "").await),
        (_, Some(name)) => drop(request.json(&example(name)).await),
        (_, None) => drop(request.json("{}").await),
    }
    asked
}

#[tokio::test]
async fn every_endpoint_has_a_method_that_asks_for_it() {
    for endpoint in
        ENDPOINTS.iter().filter(|endpoint| !WITHOUT.iter().any(|(path, _)| *path == endpoint.path))
    {
        // A client of its own, so that each call is a new connection.
        let play = Play::begin().await;
        let calls = async {
            let called = call(&play.client, endpoint).await;
            // Nobody would ask the server that waits for it.
            called.unwrap_or_else(|| panic!("{} has no method", endpoint.path))
        };
        let served = async { serve(endpoint, play.request().await).await };
        let (outcome, asked) = tokio::join!(calls, served);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", endpoint.path));
        let (target, query) = asked.split_once('?').unwrap_or((&asked, ""));
        assert_eq!(target, filled(endpoint));
        let expected = match (endpoint.verb, endpoint.path) {
            (Verb::Get, "/v1/workspaces") => "limit=5&cursor=a%3Db",
            (Verb::Get, "/v1/sessions") => "workspace_id=ws%2F1&limit=5&cursor=a%3Db",
            (Verb::Post, "/v1/sessions/import")
            | (Verb::Get, "/v1/tasks" | "/v1/plugins")
            | (Verb::Get | Verb::Delete, "/v1/plugins/{plugin}") => "workspace_id=ws%2F1",
            (Verb::Get, "/v1/tasks/browse") => {
                "workspace_id=ws%2F1&reference=link%3A&tag=a%2Cb&limit=5&cursor=a%3Db"
            }
            (Verb::Get, "/v1/messages" | "/v1/messages/schema") => "workspace_id=ws%2F1",
            (Verb::Get, path) if path.starts_with("/v1/extensions") => "workspace_id=ws%2F1",
            (Verb::Get, "/v1/messages/{message_id}/text") => "format=json",
            (Verb::Get, "/v1/messages/{message_id}/value") => "path=PID.5%201",
            (Verb::Get, path) if path.ends_with("/events") => "after=7&limit=9",
            (Verb::Get, path) if path.ends_with("/skipped") => "limit=9",
            (Verb::Get, path) if path.ends_with("/references") => "name=a%20b&path=%2A.rs&limit=9",
            (Verb::Get, path) if path.ends_with("/search") => "q=a%20b&kind=symbol",
            (Verb::WebSocket, path) if path.contains("session") => "after=3",
            _ => "",
        };
        assert_eq!(query, expected, "{}", endpoint.path);
    }
}

#[tokio::test]
async fn calls_share_a_connection() {
    let play = Play::begin().await;
    let server = async {
        let connection = play.request().await.json(&example("health")).await;
        Request::read(connection).await.json(&example("health")).await
    };
    let calls = async {
        play.client.health().await.unwrap();
        play.client.clone().health().await.unwrap();
    };
    tokio::join!(server, calls);
}

#[tokio::test]
async fn a_token_is_shown_to_nobody_and_cannot_carry_headers() {
    let play = Play::begin().await;
    assert!(!format!("{:?}", play.client).contains("tok_secret"));
    let client = play.client.clone().with_token("a\r\nx-evil: 1");
    assert!(matches!(client.health().await, Err(Error::Unaskable(_))));
}
