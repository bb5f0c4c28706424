//! Questions and answers: from any client, the first one counts.

use loggia_domain::{Preset, SessionId};
use loggia_tests::scripts::{self, twenty_lines};
use serde_json::{Value, json};

use crate::stream_support::{Client, World, calls, world};

/// Changes some of twenty lines, and then has seen what became of it.
fn hunks(diff: &str) -> String {
    scripts::proposes(diff) + &scripts::says("I see.")
}

/// Changes two files, likewise.
fn two_files() -> String {
    scripts::proposes_for(scripts::TWO_FILES, "louder") + &scripts::says("I see.")
}

async fn write_world() -> World {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\", reason = \"asked for\" }");
    world(&[("a.txt", "old\n")], &script).await
}

/// The last result the model was told.
fn told(world: &World) -> String {
    use loggia_domain::ModelMessage;
    let request = world.model.requests().pop().unwrap();
    let result = request.messages.iter().rev().find_map(|message| match message {
        ModelMessage::ToolResult { output, .. } => Some(output.clone()),
        _ => None,
    });
    result.unwrap()
}

/// A client alone on a session, and what it is asked after a prompt.
async fn question(world: &World, prompt: &str) -> (Client, Value) {
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt(prompt).await;
    loop {
        let message = client.next().await;
        if message["type"].as_str().unwrap().ends_with(".request_approval") {
            return (client, message);
        }
    }
}

/// Alice, who has prompted, and Bob.
async fn prompted(world: &World, session: SessionId) -> (Client, Client) {
    let mut alice = world.join(session, "alice", &[]).await;
    let bob = world.join(session, "bob", &[]).await;
    alice.prompt("write").await;
    (alice, bob)
}

/// The next answer that a client is told of.
async fn decided(client: &mut Client) -> Value {
    loop {
        if let Some(decided) = client.until("session.state").await.get("decided") {
            return decided.clone();
        }
    }
}

#[tokio::test]
async fn the_first_of_two_answers_counts_and_the_second_hears_whose_it_was() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let (mut alice, mut bob) = prompted(&world, session).await;
    let asked = alice.until("tool.request_approval").await;
    assert_eq!(bob.until("tool.request_approval").await, asked);
    bob.approve(&asked["request_id"]).await;
    // The state changes for everybody once it is decided.
    alice.until("session.state").await;
    let answer =
        json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": false});
    alice.say(answer.clone()).await;
    let error = alice.until_error().await;
    assert_eq!(error["code"], "ALREADY_DECIDED");
    assert_eq!(error["details"], json!({"decided_by": "bob", "approved": true}));
    alice.until_done().await;
    assert_eq!(world.read("a.txt"), "new\n");
    // By the patch's name it is as late.
    let late = json!({"type": "client.approval_response", "request_id": asked["args"]["patch_id"], "approved": false});
    alice.say(late).await;
    assert_eq!(alice.until_error().await["code"], "ALREADY_DECIDED");
}

#[tokio::test]
async fn two_answers_at_once_have_one_winner() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let (mut alice, mut bob) = prompted(&world, session).await;
    let asked = alice.until("tool.request_approval").await;
    bob.until("tool.request_approval").await;
    tokio::join!(alice.approve(&asked["request_id"]), bob.approve(&asked["request_id"]));
    // What each says next is answered after its decision was.
    for client in [&mut alice, &mut bob] {
        client.until_done().await;
        client.say(json!({"type": "client.cancel"})).await;
        while client.until_error().await["code"] != "UNKNOWN_REQUEST" {}
    }
    let errors = [&alice, &bob].map(|client| client.text().matches("ALREADY_DECIDED").count());
    assert_eq!(errors[0] + errors[1], 1);
}

