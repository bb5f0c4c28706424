//! Whole turns: what the model says and calls, what comes of it.

use loggia_domain::{Intent, Preset, TurnEnd, WhenBusy};
use loggia_engine::{IntentError, Told};
use loggia_tests::prompt;

use crate::{world, world_with};

#[tokio::test]
async fn a_turn_reads_and_answers() {
    let script = r#"
        [[reply]]
        parts = [
            { text = "Let me look." },
            { call = { tool = "read_file", arguments = { path = "greeting.txt" } } },
        ]

        [[reply]]
        expect = "good morning"
        parts = [{ text = "It says " }, { text = "good morning." }]
    "#;
    let world = world_with(&[("greeting.txt", "good morning\n")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("What does the greeting say?").await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn reads_of_one_reply_run_side_by_side() {
    let script = r#"
        [[reply]]
        parts = [
            { call = { tool = "read_file", arguments = { path = "a" } } },
            { call = { tool = "read_file", arguments = { path = "b" } } },
            { call = { tool = "find_files", arguments = { glob = "*" } } },
        ]

        [[reply]]
        parts = [{ text = "Read." }]
    "#;
    let world = world_with(&[("a", "1"), ("b", "2")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("read").await;
    let text = alice.text();
    let last_start = text.rfind("started by the server").unwrap();
    let first_end = text.find("succeeded").unwrap();
    assert!(last_start < first_end, "{text}");
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let script = r#"
        [[reply]]
        parts = [
            { call = { tool = "read_fil", arguments = { path = "a" } } },
            { call = { tool = "read_file", arguments = { pth = "a" } } },
            { call = { tool = "read_file", raw_arguments = "not json" } },
            { call = { tool = "read_file", arguments = { path = "/etc/passwd" } } },
            { call = { tool = "read_file", arguments = { path = "../secret" } } },
            { call = { tool = "read_file", arguments = { path = "missing" } } },
        ]

        [[reply]]
        parts = [{ text = "Sorry." }]
    "#;
    let world = world_with(&[("a", "1")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("read").await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn plans_are_events_with_current_and_total() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "update_plan", arguments = { steps = [
            { description = "look", files_involved = ["a"] },
            { description = "change", files_involved = [] },
        ], current = 1, rationale = "small steps" } } }]

        [[reply]]
        parts = [{ text = "Planned." }]
    "#;
    let world = world_with(&[], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("plan").await;
    let plan = alice.state().await.plan.clone().unwrap();
    assert_eq!((plan.current, plan.steps.len()), (1, 2), "{}", alice.text());
}

#[tokio::test]
async fn a_second_prompt_is_refused_or_queued() {
    let script = r#"
        [[reply]]
        parts = [{ text = "first" }, { wait_ms = 50 }, { text = "!" }]

        [[reply]]
        expect = "two"
        parts = [{ text = "second" }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("one").await.unwrap();
    assert!(matches!(alice.prompt("refused").await, Err(IntentError::Busy)));
    let Intent::Prompt { instruction, .. } = prompt("two") else { unreachable!() };
    alice.seat.intend(Intent::Prompt { instruction, when_busy: WhenBusy::Queue }).await.unwrap();
    alice.until_done().await;
    alice.until_done().await;
    insta::assert_snapshot!(alice.text());
    assert!(alice.state().await.queue.is_empty());
}

#[tokio::test]
async fn one_who_joins_late_gets_the_text_so_far_first() {
    let script = r#"
        [[reply]]
        parts = [{ text = "one " }, { text = "two " }, { hang = true }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("count").await.unwrap();
    let mut heard = String::new();
    alice
        .until(|told| {
            if let Told::Reply(piece) = told {
                heard.push_str(&piece.text);
            }
            (heard == "one two ").then_some(())
        })
        .await;
    let mut bob = world.join(session, "bob", loggia_domain::Role::Watch, Default::default()).await;
    let first = bob
        .until(|told| match told {
            Told::Reply(piece) => Some(piece.clone()),
            _ => None,
        })
        .await;
    assert_eq!((first.text.as_str(), first.offset), ("one two ", 0));
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    bob.until_done().await;
}

#[tokio::test]
async fn everything_after_an_event_is_given_once_and_in_order() {
    let script = r#"
        [[reply]]
        repeat = 40
        parts = [{ text = "x" }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    for _ in 0..40 {
        alice.play("again").await;
    }
    let last = alice.state().await.last_seq;
    let mut whole = alice.seat.subscribe(loggia_domain::Seq(0));
    let mut seqs = Vec::new();
    while whole.position() < last {
        if let Told::Event(event) = whole.next().await.unwrap() {
            seqs.push(event.seq.0);
        }
    }
    assert_eq!(seqs, (1..=last.0).collect::<Vec<_>>());
    let mut half = alice.seat.subscribe(loggia_domain::Seq(last.0 / 2));
    let Told::Event(event) = half.next().await.unwrap() else { panic!("an event") };
    assert_eq!(event.seq.0, last.0 / 2 + 1);
}

#[tokio::test]
async fn replies_and_the_end_of_a_turn_are_stored_together() {
    let script = r#"
        [[reply]]
        parts = [{ text = "x" }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("once").await;
    let state = alice.state().await;
    // Opened, turn started, message ended, turn ended.
    assert_eq!(state.last_seq.0, 4);
    assert!(matches!(
        state.history.items().last().unwrap().said,
        loggia_engine::Said::Assistant { cut: false, .. }
    ));
}

#[tokio::test]
async fn one_who_falls_behind_in_a_reply_loses_nothing_of_it() {
    let script = r#"
        [[reply]]
        parts = [{ text = "one " }, { wait_ms = 20 }, { tokens = { count = 500, text = "more " } }]

        [[reply]]
        repeat = 20
        parts = [{ text = "another" }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut slow = world.join(session, "slow", loggia_domain::Role::Watch, Default::default()).await;
    alice.prompt("talk").await.unwrap();
    let first = slow
        .until(|told| match told {
            Told::Reply(piece) => Some(piece.clone()),
            _ => None,
        })
        .await;
    alice.until_done().await;
    // Many replies later, the buffer has long moved on.
    for _ in 0..20 {
        alice.play("go on").await;
    }
    let mut heard = first.text;
    let whole = slow
        .until(|told| match told {
            Told::Reply(piece) => {
                assert_eq!((piece.message, piece.offset), (first.message, heard.len()));
                heard.push_str(&piece.text);
                None
            }
            Told::Event(event) => match &event.body {
                loggia_domain::EventBody::MessageEnded { message, .. } => Some(message.text.clone()),
                _ => None,
            },
            Told::Passing(_) => None,
        })
        .await;
    assert_eq!(heard, whole);
    assert_eq!(whole.len(), 4 + 500 * 5);
}
