//! Branches and trees of tasks: what is somebody else's stays, and what was ours goes, also after a kill.

use std::path::{Path, PathBuf};

use loggia_domain::Repository;
use loggia_engine::tasks::{
    AbandonTask, AutoTask, FinishHow, FinishTask, StartTask, TaskPhase, TaskPlace, Uncommitted,
};
use loggia_tests::World;

use crate::tasks::{alice, implement, in_repository, plan, request, says, start, writes};
use crate::tasks_kills::{again, killed_after};

const BRANCH: &str = "issue/42--fix-login-bug";

const EXISTS: &str = "the branch `issue/42--fix-login-bug` is there already: remove it, or give the task another key, \
                      slug or pattern";

#[tokio::test]
async fn a_branch_that_is_there_is_refused_before_the_task_is() {
    let world = in_repository().start("").await;
    world.repository().add_branch(BRANCH);
    for place in [TaskPlace::Branch, TaskPlace::Tree] {
        let begun = world.engine.tasks().start(StartTask { place, ..request(&world) }, alice()).await;
        assert_eq!(begun.unwrap_err().to_string(), EXISTS);
    }
    assert!(!world.repository().log().contains(BRANCH), "nothing was tried: {}", world.repository().log());
    assert_eq!(world.repository().branches(), [&format!("{BRANCH}: somebody's own"), "main: first"]);
}

#[test]
fn somebodys_branch_is_neither_adopted_nor_removed_by_a_task_that_was_cut() {
    let (_, remains) = killed_after("begin_branch", "", async |world, repository| {
        repository.hang_after("begin_branch");
        let (tasks, request) = (world.engine.tasks(), request(&world));
        tokio::spawn(async move { tasks.start(request, alice()).await });
        (world, None)
    });
    again(async {
        let world = remains.start(&says("# Plan")).await;
        let (tasks, repository) = (world.engine.tasks(), world.repository());
        // Somebody takes the empty branch away, and makes one of the same name.
        repository.switch(world.root(), "main".to_owned()).await.unwrap();
        repository.drop_branch(BRANCH.to_owned()).await.unwrap();
        repository.add_branch(BRANCH);
        let view = tasks.list(None).await.unwrap().remove(0);
        let refused = plan(&tasks, view.id).await.unwrap_err();
        assert_eq!(refused.to_string(), EXISTS);
        assert_eq!(repository.head(world.root()).as_deref(), Some("main"));
        let view = tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap();
        assert_eq!(view.task.phase, TaskPhase::Abandoned);
        assert_eq!(repository.branches()[0], format!("{BRANCH}: somebody's own"));
    });
}

