//! How much a model is to think: a setting of the session, which every request carries.

use loggia_domain::{Intent, Preset, Role, Thinking, TurnEnd};
use loggia_tests::World;
use loggia_tests::scripts::says;

use crate::world;

fn asked(world: &World) -> Option<Thinking> {
    world.model.requests().last().unwrap().thinking
}

#[tokio::test]
async fn how_much_to_think_is_told_with_every_request_and_kept_with_the_session() {
    let script = format!("thinks = true\n{}", says("a") + &says("b") + &says("c"));
    let world = world().start(&script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("first").await, TurnEnd::Done);
    assert_eq!(asked(&world), None);
    for thinking in [Some(Thinking::Tokens(4096)), Some(Thinking::Tokens(4096))] {
        alice.seat.intend(Intent::SetThinking { thinking }).await.unwrap();
    }
    assert_eq!(alice.play("second").await, TurnEnd::Done);
    assert_eq!(asked(&world), Some(Thinking::Tokens(4096)));
    assert_eq!(
        alice.text().matches("thinking Some(Tokens(4096)) by alice").count(),
        1,
        "no news is not told"
    );
    drop(alice);
    let world = world.restart(&says("d")).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.state().await.thinking, Some(Thinking::Tokens(4096)));
    let at = bob.state().await.last_seq;
    let fork = world.engine.fork_session(session, at, loggia_domain::Actor::Engine).await.unwrap();
    assert_eq!(world.engine.state(fork).await.unwrap().thinking, Some(Thinking::Tokens(4096)));
    bob.seat.intend(Intent::SetThinking { thinking: None }).await.unwrap();
    assert_eq!(bob.play("third").await, TurnEnd::Done);
    assert_eq!(asked(&world), None);
}
