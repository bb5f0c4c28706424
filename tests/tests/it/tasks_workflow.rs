//! Steps, guards and effects of hooks, on the way of a task.

use std::sync::Arc;

use loggia_domain::{
    GuestError, Guests, JsonText, Role, StepPlace, Verdict, WorkflowEffect, WorkflowGuard, WorkflowParts,
    WorkflowStep,
};
use loggia_engine::tasks::{FinishHow, TaskError, TaskPhase};
use loggia_tests::{PretendGuests, PretendHook, World};

use crate::tasks::{alice, finish, implement, in_repository, plan, review, says, start, who, writes};

pub(crate) fn step(name: &str, place: StepPlace) -> WorkflowStep {
    WorkflowStep { name: name.to_owned(), description: None, place }
}

pub(crate) fn guard(name: &str, steps: &[&str]) -> WorkflowGuard {
    let steps = steps.iter().map(|step| (*step).to_owned()).collect();
    WorkflowGuard { name: name.to_owned(), description: None, steps }
}

pub(crate) fn effect(name: &str, steps: &[&str], critical: bool) -> WorkflowEffect {
    let steps = steps.iter().map(|step| (*step).to_owned()).collect();
    WorkflowEffect { name: name.to_owned(), description: None, steps, critical }
}

/// A hook that wants an approval after the review.
fn approval() -> Arc<PretendHook> {
    PretendHook::new(
        "gate",
        WorkflowParts {
            steps: vec![step("approval", StepPlace::After("reviewing".to_owned()))],
            guards: vec![guard("approvalGiven", &["approval"])],
            effects: vec![effect("tell", &["approval"], false)],
        },
    )
}

/// A hook without steps: it sees everything.
pub(crate) fn notifier(critical: bool) -> Arc<PretendHook> {
    let effects = vec![effect("first", &[], critical), effect("second", &[], false)];
    PretendHook::new("notifier", WorkflowParts { effects, ..WorkflowParts::default() })
}

pub(crate) async fn world_with_hooks(hooks: &[Arc<PretendHook>], script: &str) -> World {
    let hooks = hooks.iter().map(|hook| Arc::clone(hook) as _).collect();
    let guests = Arc::new(PretendGuests(Guests { hooks, ..Guests::default() }));
    in_repository().guests(guests).start(script).await
}

fn whole_script() -> String {
    [says("# Plan"), writes("a.txt", "new\n"), says("Fine.")].concat()
}

