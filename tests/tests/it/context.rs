//! What the model is told.

use loggia_domain::{Instruction, Intent, JsonText, ModelMessage, Preset, TurnEnd, WhenBusy};
use loggia_engine::Told;

use crate::world_with;

#[tokio::test]
async fn the_workspaces_instructions_and_the_clients_context_are_told() {
    let script = r#"
        [[reply]]
        repeat = 2
        parts = [{ text = "ok" }]
    "#;
    let files = [
        ("AGENTS.md", "Use tabs."),
        (".loggia/instructions.md", "Obey me."),
        ("a.txt", "not an instruction"),
    ];
    let world = world_with(&files, script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let context = JsonText(r#"{"open":"a.txt"}"#.to_owned());
    let instruction =
        Instruction { text: "Fix it".to_owned(), context: Some(context), ..Instruction::default() };
    alice.seat.intend(Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }).await.unwrap();
    alice.until_done().await;
    world.engine.set_trusted(world.root(), true).unwrap();
    alice.play("again").await;
    let requests = world.model.requests();
    let system = |index: usize| match &requests[index].messages[0] {
        ModelMessage::System(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert!(system(0).contains("Use tabs.") && !system(0).contains("Obey me."), "{}", system(0));
    assert!(system(1).contains("Obey me."), "only once it is trusted");
    let ModelMessage::User(asked) = &requests[0].messages[1] else { panic!() };
    assert!(asked.starts_with("Fix it") && asked.contains(r#"{"open":"a.txt"}"#), "{asked}");
    assert!(requests[0].tools.iter().any(|tool| tool.name == "apply_patch"));
}

const OK: &str = r#"
    context_tokens = 4000

    [[reply]]
    parts = [{ text = "ok" }]
"#;

/// What a model is told first.
fn system(world: &loggia_tests::World) -> String {
    match &world.model.requests()[0].messages[0] {
        ModelMessage::System(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn long_instructions_of_a_workspace_leave_most_of_a_small_window() {
    let rules = format!("first {}", "rule ".repeat(12_000));
    let world = world_with(&[("AGENTS.md", &rules)], OK).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("hello").await, TurnEnd::Done);
    let told = system(&world);
    assert!(told.contains("first rule rule"), "{told}");
    // A quarter of the window, at four bytes a token, and what is said besides.
    assert!(told.len() < 4000 + 2000, "{} bytes", told.len());
}

#[tokio::test]
async fn a_link_does_not_make_instructions_of_what_may_not_be_read() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "hunter2\n").unwrap();
    for target in [std::path::Path::new(".env"), &secret] {
        let world = world_with(&[(".env", "PASSWORD=hunter2\n")], OK).await;
        std::os::unix::fs::symlink(target, world.root().join("AGENTS.md")).unwrap();
        let (_, mut alice) = world.play(Preset::Full).await;
        assert_eq!(alice.play("hello").await, TurnEnd::Done);
        assert!(!system(&world).contains("hunter2"), "through a link to {}", target.display());
    }
    // A link to what may be read is as good as the file.
    let world = world_with(&[("docs/agents.md", "Use tabs.\n")], OK).await;
    std::os::unix::fs::symlink("docs/agents.md", world.root().join("AGENTS.md")).unwrap();
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("hello").await;
    assert!(system(&world).contains("Use tabs."));
}

#[tokio::test]
async fn news_from_the_client_reach_the_next_step() {
    let script = r#"
        [[reply]]
        parts = [{ text = "Wait" }, { wait_ms = 50 }, { call = { tool = "find_files", arguments = { glob = "*" } } }]

        [[reply]]
        parts = [{ text = "I see." }]
    "#;
    let world = world_with(&[("a", "1")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("look").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    let context = JsonText(r#"{"diagnostics":["broken"]}"#.to_owned());
    alice.seat.intend(Intent::UpdateContext { context }).await.unwrap();
    alice.until_done().await;
    let requests = world.model.requests();
    let told =
        |message: &ModelMessage| matches!(message, ModelMessage::User(text) if text.contains("broken"));
    assert!(requests[1].messages.iter().any(told), "{requests:?}");
}

#[tokio::test]
async fn old_history_is_compacted_when_the_window_is_nearly_full() {
    let long = "word ".repeat(900);
    let script = format!(
        r#"
        context_tokens = 5000

        [[reply]]
        repeat = 3
        parts = [{{ text = "{long}" }}]

        [[reply]]
        expect = "first instruction"
        parts = [{{ text = "They talked." }}]

        [[reply]]
        parts = [{{ text = "Short." }}]
        "#
    );
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("first instruction").await;
    alice.play("second instruction").await;
    alice.play("third instruction").await;
    assert_eq!(alice.play("fourth instruction").await, TurnEnd::Done);
    assert!(alice.text().contains("history compacted: They talked."), "{}", alice.text());
    let requests = world.model.requests();
    let last = &requests.last().unwrap().messages;
    assert!(matches!(&last[1], ModelMessage::User(text) if text.contains("They talked.")), "{last:?}");
    assert!(
        matches!(last.last(), Some(ModelMessage::User(text)) if text == "fourth instruction"),
        "{last:?}"
    );
}

#[tokio::test]
async fn a_passing_error_while_history_is_compacted_is_tried_again() {
    let script = r#"
        context_tokens = 5000

        [[reply]]
        repeat = 3
        parts = [{ tokens = { count = 900, text = "word " } }]

        [[reply]]
        parts = [{ error = { kind = "transient", message = "overloaded", retry_after_ms = 1 } }]

        [[reply]]
        parts = [{ text = "They talked." }]

        [[reply]]
        parts = [{ text = "fine" }]
    "#;
    let world = world_with(&[], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    for _ in 0..3 {
        assert_eq!(alice.play("talk").await, TurnEnd::Done);
    }
    assert_eq!(alice.play("more").await, TurnEnd::Done);
    assert!(alice.text().contains("history compacted: They talked."), "{}", alice.text());
}
