//! What tasks are held to: somebody who can do the work, a tree that is theirs, changes that were let in, and reading
//! where only reading is wanted.

use std::sync::Arc;

use loggia_domain::{
    ApprovalScope, BarredAgent, BoxFuture, Guests, Model, ModelCatalogue, ModelError, ModelErrorKind,
    ModelInfo, ModelName, ModelRequest, Preset, ReplyStream, Role, TaskAgents,
};
use loggia_engine::tasks::{
    AutoTask, FinishHow, FinishTask, StartTask, StepRequest, TaskError, TaskPhase, TaskView,
};
use loggia_engine::{AgentError, Tasks};
use loggia_models::SearchingCatalogue;
use loggia_tests::{Act, FakeAgent, FakeGuests, PretendGuests, World};

use crate::tasks::{
    alice, finish, implement, in_repository, plan, request, review, says, start, story, writes,
};

/// A reply that calls a tool.
fn calls(tool: &str, arguments: &str) -> String {
    format!("[[reply]]\nparts = [{{ call = {{ tool = {tool:?}, arguments = {arguments} }} }}]\n")
}

/// Everything that the model was told last.
fn all_told(world: &World) -> String {
    format!("{:?}", world.model.requests().last().unwrap().messages)
}

fn by(agent: &str) -> TaskAgents {
    TaskAgents { any: Some(agent.to_owned()), ..TaskAgents::default() }
}

/// A model that turns out to have no key when it is to reply.
struct Keyless;

impl Model for Keyless {
    fn info(&self) -> ModelInfo {
        ModelInfo::new(ModelName("vendor:large".to_owned()), 100_000, false)
    }

    fn reply(&self, _: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let error = ModelError::new(ModelErrorKind::NotConfigured, "`vendor` has no key");
        Box::pin(std::future::ready(Err(error)))
    }
}

impl ModelCatalogue for Keyless {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Self))
    }
}

#[tokio::test]
async fn without_a_model_no_step_begins_and_the_task_stays_where_it_was() {
    let world = in_repository().models(Arc::new(SearchingCatalogue::alone())).start("").await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let refused = plan(&tasks, view.id).await.unwrap_err();
    assert!(matches!(refused, TaskError::NoModel(_)), "{refused}");
    let hint = refused.hint().unwrap();
    assert!(hint.contains("loggia model use") && hint.contains("--agent plugin:NAME"), "{hint}");
    let finish = FinishTask::new(FinishHow::Merge { squash: false });
    let auto = AutoTask { start: request(&world), finish, tries: None };
    let refused = tasks.auto(auto, alice()).await.unwrap().wait().await.unwrap_err();
    assert!(matches!(refused, TaskError::NoModel(_)), "{refused}");
    let now = tasks.status(view.id).await.unwrap();
    assert_eq!((now.task.phase.clone(), now.task.open.is_none()), (TaskPhase::Idle, true));
    assert_eq!((now.task.specifications.len(), now.task.checkpoints.len()), (0, 1));
    assert!(!story(&world, &now).await.contains("planning"), "{}", story(&world, &now).await);
}

#[tokio::test]
async fn a_search_does_not_stand_in_for_a_model_that_cannot_reply() {
    let models = SearchingCatalogue::behind(Arc::new(Keyless));
    let world = in_repository().models(Arc::new(models)).start("").await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let failed = plan(&tasks, view.id).await.unwrap_err();
    assert_eq!(failed.to_string(), "planning failed: `vendor` has no key");
    let now = tasks.status(view.id).await.unwrap();
    assert_eq!((now.task.phase.clone(), now.task.specifications.len()), (TaskPhase::Idle, 0));
}

#[tokio::test]
async fn an_agent_that_may_not_run_is_told_with_what_lets_it_and_nothing_is_cut_off() {
    let why = "its workspace is not trusted; `loggia trust` lets it".to_owned();
    let barred = vec![BarredAgent { name: "own".to_owned(), why }];
    let guests = Arc::new(PretendGuests(Guests { barred, ..Guests::default() }));
    let world = in_repository().guests(guests).start(&says("# Plan")).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    for agent in ["own", "plugin:own"] {
        let request = StepRequest { agent: Some(agent.to_owned()) };
        let refused = tasks.plan(view.id, request, alice()).await.unwrap_err();
        assert!(matches!(refused, TaskError::Agent(AgentError::Barred { .. })), "{refused}");
        assert!(refused.to_string().contains("`loggia trust` lets it"), "{refused}");
    }
    assert!(!tasks.status(view.id).await.unwrap().is_interrupted());
    assert_eq!(plan(&tasks, view.id).await.unwrap().task.specifications.len(), 1);
}