#[tokio::test]
async fn a_guard_holds_a_task_back_until_it_allows() {
    let gate = approval();
    let world = world_with_hooks(&[Arc::clone(&gate)], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    gate.guard_says("approvalGiven", Ok(Verdict::Stop("nobody has approved".to_owned())));
    let view = review(&tasks, view.id).await.unwrap();
    assert_eq!(view.task.phase, TaskPhase::Paused, "the review is done; what follows it is not");
    let held = view.task.held.clone().unwrap();
    assert_eq!((held.by.step.as_str(), held.reason.as_str()), ("approval", "nobody has approved"));
    let refused = finish(&tasks, view.id, FinishHow::Keep).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`approvalGiven` of `gate` holds the task back before approval: nobody has approved"
    );
    let set = tasks.set_metadata(view.id, "approved".to_owned(), Some(JsonText("true".to_owned())), alice());
    set.await.unwrap();
    gate.guard_says("approvalGiven", Ok(Verdict::Allow(Some("approved by its author".to_owned()))));
    let done = finish(&tasks, view.id, FinishHow::Keep).await.unwrap();
    assert_eq!(done.task.phase, TaskPhase::Done);
    assert!(gate.facts().contains(r#""metadata":{"approved":true}"#), "{}", gate.facts());
    assert_eq!(done.task.notices, ["approvalGiven of gate: approved by its author".into()]);
    assert_eq!(
        gate.log(),
        "approvalGiven before approval\napprovalGiven before approval\napprovalGiven before approval\n\
         tell at approval (entered)\ntell at approval (left)"
    );
}

#[tokio::test]
async fn only_an_admin_goes_past_a_guard() {
    let gate = approval();
    gate.guard_says("approvalGiven", Err(GuestError::TimedOut("it does not answer".to_owned())));
    let world = world_with_hooks(&[Arc::clone(&gate)], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let none = tasks.override_guard(view.id, who(Role::Admin)).await.unwrap_err();
    assert_eq!(none.to_string(), "no guard holds the task back");
    let held = finish(&tasks, view.id, FinishHow::Keep).await.unwrap_err();
    assert!(
        held.to_string().ends_with("it does not answer"),
        "one that fails to answer does not allow: {held}"
    );
    let refused = tasks.override_guard(view.id, alice()).await.unwrap_err();
    assert_eq!(refused.to_string(), "this needs the role `admin`");
    let view = tasks.override_guard(view.id, who(Role::Admin)).await.unwrap();
    assert_eq!((view.task.phase.clone(), view.task.held.clone()), (TaskPhase::Idle, None));
    assert_eq!(finish(&tasks, view.id, FinishHow::Keep).await.unwrap().task.phase, TaskPhase::Done);
}

#[tokio::test]
async fn guards_are_asked_before_anything_is_merged() {
    let guards = vec![guard("clean", &[])];
    let gate = PretendHook::new("gate", WorkflowParts { guards, ..WorkflowParts::default() });
    gate.guard_says("clean", Ok(Verdict::Stop("not clean".to_owned())));
    let world = world_with_hooks(&[gate], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let held = finish(&tasks, view.id, FinishHow::Merge { squash: true }).await.unwrap_err();
    assert!(matches!(held, TaskError::Held(_)), "{held}");
    assert_eq!(world.repository().branches()[1], "main: first");
}

#[tokio::test]
async fn a_hook_that_does_not_start_lets_nothing_be_finished() {
    let world = world_with_hooks(&[PretendHook::silent("gate", "exit status 1")], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let held = finish(&tasks, view.id, FinishHow::Keep).await.unwrap_err();
    assert_eq!(
        held.to_string(),
        "`start` of `gate` holds the task back before done: it does not say what it guards: exit status 1"
    );
}

#[tokio::test]
async fn effects_follow_everything_in_their_order() {
    let notifier = notifier(false);
    notifier.effect_does("second", Err(GuestError::Failed("no webhook".to_owned())));
    let world = world_with_hooks(&[Arc::clone(&notifier)], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    let view = implement(&tasks, view.id).await.unwrap();
    assert!(
        view.task.notices.contains(&"second of notifier: failed: no webhook".into()),
        "told, and no more"
    );
    finish(&tasks, view.id, FinishHow::Keep).await.unwrap();
    let log = notifier.log();
    let firsts: Vec<&str> = log.lines().filter(|line| line.starts_with("first")).collect();
    assert_eq!(
        firsts,
        [
            "first at start (checkpoint)",
            "first at start (task started)",
            "first at planning (entered)",
            "first at planning (checkpoint)",
            "first at planning (left)",
            "first at implementing (entered)",
            "first at implementing (checkpoint)",
            "first at implementing (left)",
            "first at done (entered)",
            "first at done (checkpoint)",
            "first at done (left)",
            "first at done (task done)",
        ]
    );
    let turns: Vec<bool> = log.lines().map(|line| line.starts_with("first")).collect();
    assert!(turns.chunks(2).all(|pair| pair == [true, false]), "one after the other: {log}");
}

#[tokio::test]
async fn a_critical_effect_that_fails_stops_the_task_there() {
    let notifier = notifier(true);
    let world = world_with_hooks(&[Arc::clone(&notifier)], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    notifier.effect_does("first", Err(GuestError::Failed("the gate is shut".to_owned())));
    let held = implement(&tasks, view.id).await.unwrap_err();
    assert!(matches!(held, TaskError::Held(_)), "{held}");
    let stopped = tasks.status(view.id).await.unwrap();
    assert_eq!(stopped.task.phase, TaskPhase::Paused);
    assert_eq!(world.read("a.txt"), "old\n", "no agent has worked");
    assert!(!notifier.log().ends_with("second at implementing (entered)"), "what follows does not run");
    notifier.effect_does("first", Ok(None));
    let done = implement(&tasks, view.id).await.unwrap();
    assert_eq!((done.task.phase.clone(), world.read("a.txt")), (TaskPhase::Idle, "new\n".to_owned()));
}

#[tokio::test]
async fn a_line_of_steps_says_what_was_left_out() {
    let gate = PretendHook::new(
        "gate",
        WorkflowParts {
            steps: vec![
                step("scan", StepPlace::Before("implementing".to_owned())),
                step("lost", StepPlace::After("nowhere".to_owned())),
            ],
            ..WorkflowParts::default()
        },
    );
    let world = world_with_hooks(&[gate], &whole_script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let line = tasks.line(view.id).await.unwrap();
    let names: Vec<&str> = line.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["planning", "scan", "implementing", "reviewing", "done"]);
    assert_eq!(line.refused.len(), 1);
    assert_eq!(tasks.known_line(&view).as_deref(), Some(&line), "who only looks need not ask again");
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!(view.task.position, "scan", "it is passed as soon as the plan is there");
}
