//! One turn of every feature over a real socket, as `schemas/examples/` shows it.
//!
//! With `LOGGIA_RECORD_EXAMPLES=1` the transcripts are written; otherwise each is compared with what happens now. What
//! differs between two runs is left out of the comparison: ids count by their order, moments and durations not at
//! all, and neither do messages that only pass. The workspace's place is replaced in what is written.

pub(crate) mod recorder;

use loggia_domain::{CommandMode, Policy, Preset};
use loggia_tests::scripts::{self, twenty_lines};
use serde_json::{Value, json};

use recorder::{House, Wire};

/// A script that says something, calls a tool and says that it is done.
fn calls(tool: &str, arguments: &str) -> String {
    let first = scripts::calls(tool, arguments) + "usage = { input = 80, output = 20 }\n";
    first + &scripts::says("Done.") + "usage = { input = 100, output = 7 }\n"
}

fn approval(id: &Value) -> Value {
    json!({"type": "client.approval_response", "request_id": id, "approved": true})
}

#[tokio::test]
async fn the_example_of_a_prompt_is_current() {
    let house = House::start(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let mut wire = house.join(Preset::Ask, &["diff_preview", "terminal_exec", "git_integration"]).await;
    let editor = json!({"file_path": "a.txt", "language": "plaintext",
        "selection": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 5}},
        "visible_range": {"start": 1, "end": 1}});
    let context = json!({"active_editor": editor, "open_editors": [{"file_path": "a.txt", "is_dirty": false, "visible": true}],
        "diagnostics": [], "mentions": [{"type": "file", "path": "a.txt"}], "command": "/explain"});
    wire.say(json!({"type": "client.user_message", "message": "What does a.txt say?", "context": context}))
        .await;
    wire.until_done().await;
    wire.check("prompt", &house);
}

#[tokio::test]
async fn the_example_of_an_approval_is_current() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\", reason = \"it was old\" }");
    let house = House::start(&[("a.txt", "old\n")], &script).await;
    let mut wire = house.join(Preset::Ask, &[]).await;
    wire.prompt("Renew a.txt").await;
    let asked = wire.until("tool.request_approval").await;
    wire.say(approval(&asked["request_id"])).await;
    wire.until_done().await;
    wire.check("approval", &house);
}

#[tokio::test]
async fn the_example_of_a_patch_with_hunks_is_current() {
    let more =
        "reason = \"the ends shall be seen\", acceptance_criteria = [\"the last line is in capitals\"]";
    let arguments = format!("{{ diff = {:?}, {more} }}", scripts::TWO_HUNKS);
    let house = House::start(&[("a.txt", &twenty_lines())], &calls("apply_patch", &arguments)).await;
    let mut wire = house.join(Preset::Ask, &[]).await;
    wire.prompt("Shout at the ends").await;
    let asked = wire.until("tool.request_approval").await;
    let mut answer = approval(&asked["request_id"]);
    answer["scope"] = "hunk".into();
    answer["file_path"] = "a.txt".into();
    answer["hunk_index"] = 1.into();
    wire.say(answer).await;
    wire.until_done().await;
    assert_eq!(house.world.read("a.txt"), twenty_lines().replace("line 20", "LINE 20"));
    wire.check("patch-by-hunk", &house);
}

#[tokio::test]
async fn the_example_of_a_patch_applied_by_the_client_is_current() {
    let arguments = "{ path = \"a.txt\", old = \"one\", new = \"ONE\", reason = \"louder\" }";
    let house = House::start(&[("a.txt", "one\n")], &calls("edit_file", arguments)).await;
    let mut wire = house.join(Preset::Ask, &["diff_preview"]).await;
    wire.prompt("Louder").await;
    let asked = wire.until("tool.request_approval").await;
    wire.say(approval(&asked["args"]["patch_id"])).await;
    while wire.until("tool.execute").await.get("executor").is_none() {}
    std::fs::write(house.world.root().join("a.txt"), "ONE\n").unwrap();
    let hash = format!("sha256:{}", loggia_domain::ContentHash::of(b"ONE\n"));
    wire.say(json!({"type": "client.patch_apply_result", "patch_id": asked["args"]["patch_id"],
        "file_path": "a.txt", "success": true, "error": null, "applied_hash": hash}))
        .await;
    wire.until_done().await;
    wire.check("patch-by-client", &house);
}

