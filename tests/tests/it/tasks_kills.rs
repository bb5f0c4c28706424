//! Tasks whose daemon is killed in each phase: they are where they were, and the same command goes on there.

use std::sync::Arc;

use loggia_domain::{
    ApprovalScope, EventBody, Guests, Preset, Role, Seq, StepPlace, TaskEvent, TaskId, WorkflowParts,
};
use loggia_engine::Tasks;
use loggia_engine::tasks::{FinishHow, FinishTask, StartTask, StepRequest, TaskPhase, TaskView};
use loggia_tests::{PretendGuests, PretendHook, PretendRepository, Remains, World};

use crate::restarts::until_killed;
use crate::tasks::{alice, finish, implement, in_repository, plan, request, says, start, story, writes};
use crate::tasks_workflow::{effect, notifier, step};

const HANGS: &str = "[[reply]]\nparts = [{ text = \"half\" }, { hang = true }]\n";

pub(crate) fn again<T>(life: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(life)
}

/// How often something happened to a task.
async fn count(world: &World, view: &TaskView, is_it: impl Fn(&TaskEvent) -> bool) -> usize {
    let events = world.engine.events(view.session, Seq(0), 10_000).await.unwrap();
    events.iter().filter(|event| matches!(&event.body, EventBody::Task(event) if is_it(event))).count()
}

/// Kills the daemon while a step's agent is at work.
fn killed_at_work(before: &str, take: impl AsyncFn(&Tasks, TaskId)) -> (TaskId, Remains) {
    until_killed(async {
        let world = in_repository().start(&[before, HANGS].concat()).await;
        let view = start(&world).await;
        let mut watcher = world.join(view.session, "bob", Role::Drive, Default::default()).await;
        take(&world.engine.tasks(), view.id).await;
        watcher
            .until(|told| {
                matches!(told, loggia_engine::Told::Reply(piece) if piece.text.contains("half")).then_some(())
            })
            .await;
        (view.id, world.leave())
    })
}

#[test]
fn planning_goes_on() {
    let (id, remains) = killed_at_work("", async |tasks, id| {
        tasks.plan(id, StepRequest::default(), alice()).await.unwrap();
    });
    again(async {
        let world = remains.start(&says("# Plan")).await;
        let tasks = world.engine.tasks();
        let view = tasks.status(id).await.unwrap();
        assert_eq!((view.task.phase.clone(), view.is_interrupted()), (TaskPhase::Planning, true));
        let other = implement(&tasks, id).await.unwrap_err();
        assert!(other.to_string().contains("in the middle of that"), "{other}");
        let view = plan(&tasks, id).await.unwrap();
        assert_eq!((view.task.phase.clone(), view.task.specifications.len()), (TaskPhase::Idle, 1));
        assert_eq!(count(&world, &view, |event| matches!(event, TaskEvent::Entered { .. })).await, 1);
        assert_eq!(count(&world, &view, |event| matches!(event, TaskEvent::Working { .. })).await, 1);
    });
}

#[test]
fn implementing_and_reviewing_go_on() {
    let (id, remains) = killed_at_work(&says("# Plan"), async |tasks, id| {
        plan(tasks, id).await.unwrap();
        tasks.implement(id, StepRequest::default(), alice()).await.unwrap();
    });
    let (id, remains) = until_killed(async {
        let world = remains.start(&[writes("a.txt", "new\n"), HANGS.to_owned()].concat()).await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Implementing);
        let view = implement(&tasks, id).await.unwrap();
        assert_eq!(world.read("a.txt"), "new\n");
        assert_eq!(count(&world, &view, |event| matches!(event, TaskEvent::Checkpointed { .. })).await, 3);
        let mut watcher = world.join(view.session, "bob", Role::Drive, Default::default()).await;
        tasks.review(id, StepRequest::default(), alice()).await.unwrap();
        watcher
            .until(|told| {
                matches!(told, loggia_engine::Told::Reply(piece) if piece.text.contains("half")).then_some(())
            })
            .await;
        (id, world.leave())
    });
    again(async {
        let world = remains.start(&says("Fine.")).await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Reviewing);
        // Whoever does not know what was cut says only that it goes on.
        let view = tasks.resume(id, alice()).await.unwrap().wait().await.unwrap();
        assert_eq!((view.task.phase.clone(), view.task.reviews.len()), (TaskPhase::Idle, 1));
    });
}

