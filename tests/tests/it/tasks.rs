//! Tasks from a reference to a finished change: phases, files, journal and repository together.

use std::sync::Arc;

use loggia_domain::{Actor, ClientId, Door, EventBody, JsonText, Preset, ProviderAbility, Role, Seq, TaskId};
use loggia_engine::tasks::{
    AbandonTask, FinishHow, FinishTask, StartTask, StepRequest, TaskError, TaskPhase, TaskPlace, TaskView,
};
use loggia_engine::{Tasks, task_line};
use loggia_tests::{PretendProvider, World, WorldBuilder, item, last_prompt};

use crate::world;

/// A reply in words.
pub(crate) fn says(text: &str) -> String {
    format!("[[reply]]\nparts = [{{ text = {text:?} }}]\n")
}

/// A turn that writes a file and says so.
pub(crate) fn writes(path: &str, content: &str) -> String {
    let arguments = format!("{{ path = {path:?}, content = {content:?} }}");
    let call = format!("{{ call = {{ tool = \"write_file\", arguments = {arguments} }} }}");
    format!("[[reply]]\nparts = [{call}]\n{}", says(&format!("wrote {path}")))
}

pub(crate) fn who(role: Role) -> Actor {
    Actor::Client { id: ClientId::from_bytes([7; 16]), name: "alice".to_owned(), door: Door::Inside, role }
}

pub(crate) fn alice() -> Actor {
    who(Role::Drive)
}

/// A provider with one item, `42`.
pub(crate) fn provider() -> PretendProvider {
    PretendProvider::new("file").item(item("42", "Fix login bug", "It says 500."))
}

/// A world in a repository, with a provider.
pub(crate) fn in_repository() -> WorldBuilder {
    world().file("a.txt", "old\n").in_repository().source(Arc::new(provider()))
}

pub(crate) fn request(world: &World) -> StartTask {
    StartTask { preset: Some(Preset::AutoEdit), ..StartTask::new(world.workspace.id, "file:42") }
}

pub(crate) async fn start(world: &World) -> TaskView {
    world.engine.tasks().start(request(world), alice()).await.unwrap()
}

pub(crate) async fn plan(tasks: &Tasks, id: TaskId) -> Result<TaskView, TaskError> {
    tasks.plan(id, StepRequest::default(), alice()).await?.wait().await
}

pub(crate) async fn implement(tasks: &Tasks, id: TaskId) -> Result<TaskView, TaskError> {
    tasks.implement(id, StepRequest::default(), alice()).await?.wait().await
}

pub(crate) async fn review(tasks: &Tasks, id: TaskId) -> Result<TaskView, TaskError> {
    tasks.review(id, StepRequest::default(), alice()).await?.wait().await
}

pub(crate) async fn finish(tasks: &Tasks, id: TaskId, how: FinishHow) -> Result<TaskView, TaskError> {
    tasks.finish(id, FinishTask::new(how), alice()).await?.wait().await
}

