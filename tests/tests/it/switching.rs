//! Models that reply in place of others: everybody is told once, and the session's model stays what it is.

use std::sync::Arc;

use loggia_domain::{Event, EventBody, Intent, ModelName, Preset, Role, TurnEnd};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};

use crate::{world, world_with};

const SWITCHES: &str = r#"
    [[reply]]
    parts = [
        { switched = { from = "big:one", to = "small:one", reason = "it is overloaded, says token-of-mine" } },
        { text = "Let me look." },
        { call = { tool = "find_files", arguments = { glob = "*" } } },
    ]
    usage = { input = 10, output = 1, micro_dollars = 5 }

    [[reply]]
    parts = [
        { switched = { from = "big:one", to = "small:one", reason = "still" } },
        { text = "Looked." },
    ]
    usage = { input = 10, output = 1, micro_dollars = 7 }

    [[reply]]
    parts = [
        { switched = { from = "big:one", to = "small:one", reason = "again" } },
        { text = "Hello." },
    ]
"#;

fn switches(journal: &[Event]) -> Vec<String> {
    let told = journal.iter().filter_map(|event| match &event.body {
        EventBody::ModelSwitched { from, to, reason } => {
            assert!(event.turn.is_some());
            Some(format!("{} {} {reason}", from.0, to.0))
        }
        _ => None,
    });
    told.collect()
}

#[tokio::test]
async fn a_switch_is_an_event_that_comes_before_the_reply() {
    let world = world_with(&[("a", "1")], SWITCHES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::Done);
    let text = alice.text();
    let told = text.find("small:one replies instead of big:one: it is overloaded").unwrap();
    assert!(told < text.find("Let me look.").unwrap(), "{text}");
    // Once, however often the model is asked.
    assert_eq!(switches(&world.journal(session).await).len(), 1);
    alice.play("again").await;
    assert_eq!(switches(&world.journal(session).await).len(), 1);
    assert_eq!(alice.seat.state().await.unwrap().model, None::<ModelName>);
}

const RETURNS: &str = r#"
    [[reply]]
    repeat = 4
    parts = [{ switched = { from = "big:one", to = "small:one", reason = "down" } }, { text = "Hello." }]

    [[reply]]
    repeat = 3
    parts = [{ text = "Hello." }]

    [[reply]]
    parts = [{ switched = { from = "big:one", to = "small:one", reason = "down again" } }, { text = "Hello." }]
"#;

#[tokio::test]
async fn every_session_is_told_once_who_stands_in_and_once_when_that_is_over() {
    let model = ScriptedModel::named(ModelName("big:one".to_owned()), Script::parse(RETURNS).unwrap());
    let world = world().models(Arc::new(ScriptedCatalogue::single(Arc::new(model)))).start("").await;
    let (first, mut alice) = world.play(Preset::Ask).await;
    let (second, mut bob) = world.play(Preset::Ask).await;
    for _ in 0..2 {
        assert_eq!(alice.play("go").await, TurnEnd::Done);
        assert_eq!(bob.play("go").await, TurnEnd::Done);
    }
    assert_eq!(switches(&world.journal(first).await), ["big:one small:one down"]);
    assert_eq!(switches(&world.journal(second).await), ["big:one small:one down"]);
    alice.play("go").await;
    alice.play("go").await;
    let told = ["big:one small:one down", "small:one big:one it replies again"];
    assert_eq!(switches(&world.journal(first).await), told);
    assert_eq!(switches(&world.journal(second).await), ["big:one small:one down"]);
    bob.play("go").await;
    assert_eq!(switches(&world.journal(second).await), told);
    alice.play("go").await;
    assert_eq!(switches(&world.journal(first).await)[2..], ["big:one small:one down again"]);
}

#[tokio::test]
async fn a_model_that_stands_in_for_yet_another_is_told() {
    let chain = |first: &str| {
        let switched =
            format!("{{ switched = {{ from = \"{first}\", to = \"small:one\", reason = \"down\" }} }}");
        format!("[[reply]]\nrepeat = true\nparts = [{switched}, {{ text = \"Hello.\" }}]")
    };
    let world = world_with(&[], &chain("big:one")).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("go").await;
    drop(alice);
    let world = world.restart(&chain("other:one")).await;
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    for _ in 0..2 {
        assert_eq!(alice.play("go").await, TurnEnd::Done);
    }
    let told = ["big:one small:one down", "other:one small:one down"];
    assert_eq!(switches(&world.journal(session).await), told);
}

#[tokio::test]
async fn the_model_a_session_has_already_is_no_news() {
    let world = world().model("small:one").start("").await;
    let (session, alice) = world.play(Preset::Ask).await;
    let set = async || {
        let model = ModelName("small:one".to_owned());
        alice.seat.intend(Intent::SetModel { model }).await.unwrap();
        world.journal(session).await.len()
    };
    let opened = world.journal(session).await.len();
    assert_eq!(set().await, opened + 1);
    assert_eq!(set().await, opened + 1);
}

#[tokio::test]
async fn why_a_model_was_replaced_is_told_without_secrets() {
    let world = world().file("a", "1").secret("token-of-mine").start(SWITCHES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("go").await;
    let told = switches(&world.journal(session).await);
    assert!(
        told[0].starts_with("big:one small:one it is overloaded") && !told[0].contains("token-of-mine"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_turn_and_its_session_know_their_cost_where_every_price_is_known() {
    let world = world_with(&[("a", "1")], SWITCHES).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("go").await;
    assert_eq!(alice.seat.state().await.unwrap().usage.micro_dollars, Some(12));
    // The third reply has no price: what the session cost is no longer known.
    alice.play("again").await;
    assert_eq!(alice.seat.state().await.unwrap().usage.micro_dollars, None);
    let costs = world.journal(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::TurnEnded { usage, .. } => Some(usage.micro_dollars),
        _ => None,
    });
    assert_eq!(costs.collect::<Vec<_>>(), [Some(12), None]);
}
