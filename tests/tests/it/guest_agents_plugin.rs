//! Turns that a real plugin takes, in a process of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loggia_domain::{
    ApprovalScope, BoxFuture, EventBody, GuestError, GuestFinder, Guests, Intent, PatchId, Preset, TurnEnd,
    TurnFailure, Workspace,
};
use loggia_plugins::{HostSettings, Limits, Place, Plugins, Scope};
use loggia_tests::{Player, World};
use loggia_wire::child::Keeper;
use tempfile::TempDir;

use crate::guest_agents::play;
use crate::{KEEPER, world};

const SCRIPT: &str = include_str!("guest_agents_plugin.py");

const MANIFEST: &str = "version: 1\nname: talker\ntype: agent\nprotocol: \"1\"\n\
    executable:\n  command: [python3, ./plugin.py]\nagent:\n  name: helper\n  streaming: true\n";

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host with one plugin.
pub(crate) struct Hosted {
    home: TempDir,
    pub(crate) plugins: Arc<Plugins>,
}

/// Finds the plugin in workspaces whose directory has this name.
struct Finder(Arc<Plugins>, &'static str);

impl GuestFinder for Finder {
    fn guests(&self, workspace: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        let agents = if workspace.root.ends_with(self.1) { self.0.agents() } else { Vec::new() };
        Box::pin(std::future::ready(Ok(Guests { agents, ..Guests::default() })))
    }
}

impl Hosted {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("talker");
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("plugin.yaml"), MANIFEST).unwrap();
        std::fs::write(directory.join("plugin.py"), SCRIPT).unwrap();
        let plugins = Plugins::find(
            Keeper::new(KEEPER, ["keep"]),
            HostSettings {
                places: vec![Place { directory: home.path().to_owned(), scope: Scope::Global }],
                enabled: vec!["talker".to_owned()],
                config: Default::default(),
                agents: Default::default(),
                environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
                // A busy machine starts Python slowly.
                limits: Limits { init: PATIENCE, question: PATIENCE, ..Limits::default() },
                trust: Arc::new(|_| true),
            },
        );
        Self { home, plugins: Arc::new(plugins) }
    }

    /// Finds the plugin in the world's own workspace, and in no other.
    pub(crate) fn finder(&self) -> Arc<dyn GuestFinder> {
        Arc::new(Finder(Arc::clone(&self.plugins), "work"))
    }

    async fn world(&self, files: &[(&str, &str)]) -> World {
        let world = world().guests(self.finder());
        files.iter().fold(world, |world, (path, content)| world.file(path, *content)).start("").await
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join("talker").join(name)
    }
}

/// The patch to a file.
fn patch_to(player: &Player, path: &str) -> PatchId {
    let proposed = player.heard.iter().rev().find_map(|told| match told {
        loggia_engine::Told::Event(event) => match &event.body {
            EventBody::PatchProposed { patch } if patch.path == path => Some(patch.id),
            _ => None,
        },
        _ => None,
    });
    proposed.unwrap()
}

fn numbered() -> String {
    (1..=30).map(|number| format!("line {number}\n")).collect()
}

