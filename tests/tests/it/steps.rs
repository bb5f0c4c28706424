//! Turns that somebody takes step by step.

use loggia_domain::{EventBody, Instruction, Intent, Preset, TurnEnd, WhenBusy};
use loggia_engine::{IntentError, Status};
use loggia_tests::Player;

use crate::{world, world_with};

const TWO_STEPS: &str = r#"
    [[reply]]
    repeat = 2
    parts = [{ call = { tool = "read_file", arguments = { path = "a.txt" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

fn step_by_step(preview: bool) -> Intent {
    let text = "Go on.".to_owned();
    let instruction = Instruction { text, preview, step_by_step: true, ..Instruction::default() };
    Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
}

async fn until_called(alice: &mut Player) {
    alice.until_event(|event| matches!(event.body, EventBody::ToolEnded { .. }).then_some(())).await;
}

async fn decide(alice: &Player, step: u32, stop: bool) -> Result<(), IntentError> {
    alice.seat.intend(Intent::DecideStep { step, stop }).await.map(drop)
}

#[tokio::test]
async fn a_turn_waits_after_each_step_and_goes_on_when_told() {
    let world = world_with(&[("a.txt", "x")], TWO_STEPS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(step_by_step(false)).await.unwrap();
    for step in 1..=2 {
        until_called(&mut alice).await;
        assert_eq!(alice.state().await.step_done(), Some(step));
        assert_eq!(world.model.requests().len(), step as usize, "the model is not asked before");
        decide(&alice, step, false).await.unwrap();
        let again = decide(&alice, step, true).await;
        assert!(matches!(again, Err(IntentError::UnknownStep(_))), "the first word counts: {again:?}");
    }
    assert_eq!(alice.until_done().await, TurnEnd::Done);
}

#[tokio::test]
async fn a_turn_is_ended_after_a_step() {
    let world = world_with(&[("a.txt", "x")], TWO_STEPS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(step_by_step(false)).await.unwrap();
    until_called(&mut alice).await;
    for other in [0, 2] {
        let refused = decide(&alice, other, true).await;
        assert!(matches!(refused, Err(IntentError::UnknownStep(_))), "{refused:?}");
    }
    decide(&alice, 1, true).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::StepLimit);
    let late = decide(&alice, 1, false).await;
    assert!(matches!(late, Err(IntentError::UnknownStep(_))), "{late:?}");
    alice.play("Without steps.").await;
}

#[tokio::test]
async fn a_wait_between_steps_can_be_cancelled() {
    let world = world_with(&[("a.txt", "x")], TWO_STEPS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(step_by_step(false)).await.unwrap();
    until_called(&mut alice).await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert_eq!(alice.state().await.status(), Status::Idle);
}

#[tokio::test]
async fn what_was_collected_before_the_last_step_is_decided_about() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.seat.intend(step_by_step(true)).await.unwrap();
    until_called(&mut alice).await;
    decide(&alice, 1, true).await.unwrap();
    let approval = alice.until_asked().await;
    alice.decide(approval, loggia_domain::ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::StepLimit);
    assert_eq!(world.read("a.txt"), "new\n");
}
