//! Long sessions and slow terminals.

use loggia_domain::{EventBody, NewEvent, Preset, Timestamp};

use crate::support::House;

/// What happened before is not read until somebody wants it, and not told again.
#[tokio::test]
async fn a_long_past_is_not_told() {
    let house = House::open("[[reply]]\nparts = [{ text = \"Yes.\" }]").await;
    let id = house.world.open(Preset::Ask).await;
    let by = loggia_domain::Actor::Engine;
    let renamed = |number| NewEvent {
        at: Timestamp::now(),
        turn: None,
        body: EventBody::SessionRenamed { title: format!("old {number}"), by: by.clone() },
    };
    house.world.store.append(id, (0..5000).map(renamed).collect()).await.unwrap();
    let mut terminal = house.terminal().await;
    assert_eq!(house.world.engine.loaded_sessions(), 0);
    assert!(terminal.run("sessions").await.contains("old 4999"));
    assert_eq!(house.world.engine.loaded_sessions(), 0);
    assert_eq!(terminal.run("ask Here?").await, "Yes.\n[0]");
    assert!(!terminal.until("is done").await.contains("old"));
}

/// Only a place on it keeps a session in memory; hearing of it does not.
#[tokio::test]
async fn a_session_that_nobody_uses_leaves_memory() {
    let builder =
        loggia_tests::WorldBuilder::new("/bin/false").unload_after(std::time::Duration::from_millis(10));
    let house = House::around(builder.start("[[reply]]\nparts = [{ text = \"Yes.\" }]").await).await;
    let mut terminal = house.terminal().await;
    let (id, mut player) = house.world.play(Preset::Ask).await;
    player.play("Here?").await;
    terminal.until("is done").await;
    drop(player);
    let mut look = tokio::time::interval(std::time::Duration::from_millis(5));
    while house.world.engine.loaded_sessions() > 0 {
        look.tick().await;
    }
    // And comes back as often as it is wanted.
    terminal.run(&format!("use {id}")).await;
    assert!(terminal.run("ask Again?").await.ends_with("[8]"));
    terminal.until("failed").await;
}

/// More than fits what waits for one terminal.
#[tokio::test]
async fn a_terminal_that_does_not_read_holds_nobody_up() {
    let text = format!("{}\\n", "x".repeat(4000)).repeat(450);
    let house = House::open(&format!("[[reply]]\nparts = [{{ text = \"{text}\" }}]")).await;
    let stalled = house.terminal().await;
    let _unread = stalled.client.run("ask More").await.unwrap();
    let mut reads = house.terminal().await;
    reads.until("is done").await;
    assert_eq!(reads.run("version").await, "loggia 1.2.3\n[0]");
}