#[tokio::test]
async fn a_plugin_talks_into_the_session() {
    let hosted = Hosted::new();
    let world = hosted.world(&[]).await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    assert_eq!(alice.play("talk").await, TurnEnd::Done);
    assert!(alice.text().ends_with("message: Hello there.\nturn ended: done"), "{}", alice.text());
    let state = alice.state().await;
    assert_eq!((state.usage.input, state.usage.output), (7, 2));
    assert_eq!(alice.play("What did I say?").await, TurnEnd::Done);
    assert!(alice.text().contains("message: I was asked: What did I say?"), "{}", alice.text());
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_plugin_calls_tools_as_people_let_it() {
    let hosted = Hosted::new();
    let world = hosted.world(&[("a.txt", "a\n")]).await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("use tools").await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::All).await.unwrap();
    let asked = alice.until_asked().await;
    alice.decide(asked, ApprovalScope::None).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
    assert_eq!(world.read("b.txt"), "b\n");
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn files_of_a_plugin_are_accepted_by_hunk_and_undone() {
    let hosted = Hosted::new();
    let world = hosted.world(&[("long.txt", &numbered()), ("old.txt", "old\n")]).await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("change files").await.unwrap();
    let asked = alice.until_asked().await;
    let hunks = vec![(patch_to(&alice, "long.txt"), vec![1]), (patch_to(&alice, "new.txt"), vec![0])];
    alice.decide(asked, ApprovalScope::Hunks(hunks)).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let changed = world.read("long.txt");
    assert!(changed.starts_with("line 1\n") && changed.ends_with("line 29\nlast\n"), "{changed}");
    assert_eq!((world.read("new.txt"), world.read("old.txt")), ("new\n".to_owned(), "old\n".to_owned()));
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("long.txt"), numbered());
    assert!(!world.root().join("new.txt").exists());
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_plugin_that_can_only_write_text_changes_files_too() {
    let hosted = Hosted::new();
    let world = hosted.world(&[("old.txt", "old\n")]).await;
    let (_, mut alice) = play(&world, Preset::Full).await;
    assert_eq!(alice.play("write blocks").await, TurnEnd::Done);
    assert!(alice.text().contains("message: Two files:\nOne came, one went.\n"), "{}", alice.text());
    assert_eq!(world.read("one.txt"), "one\n");
    assert!(!world.root().join("old.txt").exists());
    // Neither of these changes anything.
    std::fs::remove_file(world.root().join("one.txt")).unwrap();
    assert_eq!(alice.play("escape by a block").await, TurnEnd::Done);
    let end = alice.play("write a broken block").await;
    let TurnEnd::Failed(TurnFailure::Model { message, .. }) = end else { panic!("{end:?}") };
    let expected = "the agent `helper` did not finish: plugin `talker`, `agent.run`: it failed: \
                    it wrote a `yaml:file` block that cannot be used: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(!world.root().join("one.txt").exists() && !world.root().join("../two.txt").exists());
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn a_plugin_that_dies_in_its_work_is_told_with_its_last_words_and_started_again() {
    let hosted = Hosted::new();
    let world = hosted.world(&[]).await;
    let (_, mut alice) = play(&world, Preset::Full).await;
    let end = alice.play("crash").await;
    let TurnEnd::Failed(TurnFailure::Model { message, retry_helps: true, .. }) = end else {
        panic!("{end:?}")
    };
    assert_eq!(
        message,
        "the agent `helper` did not finish: plugin `talker`, `agent.run`: it ended with exit status 3\n  \
         stderr: something broke"
    );
    assert!(alice.text().contains("message (cut): I had just"), "{}", alice.text());
    assert!(!world.root().join("new.txt").exists());
    assert_eq!(alice.play("talk").await, TurnEnd::Done);
    hosted.plugins.stop().await;
}

#[tokio::test]
async fn cancelling_closes_the_plugins_input_and_it_works_again_afterwards() {
    let hosted = Hosted::new();
    let world = hosted.world(&[]).await;
    let (_, mut alice) = play(&world, Preset::Ask).await;
    alice.prompt("hang").await.unwrap();
    alice.until_reply().await;
    let began = Instant::now();
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert!(began.elapsed() < Duration::from_millis(200), "{:?}", began.elapsed());
    assert!(alice.text().contains("message (cut): working"), "{}", alice.text());
    // Whoever works next waits until the one who was cancelled has gone.
    assert_eq!(alice.play("talk").await, TurnEnd::Done);
    let left = std::fs::read_to_string(hosted.file("cancelled.log")).unwrap();
    assert_eq!(left, "saw the end of its input\n");
    hosted.plugins.stop().await;
}
