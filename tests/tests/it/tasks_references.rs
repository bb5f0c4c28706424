//! Which provider brings the item of a reference, with plugins as real processes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    BarredProvider, BoxFuture, GuestError, GuestFinder, Guests, TaskNames, TaskStart, WorkQuery, Workspace,
};
use loggia_engine::tasks::{StartTask, TaskPlace};
use loggia_plugins::{HostSettings, Limits, Place, Plugins, Scope};
use loggia_tests::{PretendGuests, PretendProvider, item};
use loggia_wire::child::Keeper;
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::tasks::{alice, in_repository, request};
use crate::{KEEPER, world};

const LINK: &str = include_str!("../../../crates/hosts/plugins/tests/it/link.py");
const PLAYER: &str = include_str!("../../../crates/hosts/plugins/tests/it/plugin.py");

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host with plugins that bring tasks: name, scheme, priority, program, arguments.
struct Hosted {
    home: TempDir,
    plugins: Arc<Plugins>,
}

struct Finder(Arc<Plugins>);

impl GuestFinder for Finder {
    fn guests(&self, _: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        let guests = Guests { providers: self.0.providers(), ..Guests::default() };
        Box::pin(std::future::ready(Ok(guests)))
    }
}

impl Hosted {
    fn new(all: &[(&str, &str, i32, &str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        for (name, scheme, priority, program, arguments) in all {
            let directory = home.path().join(name);
            std::fs::create_dir(&directory).unwrap();
            std::fs::write(directory.join("plugin.py"), program).unwrap();
            let manifest = format!(
                "version: 1\nname: {name}\ntype: provider\nprotocol: \"1\"\n\
                 executable:\n  command: [python3, ./plugin.py{arguments}]\n\
                 provider:\n  name: {name}\n  schemes: [{scheme}]\n  priority: {priority}\n"
            );
            std::fs::write(directory.join("plugin.yaml"), manifest).unwrap();
        }
        let plugins = Plugins::find(
            Keeper::new(KEEPER, ["keep"]),
            HostSettings {
                places: vec![Place { directory: home.path().to_owned(), scope: Scope::Global }],
                enabled: all.iter().map(|one| one.0.to_owned()).collect(),
                config: Default::default(),
                agents: Default::default(),
                environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
                limits: Limits { init: PATIENCE, question: PATIENCE, ..Limits::default() },
                trust: Arc::new(|_| true),
            },
        );
        Self { home, plugins: Arc::new(plugins) }
    }

    fn finder(&self) -> Arc<dyn GuestFinder> {
        Arc::new(Finder(Arc::clone(&self.plugins)))
    }

    fn has_started(&self, name: &str) -> bool {
        Path::exists(&self.home.path().join(name).join("starts.log"))
    }
}

/// A page on this machine, on a thread that goes with the test.
fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let page = "<html><head><title>Fix login bug</title></head><body><p>It fails.</p></body></html>";
            let head =
                format!("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}", page.len());
            stream.write_all(format!("{head}\r\n\r\n{page}").as_bytes()).unwrap();
        }
    });
    format!("http://{address}/fix-login.html")
}