fn mine(world: &World) -> std::path::PathBuf {
    world.root().join("mine.txt")
}

async fn take(tasks: &Tasks, view: &TaskView, step: &str) -> Result<TaskView, TaskError> {
    match step {
        "plan" => plan(tasks, view.id).await,
        "implement" => implement(tasks, view.id).await,
        _ => review(tasks, view.id).await,
    }
}

fn check_not_committed(refused: Result<TaskView, TaskError>, expected: &str) {
    let refused = refused.unwrap_err();
    let TaskError::NotCommitted(paths) = &refused else { panic!("{refused}") };
    assert_eq!(paths, &[expected]);
    assert!(refused.to_string().contains(&format!("`{expected}`")), "{refused}");
    assert!(refused.hint().unwrap().contains("git stash -u"));
}

#[tokio::test]
async fn what_somebody_else_works_on_is_never_committed_with_a_step() {
    let script = [says("# Plan"), writes("a.txt", "new\n"), says("Fine.")].concat();
    let world = in_repository().start(&script).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    for step in ["plan", "implement", "review"] {
        std::fs::write(mine(&world), "mine").unwrap();
        let before = world.model.requests().len();
        check_not_committed(take(&tasks, &view, step).await, "mine.txt");
        assert_eq!(world.model.requests().len(), before, "no agent was asked");
        assert_eq!(tasks.status(view.id).await.unwrap().task.phase, TaskPhase::Idle);
        std::fs::remove_file(mine(&world)).unwrap();
        take(&tasks, &view, step).await.unwrap();
    }
    std::fs::write(mine(&world), "mine").unwrap();
    check_not_committed(finish(&tasks, view.id, FinishHow::Keep).await, "mine.txt");
    std::fs::remove_file(mine(&world)).unwrap();
    finish(&tasks, view.id, FinishHow::Keep).await.unwrap();
}

