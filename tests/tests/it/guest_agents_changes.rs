//! Files that an agent of a plugin wants changed: one set of patches at its end, or none.

use loggia_domain::{ApprovalScope, EventBody, Intent, Preset, TurnEnd};
use loggia_tests::{Act, FakeAgent, Player};

use crate::guest_agents::{hosting, play};

/// How the last call ended, in a word, and what was said of it.
fn last_outcome(player: &Player) -> String {
    let ended = player.heard.iter().rev().find_map(|told| match told {
        loggia_engine::Told::Event(event) => match &event.body {
            EventBody::ToolEnded { outcome, .. } => Some(format!("{outcome:?}")),
            _ => None,
        },
        _ => None,
    });
    ended.unwrap()
}

#[tokio::test]
async fn files_become_one_set_of_patches_at_the_end() {
    let agent = FakeAgent::new(
        "helper",
        vec![vec![
            Act::text("I change "),
            Act::file("src/new.txt", Some("draft\n")),
            Act::file("old.txt", None),
            Act::file("./a.txt", Some("two\n")),
            Act::file("src/new.txt", Some("new\n")),
            Act::file("same.txt", Some("same\n")),
            Act::text("files."),
        ]],
    );
    let files = [("a.txt", "one\n"), ("old.txt", "old\n"), ("same.txt", "same\n")];
    let world = files.into_iter().fold(hosting(&agent), |world, (path, content)| world.file(path, content));
    let world = world.start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
    assert_eq!((world.read("a.txt"), world.read("src/new.txt")), ("two\n".to_owned(), "new\n".to_owned()));
    assert!(!world.root().join("old.txt").exists());
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!((world.read("a.txt"), world.read("old.txt")), ("one\n".to_owned(), "old\n".to_owned()));
    assert!(!world.root().join("src/new.txt").exists());
}

#[tokio::test]
async fn people_may_refuse_the_changes() {
    let run = || vec![Act::text("Done."), Act::file("a.txt", Some("two\n"))];
    let agent = FakeAgent::new("helper", vec![run(), vec![Act::text("I see.")]]);
    let world = hosting(&agent).file("a.txt", "one\n").start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::None).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "one\n");
    // It hears of it when it works again.
    alice.play("why?").await;
    let text = &agent.requests()[1].text;
    assert!(text.contains("Result of `apply_changes` (an error): Not allowed: it was refused"), "{text}");
}

#[tokio::test]
async fn a_policy_that_allows_asks_nobody() {
    let agent = FakeAgent::new("helper", vec![vec![Act::file("a.txt", Some("two\n"))]]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Full).await;
    alice.prompt("go").await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "two\n");
    assert!(!alice.text().contains("ask#"), "{}", alice.text());
}

#[tokio::test]
async fn one_path_that_leads_outside_keeps_all_changes_out() {
    for path in ["../outside.txt", "/tmp/outside.txt", "link/outside.txt", ".git/config", "a\\b"] {
        let run = vec![Act::file("a.txt", Some("two\n")), Act::file(path, Some("x")), Act::text("Done.")];
        let agent = FakeAgent::new("helper", vec![run]);
        let world = hosting(&agent).file("a.txt", "one\n").start("").await;
        let outside = world.root().parent().unwrap().to_owned();
        std::os::unix::fs::symlink(&outside, world.root().join("link")).unwrap();
        let (_, mut alice) = play(&world, Preset::Full).await;
        assert_eq!(alice.play("go").await, TurnEnd::Done, "{path}");
        let outcome = last_outcome(&alice);
        assert!(outcome.starts_with("Denied"), "{path}: {outcome}");
        assert_eq!(world.read("a.txt"), "one\n", "{path}");
        assert!(!outside.join("outside.txt").exists(), "{path}");
    }
}

#[tokio::test]
async fn files_that_are_as_they_should_be_are_no_change() {
    let agent =
        FakeAgent::new("helper", vec![vec![Act::file("a.txt", Some("one\n")), Act::file("gone", None)]]);
    let world = hosting(&agent).file("a.txt", "one\n").start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(last_outcome(&alice).contains("already are like this"), "{}", last_outcome(&alice));
}

#[tokio::test]
async fn changes_are_collected_where_people_want_to_decide_together() {
    let run = vec![
        Act::Call("c1", "write_file", r#"{"path":"a.txt","content":"by a call\n"}"#),
        Act::Call("c2", "read_file", r#"{"path":"a.txt"}"#),
        Act::file("b.txt", Some("by an event\n")),
        Act::text("Done."),
    ];
    let agent = FakeAgent::new("helper", vec![run]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.seat.intend(loggia_tests::preview("go")).await.unwrap();
    let asked = alice.until_asked().await;
    assert!(!world.root().join("a.txt").exists() && !world.root().join("b.txt").exists());
    assert!(agent.given()[1].1.contains("by a call"), "{:?}", agent.given());
    alice.decide(asked, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt") + &world.read("b.txt"), "by a call\nby an event\n");
}

#[tokio::test]
async fn a_question_about_the_changes_outlives_a_restart_and_the_agent_does_not_work_again() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("Done."), Act::file("a.txt", Some("two\n"))]]);
    let world = hosting(&agent).file("a.txt", "one\n").start("").await;
    let (session, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    let asked = alice.until_asked().await;
    drop(alice);
    let world = world.restart("").await;
    let mut bob = world.join(session, "bob", loggia_domain::Role::Drive, Default::default()).await;
    bob.decide(asked, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "two\n");
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test]
async fn a_question_about_a_call_outlives_a_restart_and_another_run_hears_the_answer() {
    let run =
        vec![Act::text("I write."), Act::Call("c1", "write_file", r#"{"path":"a.txt","content":"x\n"}"#)];
    let agent = FakeAgent::new("helper", vec![run, vec![Act::text("It is written.")]]);
    let world = hosting(&agent).start("").await;
    let (session, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    let asked = alice.until_asked().await;
    drop(alice);
    let world = world.restart("").await;
    let mut bob = world.join(session, "bob", loggia_domain::Role::Drive, Default::default()).await;
    bob.decide(asked, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    let text = &agent.requests()[1].text;
    assert!(text.ends_with("Applied to `a.txt`.\n\n# What to do now\n\nGo on from there."), "{text}");
    assert!(bob.text().ends_with("message: It is written.\nturn ended: done"), "{}", bob.text());
}
