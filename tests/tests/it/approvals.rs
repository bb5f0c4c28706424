//! Questions and answers: durable, answered by anybody who drives, the first answer wins.

use loggia_domain::{
    Abilities, ApprovalAnswer, ApprovalId, ApprovalScope, EventBody, Intent, Policy, PolicyLimits, Preset,
    Remember, Role, TurnEnd,
};
use loggia_engine::{IntentError, Status};

use crate::world_with;

const WRITE: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n", reason = "asked for" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

#[tokio::test]
async fn a_write_is_proposed_asked_about_and_applied() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    assert_eq!(world.read("a.txt"), "old\n");
    let state = alice.state().await;
    assert_eq!(state.status(), Status::Waiting);
    assert_eq!(state.pending.len(), 1);
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model_with_its_comment() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        expect = "use tabs"
        parts = [{ text = "I see." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::None,
        remember: Remember::Once,
        comment: Some("use tabs".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "old\n");
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn the_first_decision_wins_and_later_ones_hear_whose_it_was() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("write").await.unwrap();
    let approval = bob.until_asked().await;
    let (first, second) =
        tokio::join!(bob.decide(approval, ApprovalScope::All), alice.decide(approval, ApprovalScope::None));
    assert!(first.is_ok() != second.is_ok());
    let late = first.and(second).unwrap_err();
    let IntentError::AlreadyDecided { held: told, .. } = late else { panic!("{late}") };
    let held = alice.until_event(|event| match &event.body {
        EventBody::ApprovalDecided { answer, by, .. } => Some((answer.clone(), by.clone())),
        _ => None,
    });
    assert_eq!(held.await, *told);
    alice.until_done().await;
    let unknown = alice.decide(ApprovalId::new(), ApprovalScope::All).await;
    assert!(matches!(unknown, Err(IntentError::UnknownApproval(_))));
}

#[tokio::test]
async fn auto_approval_belongs_to_the_client_that_wants_it() {
    let script = format!("{WRITE}\n{}", WRITE.replace("new", "newer"));
    let world = world_with(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { auto_approves: true, ..Abilities::default() };
    let alice = world.join(session, "alice", Role::Drive, abilities).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("write").await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    // Bob's own turns ask, although Alice is there.
    bob.prompt("write").await.unwrap();
    let approval = bob.until_asked().await;
    assert_eq!(bob.state().await.status(), Status::Waiting);
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    bob.until_done().await;
    assert!(bob.text().contains("ask#1 decided by alice: yes"), "{}", bob.text());
    assert!(bob.text().contains("ask#2 decided by bob: yes"), "{}", bob.text());
}

#[tokio::test]
async fn a_question_waits_no_longer_than_the_policy_says() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let limits = PolicyLimits { approval_timeout_s: Some(1), ..PolicyLimits::default() };
    let policy = Policy { limits, ..Policy::default() };
    world.engine.set_policy(world.workspace.id, policy, 0).unwrap();
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(alice.text().contains("decided by the policy: no (nobody answered in time)"), "{}", alice.text());
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn a_cancelled_turn_withdraws_its_question() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    insta::assert_snapshot!(alice.text());
    let late = alice.decide(approval, ApprovalScope::All).await;
    assert!(matches!(late, Err(IntentError::AlreadyDecided { .. })));
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn a_decision_is_remembered_for_the_session_or_the_workspace() {
    let command = |line: &str| {
        format!(
            "[[reply]]\nparts = [{{ call = {{ tool = \"run_command\", arguments = {{ command = \"{line}\" }} }} }}]\n\
             [[reply]]\nparts = [{{ text = \"ran\" }}]\n"
        )
    };
    let script =
        [command("echo one"), command("echo one"), command("echo two"), command("echo two")].concat();
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Session, comment: None };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    // The same again is not asked, another command is.
    alice.prompt("run").await.unwrap();
    alice.until_done().await;
    assert_eq!(alice.text().matches("may `echo one` run?").count(), 1, "{}", alice.text());
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Workspace, comment: None };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    // The workspace's policy has it now, and no other session asks either.
    let policy = world.engine.policy(world.workspace.id).unwrap();
    assert_eq!((policy.rules.len(), policy.revision), (1, 1), "{policy:?}");
    assert_eq!(alice.state().await.rules.len(), 2);
    let (_, mut bob) = world.play(Preset::Ask).await;
    bob.prompt("run").await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert!(!bob.text().contains("may `echo two` run?"), "{}", bob.text());
}

#[tokio::test]
async fn answers_must_be_about_what_was_asked() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    let stranger = ApprovalScope::Patches(vec![loggia_domain::PatchId::new()]);
    assert!(matches!(alice.decide(approval, stranger).await, Err(IntentError::BadAnswer(_))));
    let beyond = ApprovalScope::Hunks(vec![(patch, vec![7])]);
    assert!(matches!(alice.decide(approval, beyond).await, Err(IntentError::BadAnswer(_))));
    alice.decide(approval, ApprovalScope::Hunks(vec![(patch, vec![0])])).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
}
