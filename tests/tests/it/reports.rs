//! Clients that do the work themselves: who may report what, when, and how much of it.

use loggia_domain::{
    Abilities, CommandExit, CommandReport, EventBody, Intent, Passing, PatchReport, Preset, Role,
    ToolOutcome, TurnEnd,
};
use loggia_engine::{IntentError, Told};
use loggia_tests::scripts::{TWO_FILES, proposes, says};
use loggia_tests::{Player, Write};

use crate::commands::runs;
use crate::{world, world_with};

fn two_files() -> String {
    proposes(TWO_FILES) + &says("Done.")
}

const APPLIES: Abilities = Abilities { runs_commands: false, applies_patches: true, auto_approves: false };
const RUNS: Abilities = Abilities { runs_commands: true, applies_patches: false, auto_approves: false };

fn succeeded(stdout: &str) -> CommandReport {
    CommandReport {
        exit: CommandExit::Code(0),
        stdout: stdout.to_owned(),
        stderr: String::new(),
        milliseconds: 1,
    }
}

fn applied() -> PatchReport {
    PatchReport::Applied { hash: None }
}

/// What the model was told of the last call.
async fn told(player: &mut Player) -> String {
    player
        .until_event(|event| match &event.body {
            EventBody::ToolEnded {
                outcome:
                    ToolOutcome::Succeeded { output: told }
                    | ToolOutcome::Failed { message: told }
                    | ToolOutcome::Denied { reason: told },
                ..
            } => Some(told.clone()),
            _ => None,
        })
        .await
}

#[tokio::test]
async fn reports_on_the_patches_of_one_call_come_at_once_and_in_any_order() {
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let session = world.open(Preset::Full).await;
    let mut alice = world.join(session, "alice", Role::Drive, APPLIES).await;
    alice.prompt("louder").await.unwrap();
    alice.until_started().await;
    std::fs::write(world.root().join("a.txt"), "ONE\n").unwrap();
    std::fs::write(world.root().join("b.txt"), "TWO\n").unwrap();
    let proposed = alice.state().await;
    let [b, a] = ["b.txt", "a.txt"]
        .map(|path| proposed.proposed.values().find(|patch| patch.path == path).unwrap().id);
    for patch in [b, a] {
        alice.seat.intend(Intent::ReportPatch { patch, report: applied() }).await.unwrap();
    }
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(alice.state().await.applied.len(), 2, "{}", alice.text());
    let again = alice.seat.intend(Intent::ReportPatch { patch: a, report: applied() }).await;
    assert!(matches!(again, Err(IntentError::UnknownPatch(_))), "{again:?}");
}

#[tokio::test]
async fn the_model_hears_which_half_of_its_change_a_client_wrote() {
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let session = world.open(Preset::Full).await;
    let mut alice = world.join(session, "alice", Role::Drive, APPLIES).await;
    alice.prompt("louder").await.unwrap();
    alice.until_started().await;
    std::fs::write(world.root().join("a.txt"), "ONE\n").unwrap();
    for patch in alice.state().await.proposed.values() {
        let report = if patch.path == "a.txt" { applied() } else { PatchReport::Conflict };
        alice.seat.intend(Intent::ReportPatch { patch: patch.id, report }).await.unwrap();
    }
    let told = told(&mut alice).await;
    assert!(told.contains("`b.txt` has changed") && !told.contains("Nothing of it was written"), "{told}");
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    // And what was written can be undone.
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("one\n".to_owned(), "two\n".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_kept_for_undoing_is_not_given_to_a_client_to_change() {
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &two_files()).await;
    let session = world.open(Preset::Full).await;
    let mut alice = world.join(session, "alice", Role::Drive, APPLIES).await;
    world.disk.fill(Write::Blob);
    alice.prompt("louder").await.unwrap();
    let told = told(&mut alice).await;
    assert!(told.contains("cannot be kept for undoing: the disk is full"), "{told}");
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(!alice.text().contains("started by a client"), "{}", alice.text());
    let undone = alice.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(undone, Err(IntentError::NothingToUndo { available: 0 })), "{undone:?}");
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("one\n".to_owned(), "two\n".to_owned()));
}

#[tokio::test]
async fn only_the_client_that_was_asked_reports() {
    let script = runs("make") + &two_files();
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &script).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { runs_commands: true, ..APPLIES };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    let mallory = world.join(session, "mallory", Role::Drive, abilities).await;
    alice.prompt("run").await.unwrap();
    let call = alice.until_started().await;
    let refused = mallory.seat.intend(Intent::ReportCommand { call, report: succeeded("all green") }).await;
    assert!(matches!(refused, Err(IntentError::NotYours)), "{refused:?}");
    alice.seat.intend(Intent::ReportCommand { call, report: succeeded("two failures") }).await.unwrap();
    assert!(told(&mut alice).await.contains("two failures"));
    alice.until_done().await;
    alice.prompt("louder").await.unwrap();
    alice.until_started().await;
    for patch in alice.state().await.proposed.keys().copied() {
        let refused = mallory.seat.intend(Intent::ReportPatch { patch, report: applied() }).await;
        assert!(matches!(refused, Err(IntentError::NotYours)), "{refused:?}");
        alice.seat.intend(Intent::ReportPatch { patch, report: PatchReport::Conflict }).await.unwrap();
    }
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(alice.state().await.applied.is_empty());
}

#[tokio::test]
async fn anybody_who_drives_reports_for_a_client_that_has_gone() {
    let world = world().start(&runs("make")).await;
    let session = world.open(Preset::Full).await;
    let mut alice = world.join(session, "alice", Role::Drive, RUNS).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("run").await.unwrap();
    let call = bob.until_started().await;
    alice.until_started().await;
    drop(alice);
    bob.until(|told| match told {
        Told::Passing(passing) => matches!(&**passing, Passing::ClientLeft { .. }).then_some(()),
        Told::Event(_) | Told::Reply(_) => None,
    })
    .await;
    bob.seat.intend(Intent::ReportCommand { call, report: succeeded("finished by hand") }).await.unwrap();
    assert!(told(&mut bob).await.contains("finished by hand"));
    assert_eq!(bob.until_done().await, TurnEnd::Done);
}

#[tokio::test]
async fn what_a_client_reports_is_kept_within_the_policys_limit() {
    let world = world().start(&runs("make")).await;
    world.change_policy(|policy| policy.limits.output_bytes = 1000);
    let session = world.open(Preset::Full).await;
    let mut alice = world.join(session, "alice", Role::Drive, RUNS).await;
    alice.prompt("run").await.unwrap();
    let call = alice.until_started().await;
    let output = format!("begin{}end", "ä".repeat(4 << 20));
    alice.seat.intend(Intent::ReportCommand { call, report: succeeded(&output) }).await.unwrap();
    let (told, left_out) = alice
        .until_event(|event| match &event.body {
            EventBody::ToolEnded { outcome: ToolOutcome::Succeeded { output }, command, .. } => {
                Some((output.clone(), command.unwrap().left_out))
            }
            _ => None,
        })
        .await;
    assert!(told.len() < 1200, "{} bytes", told.len());
    assert!(told.contains("begin") && told.contains("end"), "{told}");
    // A character at either cut may be left out whole.
    let expected = (output.len() - 1000) as u64;
    assert!((expected..expected + 4).contains(&left_out), "{left_out}");
}