/// The trees beside the world's repository.
fn trees(world: &World) -> Vec<PathBuf> {
    let beside: &Path = world.root().parent().unwrap();
    let entries = std::fs::read_dir(beside.join("work-worktrees")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn a_tree_of_a_task_that_never_came_to_be_goes_with_the_next_start() {
    let (_, remains) = killed_after("tree for", "", async |world, repository| {
        world.engine.set_trusted(world.root(), true).unwrap();
        repository.hang_after("begin_tree");
        let tasks = world.engine.tasks();
        let tree = StartTask { place: TaskPlace::Tree, ..request(&world) };
        tokio::spawn(async move { tasks.start(tree, alice()).await });
        (world, None)
    });
    again(async {
        let world = remains.start("").await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.list(None).await.unwrap().len(), 0);
        // The same again: nothing of the first one is in its way.
        let tree = StartTask { place: TaskPlace::Tree, ..request(&world) };
        let view = tasks.start(tree, alice()).await.unwrap();
        let own = view.task.start.branch.as_ref().unwrap().tree.clone().unwrap();
        assert_eq!(trees(&world), std::slice::from_ref(&own));
        assert!(world.engine.is_trusted(&own));
        tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap();
        assert!(trees(&world).is_empty());
        // What comes to lie there later is not trusted.
        std::fs::create_dir_all(&own).unwrap();
        assert!(!world.engine.is_trusted(&own));
        let notes = std::fs::read_dir(world.data().join("task-trees")).unwrap();
        assert_eq!(notes.count(), 0);
    });
}

#[tokio::test]
async fn half_done_work_can_be_thrown_away() {
    let fails = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no more\" } }]\n";
    let arguments = "{ path = \"a.txt\", content = \"half\\n\" }";
    let half =
        format!("[[reply]]\nparts = [{{ call = {{ tool = \"write_file\", arguments = {arguments} }} }}]\n");
    let script = [&says("# Plan"), &half, fails, &half, fails].concat();
    let world = in_repository().start(&script).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap_err();
    assert_eq!(world.read("a.txt"), "half\n");
    let lost = "the working tree has changes that are not committed (`a.txt`): commit or stash them first, \
                or have them thrown away (`--discard`)";
    assert_eq!(tasks.undo(view.id, 1, alice()).await.unwrap_err().to_string(), lost);
    // By no checkpoint: what was planned stays.
    let back = tasks.undo_and_discard(view.id, 0, alice()).await.unwrap();
    assert_eq!((world.read("a.txt"), back.task.position.as_str()), ("old\n".to_owned(), "planning"));
    assert_eq!(world.engine.state(view.session).await.unwrap().undo.done().len(), 0, "its session knows");
    implement(&tasks, view.id).await.unwrap_err();
    let refused = tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap_err();
    assert_eq!(refused.to_string(), lost);
    let discard = AbandonTask { uncommitted: Uncommitted::Discard, ..AbandonTask::default() };
    let kept = tasks.abandon(view.id, AbandonTask { keep_branch: true, ..discard }, alice()).await;
    assert_eq!(kept.unwrap_err().to_string(), "only what is on a branch that goes can be thrown away");
    tasks.abandon(view.id, discard, alice()).await.unwrap();
    assert_eq!(
        (world.read("a.txt"), repository.branches()),
        ("old\n".to_owned(), vec!["main: first".to_owned()])
    );
}

#[test]
fn a_step_that_was_killed_can_be_undone() {
    let hangs = "[[reply]]\nparts = [{ text = \"half\" }, { hang = true }]\n";
    let (id, remains) = crate::restarts::until_killed(async {
        let world = in_repository().start(&[says("# Plan"), hangs.to_owned()].concat()).await;
        let (tasks, view) = (world.engine.tasks(), start(&world).await);
        plan(&tasks, view.id).await.unwrap();
        let mut watcher =
            world.join(view.session, "bob", loggia_domain::Role::Drive, Default::default()).await;
        tasks.implement(view.id, Default::default(), alice()).await.unwrap();
        let is_half = |told: &loggia_engine::Told| {
            matches!(told, loggia_engine::Told::Reply(piece) if piece.text.contains("half")).then_some(())
        };
        watcher.until(is_half).await;
        (view.id, world.leave())
    });
    again(async {
        let world = remains.start(&[says("# Plan 2"), writes("a.txt", "new\n")].concat()).await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Implementing);
        let view = tasks.undo(id, 1, alice()).await.unwrap();
        assert_eq!((view.task.phase.clone(), view.task.position.as_str()), (TaskPhase::Idle, "idle"));
        plan(&tasks, id).await.unwrap();
        let view = implement(&tasks, id).await.unwrap();
        assert_eq!((view.task.position.as_str(), world.read("a.txt")), ("implementing", "new\n".to_owned()));
    });
}

#[tokio::test]
async fn trust_that_is_lent_for_a_run_is_not_handed_on_to_a_tree() {
    let world = in_repository().start("").await;
    world.engine.lend_trust(world.root(), "a run", std::time::Duration::from_secs(600)).unwrap();
    let tree = StartTask { place: TaskPlace::Tree, ..request(&world) };
    let view = world.engine.tasks().start(tree, alice()).await.unwrap();
    let own = view.task.start.branch.as_ref().unwrap().tree.clone().unwrap();
    assert!(world.engine.is_trusted(world.root()) && !world.engine.is_trusted(&own));
}

#[test]
fn an_unattended_task_goes_on_after_a_review_that_was_killed() {
    let hangs = "[[reply]]\nparts = [{ text = \"half\" }, { hang = true }]\n";
    let (id, remains) = crate::restarts::until_killed(async {
        let script = [says("# Plan"), writes("a.txt", "new\n"), hangs.to_owned()].concat();
        let world = in_repository().start(&script).await;
        let (tasks, view) = (world.engine.tasks(), start(&world).await);
        plan(&tasks, view.id).await.unwrap();
        implement(&tasks, view.id).await.unwrap();
        let mut watcher =
            world.join(view.session, "bob", loggia_domain::Role::Drive, Default::default()).await;
        tasks.review(view.id, Default::default(), alice()).await.unwrap();
        watcher
            .until(|told| {
                matches!(told, loggia_engine::Told::Reply(piece) if piece.text.contains("half")).then_some(())
            })
            .await;
        (view.id, world.leave())
    });
    again(async {
        let world = remains.start(&says("Fine.")).await;
        let tasks = world.engine.tasks();
        assert_eq!(tasks.status(id).await.unwrap().task.phase, TaskPhase::Reviewing);
        let finish = FinishTask::new(FinishHow::Merge { squash: true });
        let auto = AutoTask { start: request(&world), finish, tries: None };
        let done = tasks.auto(auto, alice()).await.unwrap().wait().await.unwrap();
        assert_eq!((done.id, done.task.phase.clone(), done.task.reviews.len()), (id, TaskPhase::Done, 1));
    });
}
