//! Whole turns, as a client hears them.

use std::collections::BTreeSet;
use std::time::Duration;

use insta::assert_snapshot;
use loggia_domain::ModelMessage;
use loggia_protocol_autohand::limits::CLIENT_LINE_BYTES;
use loggia_rpc::{EndOfTurn, Launch, serve};
use loggia_testkit::Writes;
use loggia_tests::Write;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use crate::support::{Client, builder, parts, world};

const ANSWER: &str = r#"
    context_tokens = 10000
    [[reply]]
    parts = [{ thought = "Hm. " }, { text = "Hello " }, { text = "there." }]
    usage = { input = 2000, output = 500 }
"#;

#[tokio::test]
async fn a_plain_answer() {
    let world = world(ANSWER).await;
    let mut client = Client::launch(&world, Launch::new(world.root())).await;
    client.turn("Say hello").await;
    client.call("getState", json!({})).await;
    client.call("getMessages", json!({})).await;
    assert_snapshot!(client.text());
}

/// The order on the wire, unlike in other transcripts.
#[tokio::test]
async fn a_prompt_is_answered_before_its_turn_is_told_and_counts_at_once() {
    let world = world("[[reply]]\nparts = [{ hang = true }]").await;
    let mut client = Client::start(&world).await;
    let prompt = client.say("prompt", json!({"message": "x"})).await;
    let state = client.say("getState", json!({})).await;
    let mut order = Vec::new();
    while !order.contains(&"turnStart".to_owned()) || order.len() < 3 {
        let message = client.line().await;
        match message.get("id") {
            Some(id) if *id == prompt => order.push("prompt".to_owned()),
            Some(id) if *id == state => order.push(message["result"]["status"].as_str().unwrap().to_owned()),
            _ => {
                let method = message["method"].as_str().unwrap().trim_start_matches("autohand.");
                if method == "turnStart" {
                    order.push(method.to_owned());
                }
            }
        }
    }
    let place = |what: &str| order.iter().position(|line| line == what).unwrap();
    assert!(place("prompt") < place("turnStart"), "{order:?}");
    assert!(order.contains(&"processing".to_owned()), "{order:?}");
}

