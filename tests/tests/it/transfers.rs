//! Sessions that are split and taken elsewhere: what goes along, and what does not.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalScope, EventBody, Intent, Preset, Remember, Role, Seq, SessionId,
};
use loggia_tests::World;

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

const WRITE: &str = r#"
    [[reply]]
    repeat = 2
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

async fn export(world: &World, session: SessionId) -> Vec<String> {
    let lines = world.engine.export_session(session, Seq(0)).await.unwrap();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[tokio::test]
async fn an_import_has_the_preset_of_its_workspace() {
    let world = world().start(&[TALK, WRITE].concat().replace("repeat = 100", "")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("hello").await;
    // However it is written.
    let escaped = |line: String| line.replace("session_opened", "\\u0073ession_opened");
    for lines in
        [export(&world, session).await, export(&world, session).await.into_iter().map(escaped).collect()]
    {
        let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
        assert_eq!(imported.preset, None);
        assert_eq!(world.engine.state(imported.id).await.unwrap().opened.preset, None);
        let bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
        assert_eq!(bob.state().await.history, alice.state().await.history);
    }
    let lines = export(&world, session).await;
    let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
    let mut bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
    bob.prompt("write").await.unwrap();
    bob.until_asked().await;
}

#[tokio::test]
async fn an_import_remembers_no_answers() {
    let world = world().start(WRITE).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::All,
        remember: Remember::Session,
        comment: Some("go".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer: answer.clone() }).await.unwrap();
    alice.until_done().await;
    assert!(!alice.state().await.rules.is_empty());
    let lines = export(&world, session).await;
    let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
    let mut bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
    assert!(bob.state().await.rules.is_empty());
    let decided = |event: &loggia_domain::Event| match &event.body {
        EventBody::ApprovalDecided { answer, .. } => Some(answer.clone()),
        _ => None,
    };
    let held = bob.until_event(decided).await;
    assert_eq!(held, ApprovalAnswer { remember: Remember::Once, ..answer }, "what was said is as it was");
}

#[tokio::test]
async fn a_field_that_nobody_knows_brings_no_preset_along() {
    let world = world().start(TALK).await;
    let (session, _) = world.play(Preset::Full).await;
    let lines = export(&world, session).await;
    // Deeper than is read, in a field that nobody knows.
    let deep = format!("{{\"x\":{}{},\"format\"", "[".repeat(200), "]".repeat(200));
    let hidden = vec![lines[0].replacen("{\"format\"", &deep, 1)];
    let imported = world.engine.import_session(world.workspace.id, hidden).await.unwrap();
    assert_eq!(world.engine.state(imported.id).await.unwrap().opened.preset, None);
}