#[tokio::test]
async fn a_bare_address_becomes_a_task_by_the_link_provider() {
    let hosted = Hosted::new(&[
        ("broken", "wiki", 90, PLAYER, ", \"die:provider.match\""),
        ("link", "link", 30, LINK, ""),
    ]);
    let world = world().guests(hosted.finder()).start("").await;
    let start = StartTask { reference: page(), place: TaskPlace::Here, ..request(&world) };
    let view = world.engine.tasks().start(start, alice()).await.unwrap();
    let begun = &view.task.start;
    assert_eq!((begun.provider.as_str(), begun.item.title.as_str()), ("link", "Fix login bug"));
    assert!(begun.source.contains("<p>It fails.</p>"), "{}", begun.source);
    assert!(hosted.has_started("broken"), "it was asked, and does not claim what it dies of");
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_reference_finds_its_provider_by_scheme_else_by_asking() {
    let hosted = Hosted::new(&[
        ("a", "jira", 10, PLAYER, ""),
        ("b", "link", 20, PLAYER, ""),
        ("d", "late", 5, PLAYER, ""),
    ]);
    let world = world().guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let brings = async |reference: &str| {
        let (reference, place) = (reference.to_owned(), TaskPlace::Here);
        let start = tasks.start(StartTask { reference, place, ..request(&world) }, alice()).await;
        let view = start.map_err(|error| error.to_string())?;
        tasks.abandon(view.id, Default::default(), alice()).await.unwrap();
        Ok::<String, String>(view.task.start.provider.clone())
    };
    assert_eq!(brings("late:PROJ-123").await.as_deref(), Ok("d"));
    assert!(!hosted.has_started("a"), "a scheme needs no question");
    assert_eq!(brings("https:PROJ-123").await.as_deref(), Ok("b"), "the highest who says yes");
    let nobody = brings("https://x").await.unwrap_err();
    assert!(nobody.starts_with("nobody knows `https:`; there are `jira:`, `link:`, `late:`"), "{nobody}");
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_scheme_of_a_plugin_that_may_not_run_is_told_with_what_lets_it() {
    let why = "it is not enabled here; `loggia plugin enable quick` turns it on".to_owned();
    let quick = BarredProvider { plugin: "quick".to_owned(), schemes: vec!["qk".to_owned()], why };
    let barred_providers = vec![quick];
    let guests = Arc::new(PretendGuests(Guests { barred_providers, ..Guests::default() }));
    let world = world().guests(guests).start("").await;
    let tasks = world.engine.tasks();
    let start = async |reference: &str| {
        let start = StartTask { reference: reference.to_owned(), place: TaskPlace::Here, ..request(&world) };
        tasks.start(start, alice()).await.unwrap_err()
    };
    let refused = start("qk:1").await;
    let words = refused.to_string();
    assert!(words.ends_with("the plugin `quick` has it and may not run: it is not enabled here; `loggia plugin enable quick` turns it on"), "{words}");
    assert_eq!(refused.hint().unwrap(), "do that, and start the task again");
    let refused = start("https://x/1").await;
    assert!(refused.to_string().contains("not asked were `quick`, which may not run"), "{refused}");
    assert!(refused.hint().unwrap().contains("`loggia plugin list`"));
    let refused = tasks.browse(request(&world).workspace, "qk", Default::default()).await.unwrap_err();
    assert!(refused.to_string().contains("the plugin `quick` has it"), "{refused}");
}

#[tokio::test]
async fn a_workspaces_own_files_say_how_things_are_called_unless_the_request_does() {
    let word = |word: &str| Some(word.to_owned());
    let names =
        TaskNames { scheme: word("jira"), branch: word("work/{slug}"), commit_prefix: word("<{key}>") };
    let guests = |names| Arc::new(PretendGuests(Guests { names, ..Guests::default() }));
    let jira = PretendProvider::new("jira").item(item("42", "Fix login bug", ""));
    let world = in_repository().source(Arc::new(jira)).guests(guests(names)).start("").await;
    let tasks = world.engine.tasks();
    let bare = || StartTask { reference: "42".to_owned(), ..request(&world) };
    let view = tasks.start(bare(), alice()).await.unwrap();
    let begun = &view.task.start;
    let branch = |begun: &TaskStart| begun.branch.as_ref().unwrap().name.clone();
    assert_eq!((begun.provider.as_str(), branch(begun).as_str()), ("jira", "work/fix-login-bug"));
    assert_eq!(begun.commit_prefix, "<42>");
    tasks.abandon(view.id, Default::default(), alice()).await.unwrap();
    let said = StartTask { branch_pattern: word("mine"), commit_prefix: word(""), ..bare() };
    let begun = tasks.start(said, alice()).await.unwrap().task.start.clone();
    assert_eq!((branch(&begun).as_str(), begun.commit_prefix.as_str()), ("mine", ""));
}

#[tokio::test]
async fn a_reference_without_a_scheme_whose_usual_provider_is_not_there_says_so() {
    let names = TaskNames { scheme: Some("qk".to_owned()), ..TaskNames::default() };
    let why = "it is not enabled here".to_owned();
    let quick = BarredProvider { plugin: "quick".to_owned(), schemes: vec!["qk".to_owned()], why };
    let guests = Guests { names, barred_providers: vec![quick], ..Guests::default() };
    let world = in_repository().guests(Arc::new(PretendGuests(guests))).start("").await;
    let start = StartTask { reference: "42".to_owned(), ..request(&world) };
    let refused = world.engine.tasks().start(start, alice()).await.unwrap_err();
    let expected = "`42` has no scheme, and nobody knows `qk:`, which is set for such; there are `file:`; \
                    the plugin `quick` has it and may not run: it is not enabled here";
    assert_eq!(refused.to_string(), expected);
    assert_eq!(refused.hint().unwrap(), "do that, and start the task again");
}

#[tokio::test]
async fn what_a_provider_can_do_is_asked_of_itself_and_not_of_its_manifest() {
    // Their manifests declare nothing.
    let hosted =
        Hosted::new(&[("a", "jira", 10, PLAYER, ""), ("b", "none", 10, PLAYER, ", \"capabilities:-:read\"")]);
    let world = world().guests(hosted.finder()).start("").await;
    let tasks = world.engine.tasks();
    let query = WorkQuery { limit: 2, ..WorkQuery::default() };
    let workspace = request(&world).workspace;
    let page = tasks.browse(workspace, "jira", query.clone()).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let refused = tasks.browse(workspace, "none", query).await.unwrap_err();
    assert_eq!(refused.to_string(), "the provider `b` cannot list items");
    assert!(refused.hint().unwrap().contains("loggia task start"));
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_snapshot_that_fails_is_told_to_people_and_not_to_agents() {
    let hosted = Hosted::new(&[("a", "jira", 10, PLAYER, ", \"die:provider.snapshot\"")]);
    let script = "[[reply]]\nexpect = \"Implement feature\"\nparts = [{ text = \"# Plan\" }]\n";
    let world = world().guests(hosted.finder()).start(script).await;
    let tasks = world.engine.tasks();
    let reference = "jira:PROJ-123".to_owned();
    let start = StartTask { reference, place: TaskPlace::Here, ..request(&world) };
    let view = tasks.start(start, alice()).await.unwrap();
    assert!(view.task.notes[0].text.contains("dying in provider.snapshot"), "{:?}", view.task.notes);
    tasks.plan(view.id, Default::default(), alice()).await.unwrap().wait().await.unwrap();
    let told = format!("{:?}", world.model.requests());
    assert!(told.contains("Full description") && !told.contains("dying in"), "{told}");
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn providers_are_asked_at_the_same_time() {
    let both = Arc::new(Barrier::new(2));
    let meeting = |name, claims| {
        let mut provider = PretendProvider::new(name).item(item("x", "X", ""));
        (provider.meets, provider.claims) = (Some(Arc::clone(&both)), claims);
        Arc::new(provider)
    };
    let world = world().source(meeting("one", None)).source(meeting("two", Some("some"))).start("").await;
    let start = StartTask { reference: "some:x".to_owned(), place: TaskPlace::Here, ..request(&world) };
    let tasks = world.engine.tasks();
    let begun = tokio::time::timeout(PATIENCE, tasks.start(start, alice())).await;
    let view = begun.expect("none waits for the answer of another").unwrap();
    assert_eq!(view.task.start.provider, "two");
}
