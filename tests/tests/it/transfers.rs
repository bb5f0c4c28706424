//! Sessions that are split and taken elsewhere: what goes along, and what does not.

use loggia_domain::{Actor, Intent, Preset, Role};

use crate::world;

const TALK: &str = r#"
    [[reply]]
    repeat = 100
    parts = [{ text = "well" }]
"#;

#[tokio::test]
async fn a_fork_of_a_closed_session_is_open() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("hello").await;
    let said = alice.state().await.last_seq;
    let at = alice.seat.intend(Intent::Close).await.unwrap().seq;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    assert!(!world.engine.session(fork).await.unwrap().closed, "the listing says so, too");
    let mut bob = world.join(fork, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.state().await.opened.forked_from, Some((session, said)));
    bob.play("and on").await;
    assert_eq!(bob.state().await.history.items().len(), 4);
    assert!(world.engine.session(session).await.unwrap().closed, "the one it came from stays closed");
}