#[tokio::test]
async fn what_a_step_that_failed_left_is_the_tasks_own_while_nobody_touches_it() {
    let breaks = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no more\" } }]\n";
    let write = calls("write_file", r#"{ path = "a.txt", content = "half\n" }"#);
    let script = [says("# Plan"), write, breaks.to_owned(), writes("b.txt", "rest\n")].concat();
    let world = in_repository().start(&script).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap_err();
    assert_eq!(world.read("a.txt"), "half\n");
    // Somebody went on with it by hand: it is theirs now.
    std::fs::write(world.root().join("a.txt"), "by hand\n").unwrap();
    check_not_committed(implement(&tasks, view.id).await, "a.txt");
    std::fs::write(world.root().join("a.txt"), "half\n").unwrap();
    let view = implement(&tasks, view.id).await.unwrap();
    assert_eq!((view.task.position.as_str(), view.task.checkpoints.len()), ("implementing", 3));
    assert_eq!(view.task.trouble, None);
}

#[tokio::test]
async fn work_of_which_everything_was_refused_is_not_done() {
    let script = [says("# Plan"), writes("a.txt", "new\n"), writes("a.txt", "new\n")].concat();
    let world = in_repository().start(&script).await;
    let tasks = world.engine.tasks();
    let asks = StartTask { preset: Some(Preset::Ask), ..request(&world) };
    let view = tasks.start(asks, alice()).await.unwrap();
    plan(&tasks, view.id).await.unwrap();
    let mut bob = world.join(view.session, "bob", Role::Drive, Default::default()).await;
    let run = tasks.implement(view.id, StepRequest::default(), alice()).await.unwrap();
    let asked = bob.until_asked().await;
    bob.decide(asked, ApprovalScope::None).await.unwrap();
    let refused = run.wait().await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "nothing was changed, since all that was to be changed or run was refused: `a.txt` (it was refused)"
    );
    assert!(refused.hint().unwrap().contains("loggia task note"));
    let now = tasks.status(view.id).await.unwrap();
    assert_eq!((now.task.position.as_str(), now.task.checkpoints.len()), ("planning", 2));
    assert!(now.task.trouble.as_ref().unwrap().contains("`a.txt`"), "{:?}", now.task.trouble);
    // The same step, allowed this time.
    let run = tasks.implement(view.id, StepRequest::default(), alice()).await.unwrap();
    let asked = bob.until_asked().await;
    bob.decide(asked, ApprovalScope::All).await.unwrap();
    assert_eq!(run.wait().await.unwrap().task.position, "implementing");
    assert_eq!(world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn an_agents_changes_that_were_refused_are_no_work_either() {
    let run = vec![Act::text("I wrote it."), Act::file("a.txt", Some("new\n"))];
    let agent = FakeAgent::new("helper", vec![vec![Act::text("# Plan")], run]);
    let world = in_repository().guests(Arc::new(FakeGuests(vec![agent]))).start("").await;
    let tasks = world.engine.tasks();
    let asks = StartTask { preset: Some(Preset::Ask), agents: by("helper"), ..request(&world) };
    let view = tasks.start(asks, alice()).await.unwrap();
    plan(&tasks, view.id).await.unwrap();
    let mut bob = world.join(view.session, "bob", Role::Drive, Default::default()).await;
    let run = tasks.implement(view.id, StepRequest::default(), alice()).await.unwrap();
    let asked = bob.until_asked().await;
    bob.decide(asked, ApprovalScope::None).await.unwrap();
    let refused = run.wait().await.unwrap_err();
    assert!(matches!(&refused, TaskError::AllRefused(what) if what.len() == 1), "{refused}");
}

#[tokio::test]
async fn whoever_plans_or_reviews_changes_nothing_and_is_told_so() {
    let write = calls("write_file", r#"{ path = "a.txt", content = "sneaky\n" }"#);
    let command = calls("run_command", r#"{ command = "touch b.txt" }"#);
    let script = [
        [write.clone(), command, says("# Plan")].concat(),
        writes("a.txt", "new\n"),
        [write, says("Fine.")].concat(),
    ];
    let world = in_repository().start(&script.concat()).await;
    let tasks = world.engine.tasks();
    let free = StartTask { preset: Some(Preset::Full), ..request(&world) };
    let view = tasks.start(free, alice()).await.unwrap();
    let planned = plan(&tasks, view.id).await.unwrap();
    assert_eq!(planned.task.specifications.len(), 1);
    assert_eq!(world.read("a.txt"), "old\n");
    assert!(!world.root().join("b.txt").exists());
    let prompt = all_told(&world);
    assert!(prompt.contains("This turn is for reading only"), "{prompt}");
    assert_eq!(prompt.matches("Not allowed: the turn was begun for reading only").count(), 2, "{prompt}");
    implement(&tasks, view.id).await.unwrap();
    assert_eq!(world.read("a.txt"), "new\n");
    assert!(!all_told(&world).contains("This turn is for reading only"));
    let reviewed = review(&tasks, view.id).await.unwrap();
    assert_eq!((world.read("a.txt"), reviewed.task.reviews.len()), ("new\n".to_owned(), 1));
}

#[tokio::test]
async fn an_agent_that_plans_is_offered_what_reads_and_its_files_are_not_written() {
    let run = vec![Act::text("# Plan"), Act::file("a.txt", Some("sneaky\n"))];
    let agent = FakeAgent::new("helper", vec![run]);
    let world = in_repository().guests(Arc::new(FakeGuests(vec![Arc::clone(&agent)]))).start("").await;
    let tasks = world.engine.tasks();
    let free = StartTask { preset: Some(Preset::Full), agents: by("helper"), ..request(&world) };
    let view = tasks.start(free, alice()).await.unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!((&*view.task.specifications[0], world.read("a.txt").as_str()), ("# Plan", "old\n"));
    let asked = &agent.requests()[0];
    assert!(asked.text.contains("This turn is for reading only"), "{}", asked.text);
    let mut tools: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["list_directory", "read_file", "search_text"]);
}
