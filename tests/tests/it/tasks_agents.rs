//! Agents of plugins at work for tasks.

use std::sync::Arc;

use loggia_domain::{BoxFuture, GuestError, GuestFinder, Guests, JsonText, Model, TaskAgents, Workspace};
use loggia_engine::tasks::{StartTask, StepRequest, TaskPlace};
use loggia_tests::{PretendProvider, item};

use crate::guest_agents_plugin::Hosted;
use crate::tasks::{alice, in_repository, plan, request};
use crate::world;

fn by_helper() -> TaskAgents {
    TaskAgents { any: Some("helper".to_owned()), ..TaskAgents::default() }
}

#[tokio::test]
async fn a_plugin_is_told_the_task_and_the_step_it_works_for() {
    let hosted = Hosted::new();
    let world = in_repository().guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let view = tasks.start(StartTask { agents: by_helper(), ..request(&world) }, alice()).await.unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    let said = &view.task.specifications[0];
    assert!(said.starts_with(&format!("I was asked for {} in planning: ", view.id)), "{said}");
    hosted.plugins.stop().await;
}

/// Guests of a workspace whose own files name who does tasks.
struct Naming(Arc<dyn GuestFinder>);

impl GuestFinder for Naming {
    fn guests(&self, workspace: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        let guests = self.0.guests(workspace);
        Box::pin(async { Ok(Guests { named: by_helper(), ..guests.await? }) })
    }
}

#[tokio::test]
async fn whom_the_workspaces_own_files_name_does_the_steps_that_nobody_else_is_named_for() {
    let hosted = Hosted::new();
    let guests = Arc::new(Naming(hosted.finder()));
    let script = "[[reply]]\nparts = [{ text = \"# By the model\" }]\n";
    let world = in_repository().guests(guests).start(script).await;
    let tasks = world.engine.tasks();
    let view = tasks.start(request(&world), alice()).await.unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    let said = &view.task.specifications[0];
    assert!(said.starts_with(&format!("I was asked for {} in planning: ", view.id)), "{said}");
    let request = StepRequest { agent: Some(world.model.info().name.0.clone()) };
    let view = tasks.plan(view.id, request, alice()).await.unwrap().wait().await.unwrap();
    assert_eq!(view.task.specifications[1].trim(), "# By the model", "a flag counts more");
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_plugin_of_a_tasks_home_works_in_the_tree_of_its_own() {
    let hosted = Hosted::new();
    let world = in_repository().guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let tree = StartTask { place: TaskPlace::Tree, agents: by_helper(), ..request(&world) };
    let view = tasks.start(tree, alice()).await.unwrap();
    // It is found neither by choosing it nor by beginning its run in the tree, where no plugin is.
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!(view.task.specifications.len(), 1, "{:?}", view.task.trouble);
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn variables_of_a_tasks_file_reach_the_agent_where_the_workspace_is_trusted() {
    let hosted = Hosted::new();
    let mut own = item("42", "Fix login bug", "");
    own.more = JsonText(r#"{"agent":"helper","agent_env":{"RUN_KEY":"k1"}}"#.to_owned());
    let provider = Arc::new(PretendProvider::new("file").item(own));
    let world = world().source(provider).guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(here, alice()).await.unwrap();
    let expected = "`agent_env` is left out while the workspace is not trusted; `loggia trust` changes that";
    assert_eq!(view.task.notes[0].text, expected);
    let said = |number: usize, view: &loggia_engine::tasks::TaskView| {
        view.task.specifications[number].split(':').next().unwrap_or_default().to_owned()
    };
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!(said(0, &view), format!("I was asked for {} in planning", view.id));
    world.engine.set_trusted(world.root(), true).unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!(said(1, &view), format!("I was asked for {} in planning with k1", view.id));
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_key_among_a_tasks_variables_is_there_when_the_agent_is_asked_whether_it_can_work() {
    let hosted = Hosted::new();
    std::fs::write(hosted.file("needs-key"), "").unwrap();
    let mut own = item("42", "Fix login bug", "");
    own.more = JsonText(r#"{"agent":"helper","agent_env":{"RUN_KEY":"k1"}}"#.to_owned());
    let provider = Arc::new(PretendProvider::new("file").item(own));
    let world = world().source(provider).guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(here, alice()).await.unwrap();
    let refused = plan(&tasks, view.id).await.unwrap_err().to_string();
    assert!(refused.contains("there is no key"), "{refused}");
    world.engine.set_trusted(world.root(), true).unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    assert!(view.task.specifications[0].contains("in planning with k1"), "{:?}", view.task.specifications);
    hosted.plugins.stop().await;
}
