//! Several clients on one session.

use loggia_domain::{Abilities, ApprovalScope, Role};
use loggia_rpc::{Launch, StartWith};
use serde_json::json;

use crate::permissions::WRITE;
use crate::support::{Client, world};

/// Two clients of this door and one of another on the same session; the one given answers.
async fn answered_by(who: usize) {
    let world = world(WRITE).await;
    let id = world.open(loggia_domain::Preset::Ask).await;
    let launch = || Launch { session: StartWith::Resume(id), ..Launch::new(world.root()) };
    let mut one = Client::launch(&world, launch()).await;
    let mut two = Client::launch(&world, launch()).await;
    let mut player = world.join(id, "alice", Role::Drive, Abilities::default()).await;
    one.text();
    two.text();
    assert_eq!(one.call("prompt", json!({"message": "Write"})).await, json!({"success": true}));
    let question = one.until("permissionRequest").await["requestId"].clone();
    assert_eq!(two.until("permissionRequest").await["requestId"], question);
    let approval = player.until_asked().await;
    assert_eq!(question, approval.to_string());
    let yes = json!({"requestId": question, "allowed": true});
    match who {
        0 => assert_eq!(one.call("permissionResponse", yes.clone()).await, json!({"success": true})),
        1 => assert_eq!(two.call("permissionResponse", yes.clone()).await, json!({"success": true})),
        _ => drop(player.decide(approval, ApprovalScope::All).await.unwrap()),
    }
    for client in [&mut one, &mut two] {
        client.until("ping").await;
        assert_eq!(client.call("permissionResponse", yes.clone()).await, json!({"success": false}));
        assert_eq!(client.call("getState", json!({})).await["status"], "idle");
    }
    assert_eq!(world.read("new.txt"), "hello\n");
    // The same turn, in the same words.
    let notifications = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with(['>', '='])).map(str::to_owned).collect()
    };
    assert_eq!(notifications(one.text()), notifications(two.text()));
}

#[tokio::test]
async fn the_one_who_asked_answers() {
    answered_by(0).await;
}

#[tokio::test]
async fn another_client_of_this_door_answers() {
    answered_by(1).await;
}

#[tokio::test]
async fn a_client_of_another_door_answers() {
    answered_by(2).await;
}

#[tokio::test]
async fn a_prompt_while_another_clients_turn_runs_is_refused() {
    let world = world("[[reply]]\nparts = [{ hang = true }]").await;
    let id = world.open(loggia_domain::Preset::Ask).await;
    let launch = Launch { session: StartWith::Resume(id), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    let player = world.join(id, "alice", Role::Drive, Abilities::default()).await;
    player.prompt("Mine").await.unwrap();
    assert_eq!(client.call("prompt", json!({"message": "No, mine"})).await["code"], -32003);
    client.until("turnStart").await;
    assert_eq!(client.call("abort", json!({})).await, json!({"success": true}));
    assert_eq!(client.until("turnEnd").await["reason"], "aborted");
}

/// One client's mode never answers questions of another's turn.
#[tokio::test]
async fn a_mode_answers_only_for_turns_of_its_own_client() {
    let world = world(WRITE).await;
    let id = world.open(loggia_domain::Preset::Ask).await;
    let launch = || Launch { session: StartWith::Resume(id), ..Launch::new(world.root()) };
    let mut free = Client::launch(&world, launch()).await;
    free.call("permissionModeSet", json!({"mode": "unrestricted"})).await;
    let mut careful = Client::launch(&world, launch()).await;
    careful.call("prompt", json!({"message": "Write"})).await;
    careful.until("permissionRequest").await;
    let question = free.until("permissionRequest").await["requestId"].clone();
    free.call("permissionResponse", json!({"requestId": question, "allowed": false})).await;
    careful.until("ping").await;
    assert!(!world.root().join("new.txt").exists());
}
