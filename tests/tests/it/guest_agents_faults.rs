//! Agents of plugins that fail, hang, or are stopped.

use std::time::{Duration, Instant};

use loggia_domain::{ApprovalScope, GuestError, Intent, Preset, Role, Seq, TurnEnd, TurnFailure};
use loggia_tests::{Act, FakeAgent};

use crate::guest_agents::{hosting, play};

fn failure(end: TurnEnd) -> (String, bool) {
    match end {
        TurnEnd::Failed(TurnFailure::Model { message, retry_helps, .. }) => (message, retry_helps),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_run_that_fails_changes_nothing_keeps_what_was_said_and_is_continued() {
    let died = GuestError::Gone("plugin `helper`, `agent.run`: it ended with status 1".to_owned());
    let agent = FakeAgent::new(
        "helper",
        vec![
            vec![Act::text("I had just"), Act::file("a.txt", Some("two\n")), Act::Fail(died)],
            vec![Act::text("Now it works.")],
        ],
    );
    let world = hosting(&agent).file("a.txt", "one\n").start("").await;
    let (_, mut alice) = play(&world, Preset::Full).await;
    let (message, retry_helps) = failure(alice.play("go").await);
    assert_eq!(
        message,
        "the agent `helper` did not finish: plugin `helper`, `agent.run`: it ended with status 1"
    );
    assert!(retry_helps);
    assert_eq!(world.read("a.txt"), "one\n");
    assert!(alice.text().contains("message (cut): I had just"), "{}", alice.text());
    assert_eq!(agent.requests().len(), 1, "it is not asked again by itself");
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let text = &agent.requests()[1].text;
    assert!(text.contains("You: I had just") && text.contains("The previous turn goes on."), "{text}");
}

#[tokio::test]
async fn every_kind_of_failure_ends_the_turn_and_says_whether_trying_again_helps() {
    let words = |kind: &str| format!("plugin `helper`: {kind}");
    let cases = [
        (GuestError::Unsupported(words("cannot")), false),
        (GuestError::NotFound(words("none")), false),
        (GuestError::Refused(words("no")), false),
        (GuestError::NoAccess(words("no key")), false),
        (GuestError::Untrusted(words("not trusted")), false),
        (GuestError::TimedOut(words("silent")), true),
        (GuestError::Gone(words("died")), true),
        (GuestError::Failed(words("failed")), true),
    ];
    for (error, helps) in cases {
        let told = format!("the agent `helper` did not finish: {error}");
        // Before it works, and while it does.
        let unready = FakeAgent::that_is("helper", Err(error.clone()), Vec::new());
        let failing = FakeAgent::new("helper", vec![vec![Act::Fail(error)]]);
        for agent in [unready, failing] {
            let world = hosting(&agent).start("").await;
            let (_, mut alice) = play(&world, Preset::Ask).await;
            assert_eq!(failure(alice.play("go").await), (told.clone(), helps));
        }
    }
}

#[tokio::test]
async fn cancelling_lets_go_of_a_silent_agent_at_once() {
    let agent = FakeAgent::new("helper", vec![vec![Act::text("I think"), Act::Hang]]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_reply().await;
    let began = Instant::now();
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert!(began.elapsed() < Duration::from_millis(200), "{:?}", began.elapsed());
    agent.until_cut().await;
    assert!(alice.text().contains("message (cut): I think"), "{}", alice.text());
}

#[tokio::test]
async fn cancelling_while_people_are_asked_lets_go_of_the_agent() {
    let call = Act::Call("c1", "write_file", r#"{"path":"a.txt","content":"x\n"}"#);
    let agent = FakeAgent::new("helper", vec![vec![Act::file("b.txt", Some("b")), call]]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_asked().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    agent.until_cut().await;
    assert!(agent.given().is_empty());
    assert!(!world.root().join("a.txt").exists() && !world.root().join("b.txt").exists());
}

#[tokio::test]
async fn a_cancelled_question_about_changes_is_no_end_of_the_work() {
    let run = || vec![Act::text("Done."), Act::file("a.txt", Some("two\n"))];
    let agent = FakeAgent::new("helper", vec![run(), run()]);
    let world = hosting(&agent).start("").await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_asked().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    alice.seat.intend(Intent::Continue).await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(agent.requests().len(), 2);
    assert_eq!(world.read("a.txt"), "two\n");
}

#[tokio::test]
async fn an_agent_that_never_stops_or_wants_too_much_is_stopped() {
    let endless = vec![Act::text(&"x".repeat(1 << 20)); 4];
    let greedy = vec![Act::file("a.txt", Some(&"x".repeat(5 << 20)))];
    for (run, expected) in [
        (endless, "the agent `helper` did not finish: the reply is longer than 2097152 bytes"),
        (greedy, "the agent `helper` did not finish: it wants more than 4194304 bytes written in one run"),
    ] {
        let agent = FakeAgent::new("helper", vec![run]);
        let world = hosting(&agent).start("").await;
        let (_, mut alice) = play(&world, Preset::Full).await;
        assert_eq!(failure(alice.play("go").await), (expected.to_owned(), false));
        agent.until_cut().await;
    }
}

#[tokio::test]
async fn an_agent_that_is_not_there_any_more_is_told_with_its_name() {
    let agent = FakeAgent::new("helper", Vec::new());
    let world = hosting(&agent).start("").await;
    let (session, alice) = play(&world, Preset::Ask).await;
    drop(alice);
    // An export of the session, taken in where nobody has the plugin.
    let lines = world.engine.export_session(session, Seq(0)).await.unwrap();
    let lines = lines.into_iter().map(|(_, line)| line).collect();
    let elsewhere = crate::world().start("").await;
    let session = elsewhere.engine.import_session(elsewhere.workspace.id, lines).await.unwrap().id;
    let mut bob = elsewhere.join(session, "bob", Role::Drive, Default::default()).await;
    let (message, retry_helps) = failure(bob.play("go").await);
    assert_eq!(
        message,
        "there is no agent `helper` in this workspace; no plugin that is one is enabled and trusted"
    );
    assert!(!retry_helps);
}
