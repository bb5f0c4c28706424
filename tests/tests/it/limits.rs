//! What is too much: requests at once, instructions that wait, long texts, long times.

use futures_util::FutureExt;
use loggia_domain::{
    Abilities, ApprovalAnswer, ApprovalScope, CommandExit, CommandReport, EventBody, Instruction, Intent,
    JsonText, ModelName, OwnInstructions, PatchReport, Preset, Remember, Role, TurnEnd, WhenBusy,
};
use loggia_engine::{IntentError, Status};
use loggia_tests::{Write, prompt, queued};

use crate::commands::runs;
use crate::world;

/// More than any queue here holds.
const FLOOD: usize = 10_000;

const HANGS: &str = r#"
    [[reply]]
    parts = [{ text = "thinking" }, { hang = true }]
"#;

fn rename(title: &str) -> Intent {
    Intent::Rename { title: title.to_owned() }
}

#[tokio::test]
async fn a_flood_of_requests_is_told_so_and_what_was_taken_is_done_in_order() {
    let world = world().start("").await;
    let (session, alice) = world.play(Preset::Ask).await;
    world.disk.hold(Write::Events);
    let titles: Vec<String> = (0..FLOOD).map(|number| format!("title {number}")).collect();
    let mut taken = vec![Box::pin(alice.seat.intend(rename(&titles[0])))];
    assert!((&mut taken[0]).now_or_never().is_none());
    // The session is busy with the first one; the others wait.
    world.disk.holds_one().await;
    let refused = loop {
        let mut next = Box::pin(alice.seat.intend(rename(&titles[taken.len()])));
        match (&mut next).now_or_never() {
            None => taken.push(next),
            Some(answer) => break answer,
        }
    };
    assert!(matches!(refused, Err(IntentError::Overloaded)), "{refused:?}");
    let count = taken.len();
    assert!(count > 1, "some must wait");
    world.disk.heal();
    for answer in futures_util::future::join_all(taken).await {
        answer.unwrap();
    }
    let journal = world.journal(session).await;
    let renamed: Vec<&String> = journal
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::SessionRenamed { title, .. } => Some(title),
            _ => None,
        })
        .collect();
    assert_eq!(renamed, titles[..count].iter().collect::<Vec<_>>());
    // And there is room again.
    alice.seat.intend(rename("last")).await.unwrap();
}

#[tokio::test]
async fn only_so_many_instructions_wait() {
    let world = world().start(HANGS).await;
    let (_, alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    let mut waiting = 0;
    let refused = loop {
        assert!(waiting < FLOOD, "nobody says stop");
        match alice.seat.intend(queued("later")).await {
            Ok(_) => waiting += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, IntentError::Overloaded), "{refused}");
    assert_eq!(alice.state().await.queue.len(), waiting);
}

#[tokio::test]
async fn what_is_longer_than_anybody_needs_is_refused_and_leaves_no_trace() {
    let world = world().start(&[HANGS, HANGS].concat()).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let with_context = |text: String, context: Option<String>| {
        let context = context.map(JsonText);
        let instruction = Instruction { text, context, ..Instruction::default() };
        Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
    };
    let comment = |length| Intent::Decide {
        approval: loggia_domain::ApprovalId::new(),
        answer: ApprovalAnswer {
            scope: ApprovalScope::None,
            remember: Remember::Once,
            comment: Some("x".repeat(length)),
        },
    };
    let before = alice.state().await.last_seq;
    let most = 4 << 20;
    let json = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    for (intent, about) in [
        (prompt(&"x".repeat(most + 1)), "the prompt"),
        (with_context("short".to_owned(), Some(json(most + 1))), "the context"),
        (Intent::UpdateContext { context: JsonText(json(most + 1)) }, "the context"),
        (comment((64 << 10) + 1), "the comment"),
        (rename(&"x".repeat(1025)), "the title"),
    ] {
        let refused = alice.seat.intend(intent).await;
        assert!(matches!(refused, Err(IntentError::TooLong { what, .. }) if what == about), "{about}");
    }
    assert_eq!(alice.state().await.last_seq, before);
    // As long as may be is taken.
    alice.seat.intend(rename(&"x".repeat(1024))).await.unwrap();
    let unknown = alice.seat.intend(comment(64 << 10)).await;
    assert!(matches!(unknown, Err(IntentError::UnknownApproval(_))), "{unknown:?}");
    alice.seat.intend(prompt(&"x".repeat(most))).await.unwrap();
    alice.until_event(|event| matches!(event.body, EventBody::TurnStarted { .. }).then_some(())).await;
}

#[tokio::test]
async fn time_limits_beyond_all_time_are_for_ever() {
    let world = world().start(&runs("make")).await;
    world.change_policy(|policy| {
        policy.limits.command_timeout_s = u64::MAX;
        policy.limits.approval_timeout_s = Some(u64::MAX);
    });
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { runs_commands: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    assert_eq!(alice.state().await.status(), Status::Waiting);
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    let call = alice.until_started().await;
    let report = CommandReport {
        exit: CommandExit::Code(0),
        stdout: "made\n".to_owned(),
        stderr: String::new(),
        milliseconds: 1,
    };
    alice.seat.intend(Intent::ReportCommand { call, report }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(alice.text().contains("made"), "{}", alice.text());
}

#[tokio::test]
async fn long_reasons_and_names_are_refused_before_they_are_kept() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a", content = "x" } } }]

        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    let world = world().start(script).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("write").await.unwrap();
    alice.until_started().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    let long = "x".repeat(8 << 20);
    for intent in [
        Intent::ReportPatch { patch, report: PatchReport::Failed { message: long.clone() } },
        Intent::SetModel { model: ModelName(long.clone()) },
        Intent::SetInstructions {
            instructions: OwnInstructions { instead: None, added: Some(long.clone()) },
        },
        Intent::Cancel { reason: Some(long) },
    ] {
        let refused = alice.seat.intend(intent).await;
        assert!(matches!(refused, Err(IntentError::TooLong { .. })), "{refused:?}");
    }
    let report = PatchReport::Failed { message: "no room".to_owned() };
    alice.seat.intend(Intent::ReportPatch { patch, report }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
}
