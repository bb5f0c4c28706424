//! Going back and forth between a task's checkpoints.

use std::sync::Arc;

use loggia_engine::tasks::{StartTask, TaskError, TaskPlace};
use loggia_tests::last_prompt;

use crate::tasks::{alice, implement, in_repository, plan, provider, request, says, start, writes};
use crate::world;

fn script() -> String {
    [says("# Plan"), writes("a.txt", "1\n"), writes("a.txt", "2\n"), writes("b.txt", "3\n")].concat()
}

#[tokio::test]
async fn any_number_of_checkpoints_is_undone_and_redone() {
    let world = in_repository().start(&script()).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let view = implement(&tasks, view.id).await.unwrap();
    assert_eq!(view.task.checkpoints.len(), 4);
    let back = tasks.undo(view.id, 1, alice()).await.unwrap();
    assert_eq!((world.read("a.txt"), back.task.checkpoint().unwrap().number), ("1\n".to_owned(), 3));
    // A second one in a row, over the plan, which changed no file.
    let back = tasks.undo(view.id, 2, alice()).await.unwrap();
    assert_eq!((world.read("a.txt"), back.task.position.as_str()), ("old\n".to_owned(), "idle"));
    let none = tasks.undo(view.id, 1, alice()).await.unwrap_err();
    assert_eq!(none.to_string(), "there is no checkpoint to go back to");
    let forth = tasks.redo(view.id, 3, alice()).await.unwrap();
    assert_eq!((world.read("a.txt"), forth.task.position.as_str()), ("2\n".to_owned(), "implementing"));
    let none = tasks.redo(view.id, 1, alice()).await.unwrap_err();
    assert_eq!(none.to_string(), "there is no checkpoint to go forth to");
    assert_eq!(repository.branches()[1], "main: first", "nothing but the task's branch is moved");
}

#[tokio::test]
async fn a_new_checkpoint_makes_what_was_undone_unreachable() {
    let world = in_repository().start(&script()).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    tasks.undo(view.id, 2, alice()).await.unwrap();
    let view = implement(&tasks, view.id).await.unwrap();
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("old\n".to_owned(), "3\n".to_owned()));
    let numbers: Vec<u32> = view.task.checkpoints.iter().map(|checkpoint| checkpoint.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let marks = repository.marks().join("\n").replace(&view.id.to_string(), "TASK");
    assert_eq!(marks, "task-checkpoint/TASK/1 0\ntask-checkpoint/TASK/2 0\ntask-checkpoint/TASK/3 3");
    // The conversation went back as well.
    let prompt = last_prompt(&world.model);
    assert_eq!(prompt.matches("Implement this specification").count(), 1, "{prompt}");
}

#[tokio::test]
async fn what_somebody_did_meanwhile_is_not_lost() {
    let world = in_repository().start(&script()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    std::fs::write(world.root().join("mine.txt"), "mine").unwrap();
    let refused = tasks.undo(view.id, 1, alice()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the working tree has changes that are not committed (`mine.txt`): commit or stash them first, \
         or have them thrown away (`--discard`)"
    );
    assert_eq!((world.read("a.txt"), world.read("mine.txt")), ("1\n".to_owned(), "mine".to_owned()));
    let too_many = tasks.undo(view.id, 7, alice()).await.unwrap_err();
    assert_eq!(too_many.to_string(), "there are only 2 changes to undo");
    assert!(matches!(tasks.undo(view.id, 0, alice()).await, Err(TaskError::Intent(_))));
}

#[tokio::test]
async fn a_task_without_a_branch_is_undone_by_its_session() {
    let world = world().file("a.txt", "old\n").source(Arc::new(provider())).start(&script()).await;
    let tasks = world.engine.tasks();
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(here, alice()).await.unwrap();
    assert!(view.task.start.branch.is_none());
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    tasks.undo(view.id, 2, alice()).await.unwrap();
    assert_eq!(world.read("a.txt"), "old\n");
    tasks.redo(view.id, 1, alice()).await.unwrap();
    assert_eq!(world.read("a.txt"), "1\n");
}