#[test]
fn a_step_that_waits_for_an_approval_waits_on() {
    let (id, remains) = until_killed(async {
        let world = in_repository().start(&[says("# Plan"), writes("a.txt", "new\n")].concat()).await;
        let tasks = world.engine.tasks();
        let asks = StartTask { preset: Some(Preset::Ask), ..request(&world) };
        let view = tasks.start(asks, alice()).await.unwrap();
        plan(&tasks, view.id).await.unwrap();
        let mut watcher = world.join(view.session, "bob", Role::Drive, Default::default()).await;
        tasks.implement(view.id, StepRequest::default(), alice()).await.unwrap();
        watcher.until_asked().await;
        (view.id, world.leave())
    });
    again(async {
        let world = remains.start(&says("done")).await;
        let tasks = world.engine.tasks();
        let view = tasks.status(id).await.unwrap();
        let run = tasks.implement(id, StepRequest::default(), alice()).await.unwrap();
        let watcher = world.join(view.session, "bob", Role::Drive, Default::default()).await;
        let approval = *watcher.state().await.pending.keys().next().unwrap();
        watcher.decide(approval, ApprovalScope::All).await.unwrap();
        assert_eq!(run.wait().await.unwrap().task.phase, TaskPhase::Idle);
        assert_eq!(world.read("a.txt"), "new\n");
    });
}

/// Kills the daemon right after the repository has done something, before anybody heard of it.
pub(crate) fn killed_after(
    call: &'static str,
    script: &str,
    take: impl AsyncFn(World, Arc<PretendRepository>) -> (World, Option<TaskId>),
) -> (Option<TaskId>, Remains) {
    until_killed(async {
        let world = in_repository().start(script).await;
        let repository = world.repository();
        let (world, id) = take(world, Arc::clone(&repository)).await;
        repository.until_hanging().await;
        assert!(repository.log().contains(call.trim_start_matches("begin_")) || call == "move_to");
        (id, world.leave())
    })
}

#[test]
fn a_start_that_was_cut_after_its_branch_is_gone_on_with() {
    let (_, remains) = killed_after("begin_branch", "", async |world, repository| {
        repository.hang_after("begin_branch");
        let (tasks, request) = (world.engine.tasks(), request(&world));
        tokio::spawn(async move { tasks.start(request, alice()).await });
        (world, None)
    });
    again(async {
        let world = remains.start(&says("# Plan")).await;
        let tasks = world.engine.tasks();
        let view = tasks.list(None).await.unwrap().remove(0);
        assert_eq!((view.task.phase.clone(), view.is_interrupted()), (TaskPhase::Starting, true));
        let view = plan(&tasks, view.id).await.unwrap();
        assert_eq!(view.task.checkpoints.len(), 2);
        let branches = world.repository().log().lines().filter(|line| line.starts_with("branch ")).count();
        assert_eq!(branches, 1, "the branch is not made twice");
    });
}

#[test]
fn a_checkpoint_that_was_cut_is_made_once() {
    let script = [says("# Plan"), writes("a.txt", "new\n")].concat();
    let (id, remains) = killed_after("checkpoint", &script, async |world, repository| {
        let view = start(&world).await;
        let tasks = world.engine.tasks();
        plan(&tasks, view.id).await.unwrap();
        repository.hang_after("checkpoint");
        tasks.implement(view.id, StepRequest::default(), alice()).await.unwrap();
        (world, Some(view.id))
    });
    again(async {
        let world = remains.start("").await;
        let (tasks, repository) = (world.engine.tasks(), world.repository());
        let view = implement(&tasks, id.unwrap()).await.unwrap();
        assert_eq!(view.task.checkpoints.len(), 3);
        let marks = repository.marks().join("\n").replace(&view.id.to_string(), "TASK");
        assert_eq!(marks, "task-checkpoint/TASK/1 0\ntask-checkpoint/TASK/2 0\ntask-checkpoint/TASK/3 1");
        assert_eq!(world.model.requests().len(), 0, "the agent is not asked again");
    });
}