/// What happened to a task, one thing a line, with its name left out.
pub(crate) async fn story(world: &World, view: &TaskView) -> String {
    let events = world.engine.events(view.session, Seq(0), 10_000).await.unwrap();
    let lines = events.iter().filter_map(|event| match &event.body {
        EventBody::Task(event) => Some(task_line(event)),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").replace(&view.id.to_string(), "TASK")
}

#[tokio::test]
async fn a_task_goes_from_its_reference_to_a_merged_change() {
    let script = [says("# Summary\n\nChange a.txt."), writes("a.txt", "new\n"), says("It is fine.")].concat();
    let world = in_repository().start(&script).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    let view = start(&world).await;
    assert_eq!(view.task.phase, TaskPhase::Idle);
    assert_eq!(repository.head(world.root()).as_deref(), Some("issue/42--fix-login-bug"));
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    review(&tasks, view.id).await.unwrap();
    let prompt = last_prompt(&world.model);
    assert!(prompt.contains("+++ a.txt\n+new"), "a review sees what changed: {prompt}");
    let done = finish(&tasks, view.id, FinishHow::Merge { squash: true }).await.unwrap();
    assert_eq!(done.task.phase, TaskPhase::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    insta::assert_snapshot!(story(&world, &view).await, @r"
    started by alice: Fix login bug (file:42) on issue/42--fix-login-bug
    checkpoint 1 after start
    start is done
    enters planning, says alice
    works on planning
    has specification 1
    checkpoint 2 after planning
    planning is done
    enters implementing, says alice
    works on implementing
    checkpoint 3 after implementing
    implementing is done
    enters reviewing, says alice
    works on reviewing
    has review 1
    checkpoint 4 after reviewing
    reviewing is done
    enters done, says alice
    there is no quality to pass
    checkpoint 5 after done
    was merged into main
    finished by alice
    ");
    insta::assert_snapshot!(repository.log(), @r"
    exclude .loggia/tasks/
    exclude .loggia/plugins/
    branch issue/42--fix-login-bug from main
    checkpoint [42] checkpoint 1: start
    checkpoint [42] checkpoint 2: planning
    checkpoint [42] checkpoint 3: implementing
    checkpoint [42] checkpoint 4: reviewing
    checkpoint [42] checkpoint 5: done
    squash issue/42--fix-login-bug into main
    ");
    assert!(!repository.log().contains("push"), "nothing is sent away by itself");
}

#[tokio::test]
async fn people_can_read_what_a_task_is() {
    let script = [says("# Summary\n\nChange a.txt."), writes("a.txt", "new\n")].concat();
    let world = in_repository().start(&script).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    tasks.note(view.id, "Mind the umlauts.".to_owned(), alice()).await.unwrap();
    plan(&tasks, view.id).await.unwrap();
    let prompt = last_prompt(&world.model);
    assert!(prompt.contains("Fix login bug") && prompt.contains("It says 500."), "{prompt}");
    assert!(prompt.contains("Mind the umlauts."), "{prompt}");
    implement(&tasks, view.id).await.unwrap();
    let prompt = last_prompt(&world.model);
    assert!(prompt.contains("## Specification\n\n# Summary\n\nChange a.txt."), "{prompt}");
    let file = |name: &str| world.read(&format!(".loggia/tasks/{}/{name}", view.id));
    assert_eq!(file("specifications/specification-1.md"), "# Summary\n\nChange a.txt.\n");
    assert_eq!(file("source/42.md"), "# Fix login bug\n\nIt says 500.\n");
    assert!(file("notes.md").contains("[idle] alice\n\nMind the umlauts.\n"));
    assert!(file("plan.md").contains("- branch: issue/42--fix-login-bug (from main)\n"));
    assert!(file("costs.toml").contains("[steps.\"implementing\"]\ncalls = 2\n"));
    // The journal is the truth: they can be written again.
    let specification = format!(".loggia/tasks/{}/specifications/specification-1.md", view.id);
    std::fs::remove_dir_all(world.root().join(".loggia")).unwrap();
    tasks.write_files(view.id).await.unwrap();
    assert_eq!(world.read(&specification), "# Summary\n\nChange a.txt.\n");
}

#[tokio::test]
async fn a_plan_that_asks_waits_for_an_answer() {
    let asks = says("I looked around.\n\nQUESTION: Which database?\n- SQLite\n- PostgreSQL");
    let world = in_repository().start(&[asks, says("# Plan with SQLite")].concat()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let waiting = plan(&tasks, view.id).await.unwrap();
    assert_eq!(waiting.task.phase, TaskPhase::Waiting);
    let question = waiting.task.question.clone().unwrap();
    assert_eq!((question.text.as_str(), question.options.len()), ("Which database?", 2));
    let refused = implement(&tasks, view.id).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a task that is waiting cannot implement: answer its question, or plan again"
    );
    let answered = tasks.answer(view.id, "SQLite".to_owned(), alice()).await.unwrap();
    assert_eq!(answered.task.phase, TaskPhase::Idle);
    let again = tasks.answer(view.id, "PostgreSQL".to_owned(), alice()).await;
    assert!(matches!(again, Err(TaskError::Refused(_))), "the first answer counts: {again:?}");
    let planned = plan(&tasks, view.id).await.unwrap();
    let prompt = last_prompt(&world.model);
    assert!(prompt.contains("I looked around.") && prompt.contains("Which database?\n\nSQLite"), "{prompt}");
    assert_eq!(planned.task.specifications.len(), 1);
}

#[tokio::test]
async fn a_step_that_fails_can_be_taken_again() {
    let fails = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no such model\" } }]\n";
    let world = in_repository().start(&[fails.to_owned(), says("# Plan")].concat()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let failed = plan(&tasks, view.id).await.unwrap_err();
    assert!(matches!(failed, TaskError::Failed { .. }), "{failed}");
    let view = tasks.status(view.id).await.unwrap();
    assert_eq!(view.task.phase, TaskPhase::Idle);
    assert!(view.task.trouble.as_ref().unwrap().contains("no such model"));
    let view = plan(&tasks, view.id).await.unwrap();
    assert_eq!((view.task.specifications.len(), view.task.trouble.clone()), (1, None));
}

#[tokio::test]
async fn a_cancelled_step_fails_the_task_until_it_goes_on() {
    let hangs = "[[reply]]\nparts = [{ text = \"half\" }, { hang = true }]\n";
    let world = in_repository().start(&[hangs.to_owned(), says("# Plan")].concat()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let run = tasks.plan(view.id, StepRequest::default(), alice()).await.unwrap();
    let mut watcher = world.join(view.session, "bob", Role::Drive, Default::default()).await;
    watcher.until_reply().await;
    let busy = tasks.plan(view.id, StepRequest::default(), alice()).await.unwrap_err();
    assert!(matches!(busy, TaskError::Busy(_)), "{busy}");
    assert!(tasks.status(view.id).await.unwrap().running);
    watcher.seat.intend(loggia_domain::Intent::Cancel { reason: None }).await.unwrap();
    assert!(run.wait().await.is_err());
    assert_eq!(tasks.status(view.id).await.unwrap().task.phase, TaskPhase::Failed);
    assert_eq!(plan(&tasks, view.id).await.unwrap().task.phase, TaskPhase::Idle);
}

#[tokio::test]
async fn bad_beginnings_leave_nothing_behind() {
    let world = in_repository().start("").await;
    let tasks = world.engine.tasks();
    let begin =
        |reference: &str, place| StartTask { reference: reference.to_owned(), place, ..request(&world) };
    let fails = async |start: StartTask| tasks.start(start, alice()).await.unwrap_err().to_string();
    assert_eq!(fails(begin("jira:1", TaskPlace::Branch)).await, "nobody knows `jira:`; there are `file:`");
    assert_eq!(fails(begin("file:43", TaskPlace::Branch)).await, "there is no item `43`");
    assert_eq!(fails(begin("  ", TaskPlace::Branch)).await, "a reference has 1 to 4096 bytes");
    std::fs::write(world.root().join("mine.txt"), "mine").unwrap();
    assert_eq!(
        fails(begin("file:42", TaskPlace::Branch)).await,
        "the working tree has changes that are not committed (`mine.txt`): commit or stash them first"
    );
    std::fs::remove_file(world.root().join("mine.txt")).unwrap();
    let watch = tasks.start(request(&world), who(Role::Watch)).await.unwrap_err();
    assert_eq!(watch.to_string(), "this needs the role `drive`");
    assert_eq!(tasks.list(None).await.unwrap().len(), 0);
    let first = start(&world).await;
    let taken = fails(request(&world)).await;
    assert!(
        taken.starts_with(&format!("the task `{}` (Fix login bug) is under way here", first.id)),
        "{taken}"
    );
    let tree = StartTask { place: TaskPlace::Tree, ..request(&world) };
    assert_eq!(
        fails(tree).await,
        "the branch `issue/42--fix-login-bug` is there already: remove it, or give the task another key, slug or pattern"
    );
    assert_eq!(tasks.list(None).await.unwrap().len(), 1);
    let unknown = tasks.status("00000000".parse().unwrap()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no task `00000000`");
}

#[tokio::test]
async fn without_a_scheme_the_default_provider_brings_the_item() {
    let claiming = |name, priority| {
        let mut provider = PretendProvider::new(name);
        (provider.claims, provider.priority) = (Some("https:"), priority);
        provider
    };
    let url = Arc::new(claiming("link", 30).item(item("//e.com/7", "A page", "")));
    let low = Arc::new(claiming("low", 10));
    let world = in_repository().source(low.clone()).source(url.clone()).start("").await;
    let tasks = world.engine.tasks();
    let here = |reference: &str| StartTask {
        reference: reference.to_owned(),
        place: TaskPlace::Here,
        ..request(&world)
    };
    let view = tasks.start(here("42"), alice()).await.unwrap();
    assert_eq!((view.task.start.provider.as_str(), view.task.start.reference.as_str()), ("file", "42"));
    tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap();
    // A scheme that nobody has, but somebody claims.
    let view = tasks.start(here("https://e.com/7"), alice()).await.unwrap();
    assert_eq!(view.task.start.provider, "link");
    assert_eq!(low.log(), "claims 42\nclaims https://e.com/7", "the one with the highest priority counts");
}

#[tokio::test]
async fn a_snapshot_that_fails_gives_way_to_title_and_description() {
    let mut provider = provider();
    provider.abilities = vec![ProviderAbility::Snapshot];
    let world = world().source(Arc::new(provider)).start("").await;
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = world.engine.tasks().start(here, alice()).await.unwrap();
    assert_eq!(view.task.start.source, "# Fix login bug\n\nIt says 500.\n");
    assert_eq!(view.task.notes[0].text, "there is no snapshot: the place does not answer");
}

#[tokio::test]
async fn steps_are_done_by_the_agents_that_were_chosen() {
    let script = [says("# Plan"), says("# Plan 2")].concat();
    let mut own = item("42", "Fix login bug", "");
    own.more = JsonText(r#"{"agent_steps":{"planning":"other:model"}}"#.to_owned());
    let provider = PretendProvider::new("file").item(own);
    let world = world().source(Arc::new(provider)).model("other:model").start(&script).await;
    let tasks = world.engine.tasks();
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(here, alice()).await.unwrap();
    // The other model has nothing to say, and so it is seen to have been asked.
    let failed = plan(&tasks, view.id).await.unwrap_err();
    assert!(matches!(failed, TaskError::Failed { .. }), "{failed}");
    let ours = world.models.as_ref();
    let name = loggia_domain::ModelCatalogue::find(ours, None).unwrap().info().name.0;
    let run = tasks.plan(view.id, StepRequest { agent: Some(name) }, alice()).await.unwrap();
    assert_eq!(
        run.wait().await.unwrap().task.specifications.len(),
        1,
        "what is said with the step counts first"
    );
}

#[tokio::test]
async fn a_task_that_is_given_up_leaves_nothing() {
    let world = in_repository().start(&writes("a.txt", "new\n")).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    let view = start(&world).await;
    assert!(world.root().join(format!(".loggia/tasks/{}/plan.md", view.id)).exists());
    std::fs::write(world.root().join("mine.txt"), "mine").unwrap();
    let refused = tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap_err();
    assert!(refused.to_string().contains("mine.txt"), "what no commit holds is not lost: {refused}");
    std::fs::remove_file(world.root().join("mine.txt")).unwrap();
    let view = tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap();
    assert_eq!(view.task.phase, TaskPhase::Abandoned);
    assert_eq!((repository.branches().join(", "), repository.marks().len()), ("main: first".to_owned(), 0));
    assert!(!world.root().join(".loggia/tasks").exists());
    let over = plan(&tasks, view.id).await.unwrap_err();
    assert_eq!(over.to_string(), "a task that is abandoned cannot plan: it is over");
}

#[tokio::test]
async fn a_task_in_a_tree_of_its_own_works_there() {
    let script = [says("# Plan"), writes("a.txt", "new\n")].concat();
    let world = in_repository().start(&script).await;
    let (tasks, repository) = (world.engine.tasks(), world.repository());
    world.engine.set_trusted(world.root(), true).unwrap();
    let tree = StartTask { place: TaskPlace::Tree, ..request(&world) };
    let view = tasks.start(tree, alice()).await.unwrap();
    let tree = view.task.start.branch.as_ref().unwrap().tree.clone().unwrap();
    assert!(tree.ends_with(format!("work-worktrees/{}", view.id)), "{}", tree.display());
    assert!(world.engine.is_trusted(&tree), "it is trusted as its home is");
    // What is not committed at home is in nobody's way.
    std::fs::write(world.root().join("mine.txt"), "mine").unwrap();
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    assert_eq!(std::fs::read_to_string(tree.join("a.txt")).unwrap(), "new\n");
    assert_eq!(world.read("a.txt"), "old\n");
    assert!(world.root().join(format!(".loggia/tasks/{}/plan.md", view.id)).exists());
    std::fs::remove_file(world.root().join("mine.txt")).unwrap();
    let how = FinishHow::Merge { squash: true };
    let request = FinishTask { drop_branch: true, ..FinishTask::new(how) };
    let done = tasks.finish(view.id, request, alice()).await.unwrap().wait().await.unwrap();
    assert_eq!(done.task.phase, TaskPhase::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    assert!(!tree.exists());
    assert_eq!(repository.branches(), ["main: [42] Fix login bug"]);
}

#[tokio::test]
async fn secrets_are_in_no_journal_and_no_file_of_a_task() {
    let source =
        PretendProvider::new("file").item(item("42", "Fix login bug", "The key is hunter2-hunter2."));
    let world = world().secret("hunter2-hunter2").source(Arc::new(source));
    let world = world.start(&says("Use hunter2-hunter2.")).await;
    let tasks = world.engine.tasks();
    let here = StartTask { place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(here, alice()).await.unwrap();
    tasks.note(view.id, "mind hunter2-hunter2".to_owned(), alice()).await.unwrap();
    let fact = Some(JsonText("\"hunter2-hunter2\"".to_owned()));
    tasks.set_metadata(view.id, "key".to_owned(), fact, alice()).await.unwrap();
    let view = plan(&tasks, view.id).await.unwrap();
    assert!(!last_prompt(&world.model).contains("hunter2"));
    let told = format!("{:?}", world.journal(view.session).await);
    assert!(!told.contains("hunter2"), "{told}");
    for name in ["plan.md", "notes.md", "source/42.md", "specifications/specification-1.md"] {
        let text = world.read(&format!(".loggia/tasks/{}/{name}", view.id));
        assert!(!text.contains("hunter2"), "{name}: {text}");
    }
}

#[tokio::test]
async fn a_copy_of_a_tasks_session_is_no_task() {
    let world = in_repository().start(&says("# Plan")).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    let last = world.engine.state(view.session).await.unwrap().last_seq;
    let copy = world.engine.fork_session(view.session, last, alice()).await.unwrap();
    assert!(world.engine.state(copy).await.unwrap().task.is_none(), "two must not drive one branch");
    assert_eq!(tasks.list(None).await.unwrap().len(), 1);
    world.engine.delete_session(view.session).await.unwrap();
    assert_eq!(tasks.list(None).await.unwrap().len(), 0);
}

#[tokio::test]
async fn facts_and_notes_are_checked() {
    let world = in_repository().start("").await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    let set = |name: &str, value: &str| {
        tasks.set_metadata(view.id, name.to_owned(), Some(JsonText(value.to_owned())), alice())
    };
    let refused = set("ok", "yes").await.unwrap_err().to_string();
    assert!(
        refused.starts_with("the fact is no JSON") && refused.ends_with("words need quotes"),
        "{refused}"
    );
    assert_eq!(set(" ", "1").await.unwrap_err().to_string(), "a fact's name has 1 to 200 bytes");
    assert_eq!(set("ok", "true").await.unwrap().task.metadata.len(), 1);
    let taken_back = tasks.set_metadata(view.id, "ok".to_owned(), None, alice()).await.unwrap();
    assert!(taken_back.task.metadata.is_empty());
    let empty = tasks.note(view.id, " \n".to_owned(), alice()).await.unwrap_err();
    assert_eq!(empty.to_string(), "the note is empty");
    let long = tasks.note(view.id, "x".repeat(65_537), alice()).await.unwrap_err();
    assert_eq!(long.to_string(), "the note is longer than 65536 bytes");
    tasks.abandon(view.id, AbandonTask::default(), alice()).await.unwrap();
    let over = tasks.note(view.id, "too late".to_owned(), alice()).await.unwrap_err();
    assert_eq!(over.to_string(), format!("the task `{}` is over", view.id));
}