#[tokio::test]
async fn a_tool_that_only_reads_runs_without_a_question() {
    let world = world(
        r#"
        [[reply]]
        parts = [{ text = "Looking. " }, { call = { tool = "read_file", arguments = { path = "notes.txt" } } }]
        [[reply]]
        parts = [{ text = "Three lines." }]
    "#,
    )
    .await;
    let mut client = Client::start(&world).await;
    client.turn("How long is it?").await;
    client.call("getMessages", json!({"limit": 3})).await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_told_to_the_model_alone() {
    let world = world(
        r#"
        [[reply]]
        parts = [{ call = { tool = "read_file", raw_arguments = "not json" } }]
        [[reply]]
        parts = [{ text = "Sorry." }]
    "#,
    )
    .await;
    let mut client = Client::start(&world).await;
    client.turn("Read").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_model_that_fails_ends_its_turn_and_not_the_session() {
    let world = world(
        r#"
        [[reply]]
        parts = [{ text = "Well" }, { error = { kind = "permanent", message = "the key is wrong" } }]
        [[reply]]
        parts = [{ text = "Better." }]
    "#,
    )
    .await;
    let mut client = Client::start(&world).await;
    client.turn("First").await;
    client.turn("Second").await;
    assert_snapshot!(client.text());
}

/// Clients wait for a message's end before the turn's, also if the model never said a word.
#[tokio::test]
async fn a_turn_that_is_cut_before_the_first_word_has_an_empty_message() {
    let world = world(
        r#"
        [[reply]]
        parts = [{ error = { kind = "permanent", message = "the key is wrong" } }]
        [[reply]]
        parts = [{ hang = true }]
    "#,
    )
    .await;
    let mut client = Client::start(&world).await;
    client.turn("First").await;
    client.call("prompt", json!({"message": "Second"})).await;
    client.until("hook.prePrompt").await;
    client.call("abort", json!({})).await;
    client.until("ping").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn an_abort_in_the_middle_of_a_reply() {
    let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Go on for ever"})).await;
    client.until("messageUpdate").await;
    client.call("abort", json!({})).await;
    client.until("ping").await;
    client.call("abort", json!({})).await;
    client.call("getState", json!({})).await;
    assert_snapshot!(client.text());
}

/// The second one comes while the first is carried out, or after it: both are answered, and the turn ends once.
#[tokio::test]
async fn two_aborts_are_both_answered_and_the_turn_ends_once() {
    let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Go on for ever"})).await;
    client.until("messageUpdate").await;
    let (first, second) = (client.say("abort", json!({})).await, client.say("abort", json!({})).await);
    for id in [first, second] {
        assert_eq!(client.answer(id).await, json!({"success": true}));
    }
    client.until("ping").await;
    client.call("getState", json!({})).await;
    let told = client.text();
    assert_eq!(told.matches("turnEnd").count(), 1, "{told}");
    assert_eq!(told.matches("messageEnd").count(), 1, "{told}");
}

#[tokio::test]
async fn an_abort_before_the_first_word() {
    let script = "[[reply]]\nparts = [{ thought = \"Hm.\" }, { hang = true }]\n[[reply]]\nparts = [{ text = \"Now.\" }]";
    let world = world(script).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "x"})).await;
    client.until("messageUpdate").await;
    client.call("abort", json!({})).await;
    client.until("ping").await;
    client.turn("Again").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn an_abort_without_an_id_is_carried_out() {
    let world = world("[[reply]]\nparts = [{ hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "x"})).await;
    client.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\"}\n").await;
    assert_eq!(client.until("turnEnd").await["reason"], "aborted");
}

#[tokio::test]
async fn a_second_prompt_is_refused_and_the_first_goes_on() {
    let world = world("[[reply]]\nparts = [{ text = \"One\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "first"})).await;
    client.until("messageUpdate").await;
    let refused = client.call("prompt", json!({"message": "second"})).await;
    assert_eq!(refused["code"], -32003);
    assert_eq!(client.call("getState", json!({})).await["status"], "processing");
    client.call("abort", json!({})).await;
    client.until("turnEnd").await;
}

/// Clients send the next prompt as soon as they read `turnEnd`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_prompt_is_welcome_as_soon_as_a_turn_has_ended() {
    let world = world("[[reply]]\nrepeat = 30\nparts = [{ text = \"ok\" }]").await;
    let mut client = Client::start(&world).await;
    for number in 0..30 {
        let id = client.say("prompt", json!({"message": format!("prompt {number}")})).await;
        // Nothing of the turn comes before the answer; at most the marker of the last one does.
        let first = loop {
            let line = client.line().await;
            if line["method"] != "autohand.ping" {
                break line;
            }
        };
        assert_eq!(
            (&first["id"], &first["result"]),
            (&json!(id), &json!({"success": true})),
            "prompt {number}"
        );
        client.until("turnEnd").await;
    }
}

#[tokio::test]
async fn a_long_reply_comes_whole() {
    let world = world("[[reply]]\nparts = [{ tokens = { count = 5000, text = \"tok \" } }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "x"})).await;
    let mut deltas = String::new();
    loop {
        let message = client.line().await;
        match message["method"].as_str() {
            Some("autohand.messageUpdate") => deltas += message["params"]["delta"].as_str().unwrap(),
            Some("autohand.messageEnd") => {
                assert_eq!(message["params"]["content"], deltas);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(deltas, "tok ".repeat(5000));
}

/// Python's streams read no longer line, and the session is lost with it.
#[tokio::test]
async fn what_is_told_fits_into_the_line_of_every_client() {
    let long = "\u{e9}\\n".repeat(40_000);
    let file = "line with \"quotes\"\n".repeat(10_000);
    let script = format!(
        r#"
        [[reply]]
        parts = [{{ thought = "{long}" }}, {{ text = "{long}" }}, {{ call = {{ tool = "read_file", arguments = {{ path = "long.txt" }} }} }}, {{ call = {{ tool = "write_file", arguments = {{ path = "new.txt", content = "{long}" }} }} }}]
        [[reply]]
        parts = [{{ text = "Done." }}]
    "#
    );
    let world = builder().file("long.txt", file).start(&script).await;
    let mut client = Client::start(&world).await;
    let message = "x".repeat(100_000);
    let prompt = json!({"message": message, "stopWhen": {"mode": "host"}});
    assert_eq!(client.call("prompt", prompt).await, json!({"success": true}));
    let (mut seen, mut deltas, mut thoughts) = (BTreeSet::new(), String::new(), String::new());
    while !seen.contains("turnEnd") {
        let line = client.heard().await;
        let notice: Value = serde_json::from_str(&line).unwrap();
        let Some(method) = notice["method"].as_str() else { continue };
        let (method, params) = (method.trim_start_matches("autohand."), &notice["params"]);
        let whole = method == "messageEnd";
        assert!(whole || line.len() <= CLIENT_LINE_BYTES, "{method} has {} bytes", line.len());
        match method {
            "messageUpdate" if !seen.contains("toolStart") => {
                deltas += params["delta"].as_str().unwrap();
                thoughts += params["thought"].as_str().unwrap_or_default();
            }
            "permissionRequest" => {
                client
                    .say("permissionResponse", json!({"requestId": params["requestId"], "allowed": true}))
                    .await;
            }
            "stepEnd" => {
                assert!(params["step"]["toolResults"][0]["output"].as_str().unwrap().contains("more bytes"));
                client.say("stepDecision", json!({"stepId": params["stepId"], "stop": false})).await;
            }
            "toolEnd" if params["toolName"] == "read_file" => {
                assert!(params["output"].as_str().unwrap().contains("more bytes"), "{line}");
            }
            _ => {}
        }
        seen.insert(method.to_owned());
    }
    let told = "\u{e9}\n".repeat(40_000);
    assert!(deltas == told && thoughts == told, "the pieces are the reply");
    assert!(
        seen.is_superset(
            &["toolStart", "hook.preTool", "hook.postTool", "toolEnd", "stepEnd", "permissionRequest"]
                .map(str::to_owned)
                .into()
        ),
        "{seen:?}"
    );
    assert_eq!(world.read("new.txt"), told);
}

#[tokio::test]
async fn a_reply_is_told_in_few_updates_where_that_is_wanted() {
    let script = "[[reply]]\nparts = [{ tokens = { count = 2000, text = \"tok \" } }]";
    for (merge_updates, most) in [(Duration::from_secs(5), 4), (Duration::ZERO, 2000)] {
        let world = world(script).await;
        let launch = Launch { merge_updates, ..Launch::new(world.root()) };
        let mut client = Client::launch(&world, launch).await;
        client.call("prompt", json!({"message": "x"})).await;
        let (mut updates, mut deltas) = (0, String::new());
        loop {
            let notice: Value = serde_json::from_str(&client.heard().await).unwrap();
            match notice["method"].as_str() {
                Some("autohand.messageUpdate") => {
                    updates += 1;
                    deltas += notice["params"]["delta"].as_str().unwrap();
                }
                Some("autohand.messageEnd") => break,
                _ => {}
            }
        }
        assert_eq!(deltas, "tok ".repeat(2000));
        assert!(updates <= most, "{updates}");
    }
}

/// What is held back comes by itself when its time is over.
#[tokio::test]
async fn a_merged_reply_does_not_wait_for_its_end() {
    let world = world("[[reply]]\nparts = [{ text = \"So \" }, { text = \"far\" }, { hang = true }]").await;
    let launch = Launch { merge_updates: Duration::from_millis(20), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.call("prompt", json!({"message": "x"})).await;
    let mut deltas = String::new();
    while deltas != "So far" {
        deltas += client.until("messageUpdate").await["delta"].as_str().unwrap();
    }
}

#[tokio::test]
async fn files_and_selection_reach_the_model() {
    let world = world("[[reply]]\nexpect = \"the selected words\"\nparts = [{ text = \"I see.\" }]").await;
    let mut client = Client::start(&world).await;
    let context = json!({
        "files": ["notes.txt"],
        "selection": {"file": "notes.txt", "startLine": 1, "endLine": 2, "text": "the selected words"},
    });
    client.call("prompt", json!({"message": "Explain", "context": context})).await;
    client.until("ping").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn images_that_cannot_be_used_are_told_and_the_text_is_worked_on() {
    let world = world("[[reply]]\nparts = [{ text = \"Without them, then.\" }]").await;
    let mut client = Client::start(&world).await;
    let large = "A".repeat(11 * 1024 * 1024 / 3 * 4);
    let images = json!([
        {"data": "aGVsbG8=", "mimeType": "image/bmp"},
        {"data": large, "mimeType": "image/png"},
        {"data": "aGVsbG8=", "mimeType": "image/png"},
    ]);
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "autohand.prompt", "params": {"message": "Look", "images": images}});
    client.send(format!("{request}\n").as_bytes()).await;
    assert_eq!(client.answer(9).await, json!({"success": true}));
    client.until("ping").await;
    assert_snapshot!(client.text());
}

/// The beginning of a png is all that anybody here looks at.
fn png(name: &str) -> serde_json::Value {
    json!({"data": "iVBORw0KGgo=", "mimeType": "image/png", "filename": name})
}

#[tokio::test]
async fn a_model_that_sees_is_shown_the_images_of_a_prompt() {
    let world = world("images = true\n[[reply]]\nrepeat = 2\nparts = [{ text = \"I see.\" }]").await;
    let mut client = Client::start(&world).await;
    let broken = json!({"data": "aGVsbG8=", "mimeType": "image/png"});
    let params = json!({"message": "Look", "images": [png("a.png"), broken, png("b.png")]});
    client.call("prompt", params).await;
    client.until("ping").await;
    client.call("getMessages", json!({})).await;
    assert_snapshot!(client.text());
    client.turn("And now?").await;
    for request in world.model.requests() {
        let [_, ModelMessage::Shown { text, images }, ..] = &request.messages[..] else {
            panic!("{request:?}")
        };
        assert_eq!(text, "[Image #1: a.png]\n[Image #2: b.png]\nLook");
        let kinds: Vec<&str> = images.iter().map(|image| image.media_type.as_str()).collect();
        assert_eq!(kinds, ["image/png", "image/png"]);
        assert_eq!(&*images[0].bytes, b"\x89PNG\r\n\x1a\n");
    }
}

#[tokio::test]
async fn an_image_that_cannot_be_kept_is_told_and_the_text_is_worked_on() {
    let world = world("images = true\n[[reply]]\nparts = [{ text = \"Without it.\" }]").await;
    let mut client = Client::start(&world).await;
    world.disk.fill(Write::Blob);
    client.call("prompt", json!({"message": "Look", "images": [png("a.png")]})).await;
    let error = client.until("error").await;
    assert_eq!((&error["code"], &error["recoverable"]), (&json!(-32000), &json!(true)));
    assert_eq!(error["message"], "image 1 was left out: the disk is full");
    assert_eq!(client.until("messageEnd").await["content"], "Without it.");
}

/// There is no turn to abort yet, and none may begin after the abort was answered.
#[tokio::test]
async fn a_prompt_that_is_called_off_before_its_turn_begins_is_answered_as_aborted() {
    let world = world("images = true\n[[reply]]\nparts = [{ text = \"Later.\" }]").await;
    let mut client = Client::start(&world).await;
    world.disk.hold(Write::Blob);
    let prompt = client.say("prompt", json!({"message": "Look", "images": [png("a.png")]})).await;
    world.disk.holds_one().await;
    assert_eq!(client.call("getState", json!({})).await["status"], "processing");
    let abort = client.say("abort", json!({})).await;
    let (mut aborted, mut refused) = (None, None);
    while aborted.is_none() || refused.is_none() {
        let line = client.line().await;
        match &line["id"] {
            id if *id == abort => aborted = Some(line["result"].clone()),
            id if *id == prompt => refused = Some(line["error"]["code"].clone()),
            _ => panic!("nothing else is told: {line}"),
        }
    }
    assert_eq!((aborted, refused), (Some(json!({"success": true})), Some(json!(-32004))));
    world.disk.heal();
    assert_eq!(client.call("getState", json!({})).await["status"], "idle");
    client.turn("Now then").await;
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn slash_commands_are_answered_without_a_model() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    client.turn("/help").await;
    client.turn("/model").await;
    client.turn("/model nobody:knows").await;
    client.turn("/undo").await;
    client.turn("/frobnicate the thing").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_turn_that_takes_long_shows_that_it_lives() {
    let world = world("[[reply]]\nparts = [{ thought = \"Hm.\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "x"})).await;
    client.until("messageUpdate").await;
    client.text();
    // From here on time passes as fast as nobody has anything to do.
    tokio::time::pause();
    client.until("ping").await;
    assert_snapshot!(client.text());
}

/// A marker in a later write would end the next prompt of some clients.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_message_the_turns_end_and_the_marker_are_one_write() {
    let world = world("[[reply]]\nrepeat = 20\nparts = [{ text = \"ok\" }]").await;
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let writes = Writes::default();
    let launch = Launch::new(world.root());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(parts(&world), Ok(launch), far, writes.clone(), stop));
    for number in 0..20 {
        let line =
            json!({"jsonrpc": "2.0", "id": number, "method": "autohand.prompt", "params": {"message": "x"}});
        near.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        while writes.count("autohand.turnEnd") <= number {
            tokio::task::yield_now().await;
        }
    }
    near.shutdown().await.unwrap();
    assert_eq!(serving.await.unwrap().code, 0);
    let writes = writes.all();
    let closing: Vec<&String> = writes.iter().filter(|write| write.contains("autohand.turnEnd")).collect();
    assert_eq!(closing.len(), 20);
    for write in closing {
        let place = |text: &str| write.find(text).unwrap_or_else(|| panic!("no {text} in {write}"));
        assert!(place("autohand.messageEnd") < place("autohand.turnEnd"));
        assert!(place("autohand.turnEnd") < place("autohand.ping"));
    }
}

#[tokio::test]
async fn the_end_of_a_turn_can_be_told_by_agent_end() {
    let world = world("[[reply]]\nparts = [{ text = \"ok\" }]").await;
    let launch = Launch { end_of_turn: EndOfTurn::AgentEnd, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.text();
    client.call("prompt", json!({"message": "x"})).await;
    client.until("agentEnd").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn the_end_of_a_turn_can_be_told_by_the_answer() {
    let world = world("[[reply]]\nparts = [{ text = \"ok\" }]").await;
    let launch = Launch { end_of_turn: EndOfTurn::Answer, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    let prompt = client.say("prompt", json!({"message": "x"})).await;
    let mut methods = Vec::new();
    loop {
        let message = client.line().await;
        match message.get("id") {
            Some(id) => break assert_eq!(*id, prompt),
            None => methods.push(message["method"].as_str().unwrap().to_owned()),
        }
    }
    assert_eq!(methods.last().unwrap(), "autohand.turnEnd");
}

#[tokio::test]
async fn a_prompt_that_waits_for_its_turn_is_answered_as_aborted_when_that_is() {
    let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
    let launch = Launch { end_of_turn: EndOfTurn::Answer, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    let prompt = client.say("prompt", json!({"message": "x"})).await;
    client.until("messageUpdate").await;
    client.call("abort", json!({})).await;
    let answer = client.answer(prompt).await;
    assert_eq!(answer["code"], -32004);
}