#[tokio::test]
async fn a_question_outlives_the_one_who_prompted_and_a_restart() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    let first = alice.transcript.numbered.clone();
    drop(alice);
    let world = world.restart("[[reply]]\nparts = [{ text = \"Done.\" }]\n").await;
    let mut bob = world.join(session, "bob", &[]).await;
    let patch = bob.next().await;
    let again = bob.next().await;
    assert_eq!(again, asked, "in full, with its number");
    assert!(first.contains(&patch), "{patch}");
    bob.approve(&asked["request_id"]).await;
    assert_eq!(bob.until_done().await["message"], "Done.");
    assert_eq!(world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn one_hunk_is_taken_and_the_model_hears_which_were_not() {
    let world = world(&[("a.txt", &twenty_lines())], &hunks(scripts::TWO_HUNKS)).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("shout").await;
    let patch = client.until("patch.proposed").await;
    assert_eq!(patch["hunks"].as_array().unwrap().len(), 2);
    let asked = client.until("tool.request_approval").await;
    let answer = |rest: Value| {
        let mut answer =
            json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": true});
        answer.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        answer
    };
    client.say(answer(json!({"scope": "hunk", "file_path": "a.txt", "hunk_index": 2}))).await;
    let error = client.until_error().await;
    assert_eq!(
        error["details"],
        json!({"pointer": "/hunk_index", "expected": "a number below 2, counted from 0"})
    );
    client.say(answer(json!({"scope": "hunk", "file_path": "z.txt", "hunk_index": 1}))).await;
    let error = client.until_error().await;
    assert_eq!(
        error["details"],
        json!({"pointer": "/file_path", "expected": "a file of the question: `a.txt`"})
    );
    client.say(answer(json!({"scope": "hunk", "file_path": "a.txt", "hunk_index": 1}))).await;
    client.until_done().await;
    assert_eq!(world.read("a.txt"), twenty_lines().replace("line 20", "LINE 20"));
    assert!(told(&world).contains("+LINE 1"), "{}", told(&world));
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn several_hunks_are_taken_with_one_answer() {
    let world = world(&[("a.txt", &twenty_lines())], &hunks(scripts::THREE_HUNKS)).await;
    let (mut client, asked) = question(&world, "shout").await;
    let answer = |approved: bool, indexes: &[u32]| {
        json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": approved,
               "scope": "hunk", "file_path": "a.txt", "hunk_indexes": indexes})
    };
    client.say(answer(true, &[0, 3])).await;
    let error = client.until_error().await;
    assert_eq!(
        error["details"],
        json!({"pointer": "/hunk_indexes/1", "expected": "a number below 3, counted from 0"})
    );
    client.say(answer(true, &[2, 0, 2])).await;
    client.until_done().await;
    assert_eq!(
        world.read("a.txt"),
        twenty_lines().replace("line 1\n", "LINE 1\n").replace("line 20", "LINE 20")
    );
    assert!(told(&world).contains("Applied 2 of 3 hunks"), "{}", told(&world));
}

#[tokio::test]
async fn everybody_is_told_who_decided_now_and_in_the_past() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let (mut alice, mut bob) = prompted(&world, session).await;
    let asked = bob.until("tool.request_approval").await;
    bob.approve(&asked["request_id"]).await;
    let decided =
        json!({"request_id": asked["request_id"], "decided_by": "bob", "through": "http", "approved": true});
    assert_eq!(self::decided(&mut alice).await, decided);
    alice.until_done().await;
    let mut late = world.join_after(session, "carol", 0).await;
    assert_eq!(self::decided(&mut late).await, decided);
    // And in the list of events.
    let events = world.get(&format!("/v1/sessions/{session}/events")).await;
    let told: Vec<_> =
        events["events"].as_array().unwrap().iter().filter_map(|event| event.get("decided")).collect();
    assert_eq!(told, [&decided]);
}

#[tokio::test]
async fn an_answer_about_a_command_or_a_part_says_so() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let (mut client, asked) = question(&world, "louder").await;
    client.approve(&asked["args"]["patch_ids"][1]).await;
    let part = decided(&mut client).await;
    assert_eq!((&part["request_id"], &part["in_part"]), (&asked["request_id"], &json!(true)));

    let world = self::world(&[], &calls("run_command", "{ command = \"say hi\" }")).await;
    let (mut client, asked) = question(&world, "run").await;
    client
        .say(
            json!({"type": "client.approval_response", "request_id": asked["command_id"], "approved": false}),
        )
        .await;
    let no = decided(&mut client).await;
    assert_eq!((&no["request_id"], &no["approved"]), (&asked["command_id"], &json!(false)));
}

