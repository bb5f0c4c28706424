//! Commands: run by a client in its terminal, or by the server.

use loggia_domain::{CommandMode, Policy, Preset};
use serde_json::json;

use crate::stream_support::{DRIVER, World, calls, world};

async fn command_world(line: &str, mode: CommandMode) -> World {
    let arguments = format!("{{ command = \"{line}\", reason = \"to see\", env = {{ CI = \"1\" }} }}");
    let world = world(&[], &calls("run_command", &arguments)).await;
    let policy = Policy { command_mode: mode, ..Policy::default() };
    world.engine.set_policy(world.workspace.id, policy, 0).unwrap();
    world
}

#[tokio::test]
async fn a_client_with_a_terminal_runs_what_was_approved_and_reports() {
    let world = command_world("npm test", CommandMode::LocalTerminal).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &["terminal_exec"]).await;
    client.prompt("test").await;
    let asked = client.until("command.request_approval").await;
    assert_eq!(asked["requires_approval"], true);
    assert!(["low", "medium", "high"].contains(&asked["risk_level"].as_str().unwrap()), "{asked}");
    assert_eq!(asked["working_directory"], world.root().to_str().unwrap());
    assert_eq!((&asked["environment"], &asked["reason"]), (&json!({"CI": "1"}), &json!("to see")));
    let id = asked["command_id"].clone();
    client.approve(&id).await;
    while client.until("tool.execute").await.get("executor").is_none() {}
    client
        .say(json!({"type": "client.command_result", "command_id": id, "command": "npm test", "exit_code": 0,
                    "stdout": "all green", "stderr": "", "duration_ms": 2340}))
        .await;
    let ended = client.until("tool.execute").await;
    assert_eq!((&ended["status"], &ended["result"]["exit_code"]), (&json!("completed"), &json!(0)));
    assert!(ended["result"]["output"].as_str().unwrap().contains("all green"), "{ended}");
    let last = client.until_done().await;
    assert_eq!(last["metadata"]["tools_used"], json!(["execute_command"]));
    assert_eq!(last["metadata"]["tokens_used"], 107);
}

#[tokio::test]
async fn a_command_the_policy_allows_is_handed_to_the_clients_terminal_without_a_question() {
    let world = command_world("npm test", CommandMode::LocalTerminal).await;
    let session = world.open(Preset::Full).await;
    let mut client = world.join(session, "editor", &["terminal_exec"]).await;
    client.prompt("test").await;
    let told = client.until("command.request_approval").await;
    assert_eq!((&told["requires_approval"], &told["command"]), (&json!(false), &json!("npm test")));
    assert_eq!((&told["environment"], &told["reason"]), (&json!({"CI": "1"}), &json!("to see")));
    let started = client.next().await;
    assert_eq!((&started["type"], &started["executor"]), (&json!("tool.execute"), &json!("editor")));
    client
        .say(
            json!({"type": "client.command_result", "command_id": told["command_id"], "command": "npm test"}),
        )
        .await;
    let ended = client.until("tool.execute").await;
    assert_eq!(ended["status"], "failed");
    assert!(ended["result"]["error"].as_str().unwrap().contains("told no exit code"), "{ended}");
    client.until_done().await;
}

#[tokio::test]
async fn the_servers_commands_are_watched_as_they_print() {
    let world = command_world("say hello", CommandMode::ServerRunner).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &["terminal_exec"]).await;
    client.prompt("run").await;
    let asked = client.until("command.request_approval").await;
    client.approve(&asked["command_id"]).await;
    let output = client.until("tool.output").await;
    assert_eq!(
        output,
        json!({"type": "tool.output", "command_id": asked["command_id"], "stream": "stdout", "chunk": "hello\n"})
    );
    client.until_done().await;
    insta::assert_snapshot!(client.text().replace(world.root().to_str().unwrap(), "ROOT"));
}

#[tokio::test]
async fn a_command_that_hangs_is_cancelled_with_its_turn() {
    let world = command_world("hang", CommandMode::ServerRunner).await;
    let session = world.open(Preset::Full).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("run").await;
    client.until("tool.output").await;
    client.say(json!({"type": "client.cancel"})).await;
    let ended = client.until("tool.execute").await;
    assert_eq!((&ended["status"], &ended["result"]["cancelled"]), (&json!("failed"), &json!(true)));
    assert_eq!(client.until_error().await["code"], "CANCELLED");
    assert_eq!(client.until_done().await["metadata"]["success"], false);
}

