//! Rules that change while sessions work: they hold from the next call on.

use loggia_domain::{HardLinks, Policy, Preset, ToolOutcome};
use loggia_engine::Said;
use loggia_tests::{Player, World};

use crate::world_with;

const READ: &str = r#"
    [[reply]]
    repeat = 100
    parts = [{ call = { tool = "read_file", arguments = { path = "linked.txt" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

fn set(world: &World, hard_links: HardLinks) {
    let current = world.engine.policy(world.workspace.id).unwrap();
    let mut policy = Policy { hard_links, ..Policy::clone(&current) };
    policy.limits.max_steps = 1;
    world.engine.set_policy(world.workspace.id, policy, current.revision).unwrap();
}

/// Whether a turn that reads the file gets what it holds.
async fn reads(alice: &mut Player) -> bool {
    alice.play("read").await;
    let state = alice.state().await;
    let said = state.history.items().iter().rev().find_map(|item| match &item.said {
        Said::Tool { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    matches!(said, Some(ToolOutcome::Succeeded { output }) if output.contains("held twice"))
}

#[tokio::test]
async fn the_rule_about_hard_links_follows_the_policy() {
    let world = world_with(&[("a.txt", "held twice\n")], READ).await;
    std::fs::hard_link(world.root().join("a.txt"), world.root().join("linked.txt")).unwrap();
    set(&world, HardLinks::Refuse);
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert!(!reads(&mut alice).await);
    set(&world, HardLinks::Read);
    assert!(reads(&mut alice).await);
    set(&world, HardLinks::Refuse);
    assert!(!reads(&mut alice).await);
}

#[tokio::test]
async fn a_workspace_that_is_not_trusted_may_forbid_hard_links() {
    let world = world_with(&[("a.txt", "held twice\n")], READ).await;
    std::fs::hard_link(world.root().join("a.txt"), world.root().join("linked.txt")).unwrap();
    set(&world, HardLinks::Read);
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert!(reads(&mut alice).await);
    std::fs::create_dir(world.root().join(".loggia")).unwrap();
    std::fs::write(world.root().join(".loggia/policy.toml"), "hard_links = \"refuse\"\n").unwrap();
    assert!(!reads(&mut alice).await);
}

/// A pipe in place of a policy: whoever reads it waits.
#[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with names")]
fn pipe(path: &std::path::Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// On one thread: if reading a policy held that up, nobody would be answered.
#[tokio::test(flavor = "current_thread")]
async fn a_policy_on_a_slow_disk_holds_up_nobody_else() {
    let world = world_with(&[], "[[reply]]\nparts = [{ text = \"hi\" }]\n").await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let path = world.policy_file();
    pipe(&path);
    let (reading, is_read) = tokio::sync::oneshot::channel();
    let (answered, was_answered) = std::sync::mpsc::channel::<()>();
    let slow = std::thread::spawn(move || {
        // Waits for the reader, and then lets it wait until the session has answered, or for too long.
        let mut disk = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        reading.send(()).unwrap();
        let in_time = was_answered.recv_timeout(std::time::Duration::from_secs(5)).is_ok();
        std::fs::remove_file(&path).unwrap();
        std::io::Write::write_all(&mut disk, b"preset = \"ask\"\n").unwrap();
        in_time
    });
    alice.prompt("hello").await.unwrap();
    is_read.await.unwrap();
    let state = alice.state().await;
    let _ = answered.send(());
    assert!(slow.join().unwrap(), "nobody was answered while the policy was read");
    assert!(state.turn.is_some());
    alice.until_done().await;
}
