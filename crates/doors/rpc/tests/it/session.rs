//! Another session on the same connection.

use insta::assert_snapshot;
use loggia_domain::{Abilities, ModelMessage, OwnInstructions, Preset, Role, SessionId, SessionQuery};
use loggia_rpc::{Approvals, Launch, StartWith};
use serde_json::json;

use crate::support::{Client, world};

#[tokio::test]
async fn a_reset_begins_a_new_session() {
    let world = world("[[reply]]\nparts = [{ text = \"Hello.\" }]").await;
    let mut client = Client::start(&world).await;
    client.turn("Hello?").await;
    client.text();
    client.call("getState", json!({})).await;
    client.call("reset", json!({})).await;
    client.until("hook.sessionStart").await;
    client.call("getState", json!({})).await;
    client.call("getMessages", json!({})).await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_reset_in_the_middle_of_a_turn_ends_it_first() {
    let world = world(
        "[[reply]]\nparts = [{ text = \"So\" }, { hang = true }]\n[[reply]]\nparts = [{ text = \"New.\" }]",
    )
    .await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Go"})).await;
    client.until("messageUpdate").await;
    client.call("reset", json!({})).await;
    client.until("hook.sessionStart").await;
    client.turn("Again").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_saved_session_goes_on() {
    let world = world("[[reply]]\nrepeat = 2\nparts = [{ text = \"Hello.\" }]").await;
    let mut client = Client::start(&world).await;
    client.turn("Hello?").await;
    let first = client.call("getState", json!({})).await["sessionId"].clone();
    client.call("reset", json!({})).await;
    client.until("hook.sessionStart").await;
    client.text();
    client.call("session.attach", json!({"sessionId": first})).await;
    client.until("hook.sessionStart").await;
    client.call("getState", json!({})).await;
    client.call("session.attach", json!({"sessionId": SessionId::from_bytes([7; 16]).to_string()})).await;
    client.call("session.attach", json!({"sessionId": "nobody"})).await;
    client.turn("Once more").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_launch_may_name_a_session_or_want_the_latest() {
    let world = world("").await;
    let id = world.open(loggia_domain::Preset::Ask).await;
    for session in [StartWith::Resume(id), StartWith::Latest] {
        let mut client = Client::launch(&world, Launch { session, ..Launch::new(world.root()) }).await;
        assert!(client.text().contains("hook.sessionStart {\"sessionType\":\"resume\""));
        assert_eq!(client.call("getState", json!({})).await["sessionId"], id.to_string());
    }
}

/// Work goes on with a copy, and what was copied stays as it was.
#[tokio::test]
async fn a_launch_may_want_a_copy_of_a_session() {
    let world = world("[[reply]]\nrepeat = true\nparts = [{ text = \"Hello.\" }]").await;
    let mut first = Client::start(&world).await;
    first.turn("Hello?").await;
    let id: SessionId =
        first.call("getState", json!({})).await["sessionId"].as_str().unwrap().parse().unwrap();
    let last = world.engine.session(id).await.unwrap().last_seq;
    for from in [Some(id), None] {
        let launch = Launch { session: StartWith::Fork(from), ..Launch::new(world.root()) };
        let mut client = Client::launch(&world, launch).await;
        assert!(client.text().contains("hook.sessionStart {\"sessionType\":\"resume\""));
        let state = client.call("getState", json!({})).await;
        assert_ne!(state["sessionId"], id.to_string());
        assert_eq!(state["messageCount"], 2);
        client.turn("And now?").await;
        assert_eq!(client.call("getState", json!({})).await["messageCount"], 4);
        let copy: SessionId = state["sessionId"].as_str().unwrap().parse().unwrap();
        let copied = world.engine.state(copy).await.unwrap().opened.forked_from.unwrap().0;
        assert_eq!(copied, id);
        assert_eq!(world.engine.session(id).await.unwrap().last_seq, last);
        client.close().await;
        client.until_over().await;
        // So that the latest is again the first.
        world.engine.delete_session(copy).await.unwrap();
    }
}

#[tokio::test]
async fn a_copy_that_cannot_be_worked_on_is_not_left_behind() {
    let world = world("").await;
    // Without any session there is nothing to copy, and a new one begins.
    let launch = Launch { session: StartWith::Fork(None), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    assert!(client.text().contains("hook.sessionStart {\"sessionType\":\"startup\""));
    client.close().await;
    client.until_over().await;
    let left_alone = world.open(Preset::Full).await;
    let launch = Launch { session: StartWith::Fork(Some(SessionId::new())), ..Launch::new(world.root()) };
    let mut client = Client::raw(&world, Ok(launch));
    assert!(client.line().await["error"]["code"].is_number());
    client.close().await;
    assert_eq!(client.until_over().await.code, 1);
    let query = SessionQuery { workspace: None, limit: 10, cursor: None };
    let left: Vec<SessionId> =
        world.engine.sessions(query).await.unwrap().items.iter().map(|session| session.id).collect();
    assert_eq!(left, [left_alone]);
}

/// Who comes in the middle hears what is under way, with the question in full.
#[tokio::test]
async fn who_comes_to_a_running_turn_hears_what_is_under_way() {
    let world = world(crate::permissions::WRITE).await;
    let id = world.open(loggia_domain::Preset::Ask).await;
    let mut player = world.join(id, "alice", Role::Drive, Abilities::default()).await;
    player.prompt("Write").await.unwrap();
    player.until_asked().await;
    let mut client = Client::start(&world).await;
    client.call("session.attach", json!({"sessionId": id.to_string()})).await;
    let question = client.until("permissionRequest").await["requestId"].clone();
    client.call("getState", json!({})).await;
    client.call("permissionResponse", json!({"requestId": question, "allowed": true})).await;
    client.until("ping").await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("new.txt"), "hello\n");
}

/// What was asked for when the agent was started holds in every session it goes on with, for this client's turns.
#[tokio::test]
async fn a_restriction_holds_in_a_session_that_allows_more() {
    let world = world(&crate::permissions::WRITE.repeat(2)).await;
    let free = world.open(Preset::Full).await;
    let approvals = Approvals::default().reading_only();
    let launch = Launch { approvals, session: StartWith::Resume(free), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.turn("Write").await;
    assert!(!world.root().join("new.txt").exists());
    let player = world.join(free, "alice", Role::Drive, Abilities::default()).await;
    player.prompt("Write").await.unwrap();
    client.until("ping").await;
    assert_eq!(world.read("new.txt"), "hello\n");
}

/// Editors start an agent for every window; a session in which nothing was said is of no use to anybody.
#[tokio::test]
async fn a_session_in_which_nothing_was_said_goes_with_its_client() {
    let world = world("[[reply]]\nparts = [{ text = \"Hello.\" }]").await;
    let kept = async |id: &serde_json::Value| {
        let id: SessionId = id.as_str().unwrap().parse().unwrap();
        world.engine.session(id).await.is_ok()
    };
    let mut client = Client::start(&world).await;
    let unused = client.call("getState", json!({})).await["sessionId"].clone();
    assert!(kept(&unused).await);
    let used = client.call("reset", json!({})).await["sessionId"].clone();
    assert!(!kept(&unused).await, "left by a reset");
    client.turn("Hello?").await;
    let last = client.call("reset", json!({})).await["sessionId"].clone();
    assert!(kept(&used).await);
    client.close().await;
    client.until_over().await;
    assert!(!kept(&last).await, "left by the end");

    let mut client = Client::start(&world).await;
    let unused = client.call("getState", json!({})).await["sessionId"].clone();
    client.call("session.attach", json!({"sessionId": used})).await;
    assert!(!kept(&unused).await, "left for another");
    client.close().await;
    client.until_over().await;
    assert!(kept(&used).await);
}

#[tokio::test]
async fn a_session_that_somebody_else_is_on_or_has_opened_stays() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    let id = client.call("getState", json!({})).await["sessionId"].as_str().unwrap().parse().unwrap();
    let player = world.join(id, "alice", Role::Watch, Abilities::default()).await;
    client.close().await;
    client.until_over().await;
    assert!(world.engine.session(id).await.is_ok());
    drop(player);
    let launch = Launch { session: StartWith::Resume(id), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.close().await;
    client.until_over().await;
    assert!(world.engine.session(id).await.is_ok());
}

#[tokio::test]
async fn the_latest_session_is_one_in_which_something_was_said() {
    let world = world("[[reply]]\nparts = [{ text = \"Hello.\" }]").await;
    let (used, mut player) = world.play(loggia_domain::Preset::Ask).await;
    player.play("Hello?").await;
    world.open(loggia_domain::Preset::Ask).await;
    let launch = Launch { session: StartWith::Latest, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    assert_eq!(client.call("getState", json!({})).await["sessionId"], used.to_string());
}

/// What a client was started with is told to the model of every session it begins or goes on with.
#[tokio::test]
async fn the_model_is_told_what_the_client_was_started_with() {
    let world = world("[[reply]]\nrepeat = 3\nparts = [{ text = \"Oui.\" }]").await;
    let instructions = OwnInstructions {
        instead: Some("You are a parrot.".to_owned()),
        added: Some("Answer in French.".to_owned()),
    };
    let launch = Launch { instructions, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.turn("One").await;
    let session = client.call("getState", json!({})).await["sessionId"].as_str().unwrap().parse().unwrap();
    client.call("reset", json!({})).await;
    client.turn("Two").await;
    client.close().await;
    client.until_over().await;
    // The session keeps it for whoever goes on with it.
    let launch = Launch { session: StartWith::Resume(session), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.turn("Three").await;
    let requests = world.model.requests();
    assert_eq!(requests.len(), 3);
    for request in requests {
        let ModelMessage::System(told) = &request.messages[0] else { panic!("{request:?}") };
        assert!(told.starts_with("You are a parrot.") && told.ends_with("Answer in French."), "{told}");
    }
}