#[tokio::test]
async fn one_file_of_several_is_taken_by_scope_or_by_the_patchs_name() {
    for by_name in [false, true] {
        let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
        let (mut client, asked) = question(&world, "louder").await;
        let answer = match by_name {
            true => {
                let patch = &asked["args"]["patch_ids"][1];
                json!({"type": "client.approval_response", "request_id": patch, "approved": true})
            }
            false => {
                let id = &asked["request_id"];
                json!({"type": "client.approval_response", "request_id": id, "approved": true,
                       "scope": "file", "file_path": "b.txt"})
            }
        };
        client.say(answer).await;
        client.until_done().await;
        assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("one\n", "TWO\n"));
        assert!(told(&world).contains("`a.txt` was refused"), "{}", told(&world));
    }
}

#[tokio::test]
async fn everything_at_once_is_taken_with_the_scope_all() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let (mut client, asked) = question(&world, "louder").await;
    let patch = &asked["args"]["patch_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": patch, "approved": true, "scope": "all"}))
        .await;
    let last = client.until_done().await;
    assert_eq!(last["metadata"]["files_modified"], 2);
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("ONE\n", "TWO\n"));
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_no_to_a_part_writes_nothing_and_says_which_part() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let (mut client, asked) = question(&world, "louder").await;
    let id = &asked["request_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": id, "approved": false,
                    "scope": "file", "file_path": "b.txt"}))
        .await;
    client.until_done().await;
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("one\n", "two\n"));
    assert!(told(&world).contains("the change to `b.txt` is not wanted"), "{}", told(&world));
}

#[tokio::test]
async fn an_answer_is_remembered_as_long_as_it_says() {
    let script =
        [calls("run_command", "{ command = \"say hi\" }"), calls("run_command", "{ command = \"say hi\" }")];
    let world = world(&[], &script.concat()).await;
    let (mut client, asked) = question(&world, "run").await;
    let id = &asked["command_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": id, "approved": true, "remember": "session"}))
        .await;
    client.until_done().await;
    client.prompt("again").await;
    client.until_done().await;
    assert_eq!(client.text().matches("command.request_approval").count(), 1, "{}", client.text());
}

#[tokio::test]
async fn a_question_says_whether_its_answer_can_be_remembered() {
    for (arguments, remember) in [
        ("command = 'say hi'", json!(["session", "workspace"])),
        ("command = 'say $WORDS'", Value::Null),
        ("command = 'say hi && say ho'", Value::Null),
        ("command = 'say hi', cwd = 'sub'", Value::Null),
    ] {
        let world = world(&[], &calls("run_command", &format!("{{ {arguments} }}"))).await;
        std::fs::create_dir(world.root().join("sub")).unwrap();
        let (_client, asked) = question(&world, "run").await;
        assert_eq!(asked["remember"], remember, "{arguments}");
    }
    let world = write_world().await;
    let (_client, asked) = question(&world, "write").await;
    assert_eq!(asked["remember"], json!(["session", "workspace"]));
}

#[tokio::test]
async fn hunks_of_several_files_are_taken_with_one_answer() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let (mut client, asked) = question(&world, "louder").await;
    let answer = |hunks: Value| {
        json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": true,
               "scope": "hunk", "hunks": hunks})
    };
    client.say(answer(json!([{"file_path": "b.txt", "hunk_indexes": [1]}]))).await;
    assert_eq!(client.until_error().await["details"]["pointer"], "/hunks/0/hunk_indexes/0");
    client.say(answer(json!([{"file_path": "z.txt", "hunk_indexes": [0]}]))).await;
    assert_eq!(client.until_error().await["details"]["pointer"], "/hunks/0/file_path");
    client
        .say(answer(
            json!([{"file_path": "b.txt", "hunk_indexes": [0]}, {"file_path": "a.txt", "hunk_indexes": [0]}]),
        ))
        .await;
    client.until_done().await;
    assert!(world.read("a.txt") != "one\n" && world.read("b.txt") != "two\n");
}

#[tokio::test]
async fn a_no_with_a_word_tells_the_model_why() {
    let world = write_world().await;
    let (mut client, asked) = question(&world, "write").await;
    client
        .say(json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": false,
                    "comment": "append to it instead"}))
        .await;
    client.until_done().await;
    assert!(told(&world).contains("append to it instead"), "{}", told(&world));
    assert_eq!(world.read("a.txt"), "old\n");
}