#[tokio::test]
async fn without_a_terminal_the_server_runs_it_or_says_why_not() {
    for fallback in [true, false] {
        let world = world(&[], &calls("run_command", "{ command = \"say hi\" }")).await;
        let policy = Policy { fallback_to_server_runner: fallback, ..Policy::default() };
        world.engine.set_policy(world.workspace.id, policy, 0).unwrap();
        let session = world.open(Preset::Full).await;
        let mut client = world.join(session, "editor", &[]).await;
        client.prompt("run").await;
        let ended = loop {
            let message = client.until("tool.execute").await;
            if message["status"] != "started" {
                break message;
            }
        };
        match fallback {
            true => assert_eq!(ended["status"], "completed"),
            false => {
                assert_eq!((&ended["status"], &ended["result"]["denied"]), (&json!("failed"), &json!(true)));
                let error = ended["result"]["error"].as_str().unwrap();
                assert!(error.contains("no client that can run one is connected"), "{error}");
            }
        }
        client.until_done().await;
    }
}

#[tokio::test]
async fn a_no_is_told_to_the_model_and_late_answers_to_commands_hear_of_it() {
    let world = command_world("npm test", CommandMode::LocalTerminal).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &["terminal_exec"]).await;
    client.prompt("test").await;
    let asked = client.until("command.request_approval").await;
    let id = &asked["command_id"];
    client.say(json!({"type": "client.approval_response", "request_id": id, "approved": true, "scope": "file", "file_path": "a"})).await;
    assert_eq!(client.until_error().await["details"]["pointer"], "/scope");
    client
        .say(json!({"type": "client.approval_response", "request_id": id, "approved": false, "scope": "all"}))
        .await;
    let ended = client.until("tool.execute").await;
    assert_eq!((&ended["status"], &ended["result"]["denied"]), (&json!("failed"), &json!(true)));
    client.approve(id).await;
    let error = client.until_error().await;
    assert_eq!(error["details"], json!({"decided_by": "editor", "approved": false}));
}

#[tokio::test]
async fn a_client_that_comes_again_is_handed_what_its_lost_connection_was_to_do() {
    let world = command_world("npm test", CommandMode::LocalTerminal).await;
    let session = world.open(Preset::Full).await;
    let mut lost = world.join(session, "editor", &["terminal_exec"]).await;
    lost.prompt("test").await;
    while lost.until("tool.execute").await["executor"] != "editor" {}
    // As long as its old connection counts as there, nobody is asked a second time.
    let path = format!("/v1/sessions/{session}/stream?after=0");
    let mut again = world.join_as(&DRIVER, &path, "editor", &["terminal_exec"]).await;
    while again.until("tool.execute").await["executor"] != "editor (another)" {}
    let mut third = world.join(session, "editor", &["terminal_exec"]).await;
    drop(lost.socket.into_inner());
    let told = again.next().await;
    assert_eq!((&told["type"], &told["command"]), (&json!("command.request_approval"), &json!("npm test")));
    let handed = again.next().await;
    assert_eq!((&handed["type"], &handed["executor"]), (&json!("tool.execute"), &json!("editor")));
    assert_eq!(handed.get("seq"), None, "it is told apart from the journal");
    assert_eq!(handed["args"]["command_id"], told["command_id"]);
    again
        .say(json!({"type": "client.command_result", "command_id": told["command_id"], "command": "npm test",
                    "exit_code": 0, "stdout": "all green"}))
        .await;
    again.until_done().await;
    // Another window of the same editor was not asked, and a replay asks nobody.
    third.until_done().await;
    let mut late = world.join_as(&DRIVER, &path, "editor", &["terminal_exec"]).await;
    late.until_done().await;
    for client in [&third, &late] {
        assert!(!client.text().contains(r#""executor":"editor","#), "{}", client.text());
        assert!(!client.text().contains(r#""executor":"editor"}"#), "{}", client.text());
    }
    let page = world.get(&format!("/v1/sessions/{session}/events?after=0&limit=1000")).await.to_string();
    assert!(page.contains(r#""executor":"editor (another)""#) && !page.contains(r#""executor":"editor""#));
}

#[tokio::test]
async fn a_client_that_comes_when_nobody_is_left_is_handed_what_is_open() {
    let world = command_world("npm test", CommandMode::LocalTerminal).await;
    let session = world.open(Preset::Full).await;
    // Somebody stays, so that the session does.
    let mut page = world.join(session, "page", &["terminal_exec"]).await;
    let mut lost = world.join(session, "editor", &["terminal_exec"]).await;
    lost.prompt("test").await;
    while lost.until("tool.execute").await["executor"] != "editor" {}
    drop(lost.socket.into_inner());
    while page.next_of_any_kind().await["kind"] != "left" {}
    let mut again = world.join(session, "editor", &["terminal_exec"]).await;
    let id = again.until("command.request_approval").await["command_id"].clone();
    assert_eq!(again.until("tool.execute").await["executor"], "editor");
    again
        .say(
            json!({"type": "client.command_result", "command_id": id, "command": "npm test", "exit_code": 0}),
        )
        .await;
    again.until_done().await;
    page.until_done().await;
}