async fn command_house(mode: CommandMode) -> House {
    let script = calls("run_command", "{ command = \"echo hello\", reason = \"to see that it works\" }");
    let house = House::start(&[], &script).await;
    let policy = Policy { command_mode: mode, ..Policy::default() };
    house.world.engine.set_policy(house.world.workspace.id, policy, 0).unwrap();
    house
}

#[tokio::test]
async fn the_example_of_a_command_in_the_local_terminal_is_current() {
    let house = command_house(CommandMode::LocalTerminal).await;
    let mut wire = house.join(Preset::Ask, &["terminal_exec"]).await;
    wire.prompt("Say hello").await;
    let asked = wire.until("command.request_approval").await;
    wire.say(approval(&asked["command_id"])).await;
    while wire.until("tool.execute").await.get("executor").is_none() {}
    wire.say(
        json!({"type": "client.command_result", "command_id": asked["command_id"], "command": "echo hello",
        "exit_code": 0, "stdout": "hello\n", "stderr": "", "duration_ms": 12}),
    )
    .await;
    wire.until_done().await;
    wire.check("command-local-terminal", &house);
}

#[tokio::test]
async fn the_example_of_a_command_run_by_the_server_is_current() {
    let house = command_house(CommandMode::ServerRunner).await;
    let mut wire = house.join(Preset::Ask, &[]).await;
    wire.prompt("Say hello").await;
    let asked = wire.until("command.request_approval").await;
    wire.say(approval(&asked["command_id"])).await;
    wire.until("tool.output").await;
    wire.until_done().await;
    wire.check("command-server-runner", &house);
}

#[tokio::test]
async fn the_example_of_a_cancelled_turn_is_current() {
    let house =
        House::start(&[], "[[reply]]\nparts = [{ text = \"This will take\" }, { hang = true }]\n").await;
    let mut wire = house.join(Preset::Ask, &[]).await;
    wire.prompt("Take your time").await;
    wire.until("assistant.token").await;
    wire.say(json!({"type": "client.cancel", "reason": "user_cancelled"})).await;
    wire.until_done().await;
    wire.check("cancel", &house);
}

#[tokio::test]
async fn the_example_of_a_resumed_stream_is_current() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\", reason = \"it was old\" }");
    let house = House::start(&[("a.txt", "old\n")], &script).await;
    let mut wire: Wire = house.join(Preset::Ask, &[]).await;
    wire.prompt("Renew a.txt").await;
    let asked = wire.until("tool.request_approval").await;
    let after = asked["seq"].as_u64().unwrap();
    wire.reconnect(&house, after).await;
    // The question is told again, whatever was heard before.
    let again = wire.until("tool.request_approval").await;
    assert_eq!(again, asked);
    wire.say(approval(&again["request_id"])).await;
    wire.until_done().await;
    wire.check("resume", &house);
}

#[tokio::test]
async fn the_example_of_errors_is_current() {
    let script = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"the model is out of order\" } }]\n";
    let house = House::start(&[], script).await;
    let mut wire = house.join(Preset::Ask, &[]).await;
    wire.say(approval(&json!("req_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f"))).await;
    assert_eq!(wire.until("server.error").await["error"]["code"], "UNKNOWN_REQUEST");
    wire.prompt("Hello?").await;
    assert_eq!(wire.until("server.error").await["error"]["code"], "MODEL_ERROR");
    wire.until_done().await;
    wire.check("error", &house);
}