#[test]
fn a_merge_that_was_cut_is_made_once() {
    let script = [says("# Plan"), writes("a.txt", "new\n")].concat();
    let (id, remains) = killed_after("merge", &script, async |world, repository| {
        let view = start(&world).await;
        let tasks = world.engine.tasks();
        plan(&tasks, view.id).await.unwrap();
        implement(&tasks, view.id).await.unwrap();
        repository.hang_after("merge");
        let merge = FinishTask::new(FinishHow::Merge { squash: false });
        tasks.finish(view.id, merge, alice()).await.unwrap();
        (world, Some(view.id))
    });
    again(async {
        let world = remains.start("").await;
        let (tasks, id) = (world.engine.tasks(), id.unwrap());
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Finishing);
        let unsaid = tasks.resume(id, alice()).await.unwrap().wait().await.unwrap_err();
        assert_eq!(unsaid.to_string(), "the task was being finished: finish it again, and say how");
        let view = finish(&tasks, id, FinishHow::Merge { squash: false }).await.unwrap();
        assert_eq!(view.task.phase, TaskPhase::Done);
        let merges = world.repository().log().lines().filter(|line| line.starts_with("merge ")).count();
        assert_eq!(merges, 1, "{}", story(&world, &view).await);
    });
}

#[test]
fn an_undo_that_was_cut_is_taken_to_its_end() {
    let script = [says("# Plan"), writes("a.txt", "new\n")].concat();
    let (id, remains) = killed_after("move_to", &script, async |world, repository| {
        let view = start(&world).await;
        let tasks = world.engine.tasks();
        plan(&tasks, view.id).await.unwrap();
        implement(&tasks, view.id).await.unwrap();
        repository.hang_after("move_to");
        let id = view.id;
        tokio::spawn(async move { tasks.undo(id, 1, alice()).await });
        (world, Some(id))
    });
    again(async {
        let world = remains.start("").await;
        let tasks = world.engine.tasks();
        let view = tasks.undo(id.unwrap(), 1, alice()).await.unwrap();
        assert_eq!((view.task.checkpoint().unwrap().number, world.read("a.txt")), (2, "old\n".to_owned()));
    });
}

/// Kills the daemon after an effect has done its work.
fn killed_after_effect(hook: &Arc<PretendHook>, before: usize) -> (TaskId, Remains) {
    until_killed(async {
        let guests = Guests { hooks: vec![Arc::clone(hook) as _], ..Guests::default() };
        let guests = Arc::new(PretendGuests(guests));
        let world = in_repository().guests(guests).start(&says("# Plan")).await;
        let view = start(&world).await;
        hook.hang_after("second");
        world.engine.tasks().plan(view.id, StepRequest::default(), alice()).await.unwrap();
        hook.until_hanging().await;
        assert!(hook.log().lines().count() >= before);
        (view.id, world.leave())
    })
}

#[test]
fn effects_that_are_in_the_journal_are_not_run_again() {
    let hook = notifier(false);
    let (id, remains) = killed_after_effect(&hook, 2);
    again(async {
        let world = remains.start(&says("# Plan")).await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Planning);
        plan(&tasks, id).await.unwrap();
        let log = hook.log();
        let times = |line: &str| log.lines().filter(|said| *said == line).count();
        assert_eq!(times("first at planning (entered)"), 1);
        // This one had done its work, but nobody had heard of it: it may come twice, and no effect more often.
        assert_eq!(times("second at planning (entered)"), 2);
        assert_eq!(times("first at planning (left)"), 1);
    });
}

#[test]
fn a_step_of_a_hook_is_gone_on_with() {
    let hook = PretendHook::new(
        "gate",
        WorkflowParts {
            steps: vec![step("scan", StepPlace::After("planning".to_owned()))],
            effects: vec![effect("second", &["scan"], true)],
            ..WorkflowParts::default()
        },
    );
    let (id, remains) = killed_after_effect(&hook, 1);
    again(async {
        let world = remains.start(&writes("a.txt", "new\n")).await;
        let tasks = world.engine.tasks();
        let view = tasks.status(id).await.unwrap();
        assert_eq!(view.task.phase, TaskPhase::Step("scan".to_owned()));
        let view = implement(&tasks, id).await.unwrap();
        assert_eq!(view.task.position, "implementing");
        assert_eq!(
            count(&world, &view, |event| matches!(event, TaskEvent::Entered { step, .. } if step == "scan"))
                .await,
            1
        );
    });
}
