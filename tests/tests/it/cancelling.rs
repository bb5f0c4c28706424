//! Who cancelled a turn: everybody can see it, then and later.

use loggia_domain::{Abilities, Actor, Client, ClientId, Door, EventBody, Intent, Preset, Role};
use loggia_engine::{OnLeave, Told};
use loggia_tests::{Player, World};

use crate::world;

const HANG: &str = r#"
    [[reply]]
    repeat = 9
    parts = [{ text = "still" }, { hang = true }]
"#;

/// Who ended the next turn that ends.
async fn ender(player: &mut Player) -> Option<Actor> {
    player
        .until_event(|event| match &event.body {
            EventBody::TurnEnded { by, .. } => Some(by.clone()),
            _ => None,
        })
        .await
}

fn name(by: Option<Actor>) -> String {
    match by {
        Some(Actor::Client { name, .. }) => name,
        other => panic!("{other:?} is nobody"),
    }
}

/// A turn of alice's that goes on until somebody ends it, and bob, who looks on and may steer.
async fn running(world: &World) -> (Player, Player) {
    let (session, mut alice) = world.play(Preset::Ask).await;
    let bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("go").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    (alice, bob)
}

#[tokio::test]
async fn everybody_sees_who_cancelled() {
    let world = world().start(HANG).await;
    let (mut alice, bob) = running(&world).await;
    bob.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(name(ender(&mut alice).await), "bob");
    let state = alice.state().await;
    let (cut, _) = state.cut.as_ref().unwrap();
    assert_eq!(name(cut.ended_by.clone()), "bob");
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.state().await.turn.as_ref().unwrap().ended_by, None);
}

#[tokio::test]
async fn who_cancelled_outlives_a_restart() {
    let world = world().start(HANG).await;
    let (alice, bob) = running(&world).await;
    let session = alice.seat.session();
    bob.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    drop((alice, bob));
    let world = world.restart(HANG).await;
    let mut carol = world.join(session, "carol", Role::Watch, Abilities::default()).await;
    assert_eq!(name(ender(&mut carol).await), "bob");
}

#[tokio::test]
async fn closing_the_session_is_cancelling() {
    let world = world().start(HANG).await;
    let (mut alice, bob) = running(&world).await;
    bob.seat.intend(Intent::Close).await.unwrap();
    assert_eq!(name(ender(&mut alice).await), "bob");
}

#[tokio::test]
async fn one_who_leaves_and_wants_it_ended_has_ended_it() {
    let world = world().start(HANG).await;
    let session = world.open(Preset::Ask).await;
    let mut watching = world.join(session, "watching", Role::Watch, Abilities::default()).await;
    let client = Client {
        id: ClientId::new(),
        name: "dora".to_owned(),
        door: Door::Rpc,
        role: Role::Drive,
        abilities: Abilities::default(),
    };
    let (dora, _) = world.engine.join(session, client, OnLeave::Abort).await.unwrap();
    dora.intend(loggia_tests::prompt("go")).await.unwrap();
    drop(dora);
    assert_eq!(name(ender(&mut watching).await), "dora");
}

#[tokio::test]
async fn nobody_ended_a_turn_that_ended_by_itself() {
    let world = world().start("[[reply]]\nparts = [{ text = \"done\" }]\n").await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    assert_eq!(ender(&mut alice).await, None);
}
