//! What happens to a session beside its turns, and who is there.

use loggia_domain::Preset;
use serde_json::{Value, json};

use crate::stream_support::{Client, DRIVER, WATCHER, calls, says, world};

/// The next notice, whatever else comes.
async fn notice(client: &mut Client) -> (String, String) {
    loop {
        let message = client.next_of_any_kind().await;
        if message["type"] == "session.notice" {
            let text = |name: &str| message[name].as_str().unwrap().to_owned();
            return (text("kind"), text("by"));
        }
    }
}

fn of(kind: &str, by: &str) -> (String, String) {
    (kind.to_owned(), by.to_owned())
}

#[tokio::test]
async fn every_screen_is_told_who_undid_renamed_and_continued() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let world = world(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::AutoEdit).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("write").await;
    client.until_done().await;
    let path = |what: &str| format!("/v1/sessions/{session}/{what}");
    world.post(&path("undo"), &json!({})).await;
    let undone = client.until("session.notice").await;
    assert_eq!((&undone["kind"], &undone["files"]), (&json!("undone"), &json!(["a.txt"])));
    assert!(undone["seq"].is_u64() && undone["message"].as_str().unwrap().contains("undid"), "{undone}");
    let state = client.until("session.state").await;
    assert_eq!((&state["state"]["applied_patches"], &state["seq"]), (&json!([]), &undone["seq"]));
    world.post(&path("redo"), &json!({})).await;
    assert_eq!(client.until("session.notice").await["kind"], "redone");
    assert_eq!(client.until("session.state").await["state"]["applied_patches"].as_array().unwrap().len(), 1);
    world.post(&path("rename"), &json!({"title": "Louder"})).await;
    let renamed = client.until("session.notice").await;
    assert_eq!((&renamed["kind"], &renamed["title"]), (&json!("renamed"), &json!("Louder")));
    // They are events, so whoever comes later reads of them as well.
    let mut late = world.join_after(session, "late", 0).await;
    while late.last < client.last {
        late.next().await;
    }
    let notices = |client: &Client| -> Vec<Value> {
        let all = client.transcript.numbered.iter();
        all.filter(|message| message["type"] == "session.notice").cloned().collect()
    };
    assert_eq!(notices(&late).len(), 3);
    assert_eq!(notices(&late), notices(&client));
}

#[tokio::test]
async fn others_are_told_who_comes_and_goes() {
    let world = world(&[], &says(&[])).await;
    let (session, elsewhere) = (world.open(Preset::Ask).await, world.open(Preset::Ask).await);
    let mut editor = world.join(session, "editor", &[]).await;
    let mut page = world.join_as(&WATCHER, &format!("/v1/sessions/{session}/stream"), "page", &[]).await;
    assert_eq!(notice(&mut page).await, of("joined", "editor"));
    assert_eq!(notice(&mut editor).await, of("joined", "page"));
    // Neither those on other sessions nor single requests are told of.
    let _other = world.join(elsewhere, "other", &[]).await;
    world.post(&format!("/v1/sessions/{session}/rename"), &json!({"title": "t"})).await;
    assert_eq!(notice(&mut editor).await.0, "renamed");
    drop(page);
    assert_eq!(notice(&mut editor).await, of("left", "page"));
}

#[tokio::test]
async fn the_stream_without_a_session_tells_who_is_where() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let editor = world.join(session, "editor", &[]).await;
    let mut wall = world.connect(&DRIVER, "/v1/stream").await;
    wall.say(json!({"type": "client.hello", "client_info": {"name": "wall", "version": "1"}})).await;
    assert_eq!(wall.next().await["type"], "server.hello");
    let there = wall.next_of_any_kind().await;
    assert_eq!(
        (&there["kind"], &there["by"], &there["session_id"]),
        (&json!("joined"), &json!("editor"), &json!(session.to_string()))
    );
    drop(editor);
    assert_eq!(notice(&mut wall).await, of("left", "editor"));
}

#[tokio::test]
async fn every_screen_is_told_that_another_model_replies_and_what_it_cost() {
    let script = r#"
        [[reply]]
        parts = [
            { switched = { from = "big:one", to = "small:one", reason = "it is overloaded" } },
            { text = "Hello." },
        ]
        usage = { input = 100, cached = 40, output = 10, micro_dollars = 1500 }

        [[reply]]
        parts = [{ text = "Hello again." }]
        usage = { input = 1, output = 1 }
    "#;
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("hello").await;
    let told = client.until("session.notice").await;
    assert_eq!(
        (&told["kind"], &told["model"], &told["by"]),
        (&json!("model_switched"), &json!("small:one"), &json!("server"))
    );
    assert_eq!(told["message"], "small:one replies instead of big:one: it is overloaded");
    assert!(told["seq"].is_u64() && told["turn_id"].is_string(), "{told}");
    let last = client.until("assistant.message_final").await;
    assert_eq!(
        (&last["metadata"]["cost_usd"], &last["metadata"]["tokens_used"]),
        (&json!(0.0015), &json!(110))
    );
    let state = client.until("session.state").await;
    let used = json!({"input_tokens": 100, "output_tokens": 10, "cached_tokens": 40, "cost_usd": 0.0015});
    assert_eq!(state["state"]["usage"], used);
    // Where a price is not known, the cost is absent and not nothing.
    client.prompt("hello").await;
    let last = client.until("assistant.message_final").await;
    assert_eq!((last["metadata"].get("cost_usd"), &last["metadata"]["tokens_used"]), (None, &json!(2)));
    let state = client.until("session.state").await;
    assert_eq!(
        state["state"]["usage"],
        json!({"input_tokens": 101, "output_tokens": 11, "cached_tokens": 40})
    );
}
