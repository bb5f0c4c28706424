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
