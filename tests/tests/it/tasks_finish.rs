//! The end of a task: quality, merging, proposing, and doing it all unattended.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CapturedOutput, CommandEnd, CommandExit, CommandSpec, Decision, Delivery, OutputSink,
    ProviderAbility, Rule, RunError, Runner, SandboxLevel,
};
use loggia_engine::tasks::{AutoTask, FinishHow, FinishTask, Quality, TaskError, TaskPhase};
use loggia_tests::{PretendProvider, World, item, last_prompt};

use crate::tasks::{alice, finish, implement, in_repository, plan, provider, request, says, start, writes};
use crate::world;

/// Runs `make`: answers each run of the target from a list.
#[derive(Debug, Default)]
struct Make {
    ends: Mutex<Vec<(i32, &'static str)>>,
    lines: Mutex<Vec<String>>,
}

impl Make {
    fn new(ends: &[(i32, &'static str)]) -> Arc<Self> {
        Arc::new(Self { ends: Mutex::new(ends.to_vec()), lines: Mutex::default() })
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

impl Runner for Make {
    fn run(&self, command: CommandSpec, _: OutputSink) -> BoxFuture<'static, Result<CommandEnd, RunError>> {
        self.lines.lock().unwrap().push(command.line.clone());
        let (code, text) = match command.line.starts_with("make -q") {
            true => (if command.line.ends_with("quality") { 1 } else { 2 }, ""),
            false => self.ends.lock().unwrap().remove(0),
        };
        let stdout = CapturedOutput { head: text.to_owned(), ..CapturedOutput::default() };
        Box::pin(std::future::ready(Ok(CommandEnd {
            exit: CommandExit::Code(code),
            stdout,
            stderr: CapturedOutput::default(),
            sandbox: SandboxLevel::Confined,
            took: Duration::ZERO,
        })))
    }
}

async fn with_makefile(make: &Arc<Make>, script: &str) -> World {
    in_repository().file("Makefile", "quality:\n\ttrue\n").runner(Arc::clone(make) as _).start(script).await
}

#[tokio::test]
async fn work_that_does_not_pass_is_not_merged() {
    let make = Make::new(&[(1, "1 test failed\n"), (0, "")]);
    let world = with_makefile(&make, &[says("# Plan"), writes("a.txt", "new\n")].concat()).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let merge = || FinishHow::Merge { squash: true };
    let failed = finish(&tasks, view.id, merge()).await.unwrap_err();
    assert_eq!(failed.to_string(), "done failed: it does not pass `make quality`:\n1 test failed");
    assert_eq!(tasks.status(view.id).await.unwrap().task.phase, TaskPhase::Idle);
    assert_eq!(world.repository().branches()[1], "main: first");
    let bad = FinishTask { quality: Quality::Target("x; rm -rf /".to_owned()), ..FinishTask::new(merge()) };
    let refused = tasks.finish(view.id, bad, alice()).await.unwrap_err();
    assert_eq!(refused.to_string(), "`x; rm -rf /` is no target: a target is one plain word");
    let other =
        FinishTask { quality: Quality::Target("lint".to_owned()), ..FinishTask::new(FinishHow::Keep) };
    let done = tasks.finish(view.id, other, alice()).await.unwrap().wait().await.unwrap();
    assert_eq!(done.task.phase, TaskPhase::Done, "a target that is not there is not missed");
    assert_eq!(make.lines(), ["make -q quality", "make quality", "make -q lint"]);
}

#[tokio::test]
async fn what_the_policy_denies_is_not_run_to_check_the_work() {
    let make = Make::new(&[]);
    let world = with_makefile(&make, &says("# Plan")).await;
    world.change_policy(|policy| {
        policy.rules.push(Rule {
            tool: None,
            path: None,
            command: Some("make *".to_owned()),
            decision: Decision::Deny,
            risk: None,
            reason: None,
            examples: Vec::new(),
        });
    });
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    let failed = finish(&tasks, view.id, FinishHow::Keep).await.unwrap_err();
    assert!(failed.to_string().contains("`make -q quality` may not run"), "{failed}");
    assert!(make.lines().is_empty());
}

#[tokio::test]
async fn a_provider_that_can_takes_a_proposal() {
    let mut provider = provider();
    provider.abilities = vec![ProviderAbility::Propose, ProviderAbility::Comment];
    let provider = Arc::new(provider);
    let script = [says("# Plan"), writes("a.txt", "new\n")].concat();
    let world = world().in_repository().source(provider.clone()).start(&script).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    implement(&tasks, view.id).await.unwrap();
    let propose = FinishHow::Propose { title: None, description: None, draft: false };
    let done = finish(&tasks, view.id, propose).await.unwrap();
    let Some(Delivery::Proposed { location, .. }) = &done.task.delivery else { panic!("{:?}", done.task) };
    assert_eq!(location.as_deref(), Some("https://example.org/7"));
    let log = provider.log();
    assert!(
        log.ends_with(
            "propose issue/42--fix-login-bug into main\ncomment 42: Proposed: https://example.org/7"
        )
    );
    assert!(world.repository().log().ends_with("push issue/42--fix-login-bug"));
}

#[tokio::test]
async fn a_provider_that_cannot_is_not_sent_anything() {
    let world = in_repository().start(&says("# Plan")).await;
    let tasks = world.engine.tasks();
    let view = start(&world).await;
    plan(&tasks, view.id).await.unwrap();
    let propose = FinishHow::Propose { title: None, description: None, draft: false };
    let refused = finish(&tasks, view.id, propose).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider `file` cannot take proposals");
    assert!(!world.repository().log().contains("push"));
    let unplanned = in_repository().start("").await;
    let view = start(&unplanned).await;
    let refused = finish(&unplanned.engine.tasks(), view.id, FinishHow::Keep).await.unwrap_err();
    assert_eq!(refused.to_string(), "the task has no specification yet: plan it first");
}

#[tokio::test]
async fn an_unattended_task_tries_until_it_passes() {
    let make = Make::new(&[(1, "a.txt is wrong\n"), (0, "")]);
    let asks = says("I would do it.\n\nQUESTION: really?");
    let script = [asks, writes("a.txt", "wrong\n"), writes("a.txt", "right\n")].concat();
    let world = with_makefile(&make, &script).await;
    let tasks = world.engine.tasks();
    let finish = FinishTask::new(FinishHow::Merge { squash: true });
    let auto = AutoTask { start: request(&world), finish, tries: None };
    let done = tasks.auto(auto, alice()).await.unwrap().wait().await.unwrap();
    assert_eq!(done.task.phase, TaskPhase::Done, "nobody is asked");
    assert_eq!((world.read("a.txt"), done.task.specifications.len()), ("right\n".to_owned(), 1));
    let prompt = last_prompt(&world.model);
    assert!(prompt.contains("`make quality` failed:\n\na.txt is wrong"), "{prompt}");
}

#[tokio::test]
async fn an_unattended_task_gives_up_after_some_tries() {
    let make = Make::new(&[(1, "wrong"), (1, "wrong"), (0, "")]);
    let script = [says("# Plan"), writes("a.txt", "1\n"), writes("a.txt", "2\n")].concat();
    let world = with_makefile(&make, &script).await;
    let tasks = world.engine.tasks();
    let auto = || {
        let finish = FinishTask::new(FinishHow::Merge { squash: true });
        AutoTask { start: request(&world), finish, tries: Some(2) }
    };
    let failed = tasks.auto(auto(), alice()).await.unwrap().wait().await.unwrap_err();
    assert_eq!(failed.to_string(), "quality failed: it does not pass `make quality` after 2 tries:\nwrong");
    assert!(matches!(failed, TaskError::Failed { .. }));
    // The same command goes on with the same task.
    let done = tasks.auto(auto(), alice()).await.unwrap().wait().await.unwrap();
    assert_eq!((done.task.phase.clone(), tasks.list(None).await.unwrap().len()), (TaskPhase::Done, 1));
}

#[tokio::test]
async fn items_are_listed_by_who_can() {
    let mut listing = PretendProvider::new("jira").item(item("1", "One", ""));
    listing.abilities = vec![ProviderAbility::List];
    let world = in_repository().source(Arc::new(listing)).start("").await;
    let (tasks, workspace) = (world.engine.tasks(), world.workspace.id);
    let query = || loggia_domain::WorkQuery { limit: 10, ..Default::default() };
    let page = tasks.browse(workspace, "jira", query()).await.unwrap();
    assert_eq!(page.items[0].title, "One");
    let refused = tasks.browse(workspace, "file", query()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider `file` cannot list items");
    let unknown = tasks.browse(workspace, "gone", query()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "nobody knows `gone:`; there are `file:`, `jira:`");
}
