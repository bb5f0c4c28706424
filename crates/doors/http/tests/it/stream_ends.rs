//! How streams end.

use loggia_domain::{Intent, Preset};
use serde_json::{Value, json};

use crate::stream_support::{Heard, WATCHER, says, world};

/// Everything up to the end; the last message and the code.
async fn to_the_end(client: &mut crate::stream_support::Client) -> (serde_json::Value, Option<u16>) {
    let mut last = json!(null);
    loop {
        match client.hear().await {
            Heard::Message(message) => last = message,
            Heard::Ping => {}
            Heard::Closed(code) => return (last, code),
        }
    }
}

#[tokio::test]
async fn a_deleted_session_says_its_state_and_closes_its_streams() {
    let world = world(&[], "[[reply]]\nparts = [{ text = \"hm\" }, { hang = true }]\n").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    client.until("assistant.token").await;
    world.engine.delete_session(session).await.unwrap();
    let (last, code) = to_the_end(&mut client).await;
    assert_eq!((&last["type"], code), (&json!("session.state"), Some(4404)));
}

#[tokio::test]
async fn a_server_that_stops_says_the_state_and_goes_away() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let mut silent =
        world.connect(&crate::stream_support::DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    world.stop.cancel();
    let (last, code) = to_the_end(&mut client).await;
    assert_eq!((&last["type"], code), (&json!("session.state"), Some(1001)));
    assert_eq!(silent.until_closed().await, Some(1001));
    drop((client, silent));
    world.door.streams_ended().await;
}

#[tokio::test]
async fn a_server_that_was_told_to_stop_says_so() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let mut silent =
        world.connect(&crate::stream_support::DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    let mut global = world.connect(&crate::stream_support::DRIVER, "/v1/stream").await;
    world.post("/v1/stop", &json!({})).await;
    let (last, code) = to_the_end(&mut client).await;
    assert_eq!((&last["type"], code), (&json!("session.state"), Some(4410)));
    assert_eq!((silent.until_closed().await, global.until_closed().await), (Some(4410), Some(4410)));
}

#[tokio::test]
async fn a_revoked_token_ends_its_streams_and_no_others() {
    let world = world(&[], &says(&["Hello."])).await;
    let session = world.open(Preset::Ask).await;
    let path = format!("/v1/sessions/{session}/stream");
    let mut driver = world.join(session, "editor", &[]).await;
    let mut watcher = world.join_as(&WATCHER, &path, "page", &[]).await;
    let mut unknown = world.connect(&WATCHER, &path).await;
    world.revoke(&WATCHER).await;
    assert_eq!(watcher.until_closed().await, Some(4401));
    assert_eq!(unknown.until_closed().await, Some(4401), "also one that has not said hello");
    driver.prompt("go").await;
    driver.until("assistant.message_final").await;
}

#[tokio::test]
async fn an_engine_that_stops_first_ends_the_streams_as_well() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    world.engine.stop().await;
    let (last, code) = to_the_end(&mut client).await;
    assert_eq!((&last["type"], code), (&json!("session.state"), Some(1001)));
}

#[tokio::test]
async fn a_session_that_has_ended_is_told_to_its_end_and_closed() {
    let world = world(&[], &says(&["Bye."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    client.until_done().await;
    let inside = loggia_domain::Client {
        id: loggia_domain::ClientId::new(),
        name: "inside".to_owned(),
        door: loggia_domain::Door::Inside,
        role: loggia_domain::Role::Drive,
        abilities: loggia_domain::Abilities::default(),
    };
    let (seat, _) = world.engine.join(session, inside, loggia_engine::OnLeave::Keep).await.unwrap();
    seat.intend(Intent::Close).await.unwrap();
    assert_eq!(client.until_closed().await, Some(1000));
    let mut late = world.join(session, "late", &[]).await;
    assert_eq!(late.until_closed().await, Some(1000));
    let mut reader = world.join_after(session, "reader", 0).await;
    assert_eq!(reader.until_done().await["message"], "Bye.");
    assert_eq!(reader.until_closed().await, Some(1000));
}

#[tokio::test]
async fn a_turn_the_server_was_stopped_in_says_so_and_how_it_goes_on() {
    let world = world(&[], "[[reply]]\nparts = [{ text = \"hm\" }, { hang = true }]\n").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("go").await;
    client.until("assistant.token").await;
    drop(client);
    let world = world.restart(&says(&["Done."])).await;
    let one = format!("/v1/sessions/{session}");
    // Before anybody has woken it up, and after.
    let told = |session: &Value| (session["status"] == "idle", session.get("can_continue").cloned());
    assert_eq!(told(&world.get("/v1/sessions").await["sessions"][0]), (true, Some(json!(true))));
    assert_eq!(told(&world.get(&one).await), (true, Some(json!(true))));
    let mut client = world.join_after(session, "editor", 0).await;
    let error = client.until_error().await;
    assert_eq!(told(&world.get(&one).await), (true, Some(json!(true))));
    assert_eq!((&error["code"], &error["recoverable"]), (&json!("INTERNAL"), &json!(true)));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("the server was stopped") && message.contains("/continue"), "{message}");
    world.post(&format!("/v1/sessions/{session}/continue"), &json!({})).await;
    assert_eq!(client.until("session.notice").await["kind"], "continued");
    assert_eq!(client.until_done().await["message"], "Done.");
    assert_eq!(told(&world.get(&one).await), (true, None));
}
