//! Turns without a model: a search answers, through the same turn, policy and journal as a model.

use std::sync::Arc;

use loggia_domain::{EventBody, Preset, ToolOutcome, TurnEnd, Usage};
use loggia_models::SearchingCatalogue;
use loggia_tests::{Player, World};

use crate::world;

const LOGIN: &str = "pub fn login(user: &str) -> Result<Session, LoginError> {\n    Err(LoginError)\n}\n";

async fn searching(files: &[(&str, &str)]) -> World {
    let world = files.iter().fold(world(), |world, (path, content)| world.file(path, *content));
    world.models(Arc::new(SearchingCatalogue::alone())).start("").await
}

/// What the turn ended with.
fn last_reply(player: &Player) -> String {
    let mut replies = player.heard.iter().filter_map(|told| match told {
        loggia_engine::Told::Event(event) => match &event.body {
            EventBody::MessageEnded { message, .. } => Some(message.text.clone()),
            _ => None,
        },
        _ => None,
    });
    replies.next_back().unwrap()
}

#[tokio::test]
async fn a_prompt_without_a_model_is_answered_with_citations() {
    let files = [
        ("src/login.rs", LOGIN),
        ("src/main.rs", "mod login;\n\nfn main() {\n    login::login(\"me\");\n}\n"),
        ("README.md", "# Login\n\nNothing else.\n"),
    ];
    let world = searching(&files).await;
    let (session, mut alice) = world.play(Preset::ReadOnly).await;
    assert_eq!(alice.play("Why does LoginError come from login?").await, TurnEnd::Done);
    let reply = last_reply(&alice);
    assert!(reply.starts_with("No model is set"), "{reply}");
    let first = reply.lines().find(|line| line.starts_with("- ")).unwrap();
    assert_eq!(first, "- `src/login.rs:1` `pub fn login(user: &str) -> Result<Session, LoginError> {`");
    for wanted in
        ["`src/main.rs:4`", "`README.md:1`", "OPENAI_API_KEY", "Ollama", "loggia model use", "loggia doctor"]
    {
        assert!(reply.contains(wanted), "{wanted}: {reply}");
    }
    // It searched through the tools, and changed nothing.
    let journal = world.journal(session).await;
    let ran = journal.iter().filter(|event| {
        matches!(&event.body, EventBody::ToolEnded { outcome: ToolOutcome::Succeeded { .. }, files, .. } if files.is_empty())
    });
    assert_eq!(ran.count(), 2);
    let asked = |event: &loggia_domain::Event| matches!(&event.body, EventBody::ApprovalAsked { .. });
    assert!(!journal.iter().any(asked));
    // Nothing was used, and that is known.
    let ended = journal.iter().find_map(|event| match &event.body {
        EventBody::TurnEnded { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(ended, Some(Usage::NONE));
}

#[tokio::test]
async fn each_question_is_searched_for_anew() {
    let world = searching(&[("a.txt", "apple\n"), ("b.txt", "banana\n")]).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("Where is the apple?").await;
    assert!(last_reply(&alice).contains("`a.txt:1`"));
    alice.play("And the banana?").await;
    let reply = last_reply(&alice);
    assert!(reply.contains("`b.txt:1` `banana`") && !reply.contains("a.txt"), "{reply}");
    alice.play("cherry").await;
    assert!(last_reply(&alice).contains("Nothing was found for `cherry`."));
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_answered_without_a_search() {
    let world = searching(&[]).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("why is it so?").await, TurnEnd::Done);
    assert!(last_reply(&alice).contains("no word to search for"));
    let journal = world.journal(session).await;
    assert!(!journal.iter().any(|event| matches!(event.body, EventBody::ToolRequested { .. })));
}

#[tokio::test]
async fn what_the_policy_hides_is_not_cited() {
    let world =
        searching(&[(".env", "PASSWORD_OF_ALL=1\n"), ("a.rs", "// PASSWORD_OF_ALL is secret\n")]).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("Where is PASSWORD_OF_ALL?").await;
    let reply = last_reply(&alice);
    assert!(reply.contains("`a.rs:1`") && !reply.contains(".env"), "{reply}");
}
