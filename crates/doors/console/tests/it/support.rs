//! A console on a socket, and terminals that write down what they hear.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loggia_console::{Door, Journal, Parts};
use loggia_domain::{CodeIndex, PluginDesk};
use loggia_endermux_io::client::{Options, Running, Said};
use loggia_endermux_io::server::Socket;
use loggia_endermux_io::{Client, Event, Events};
use loggia_protocol_endermux::ColorLevel;
use loggia_tests::{World, WorldBuilder};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes that does not hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a file, then says that it did.
pub(crate) const WRITE: &str = r#"
    [[reply]]
    parts = [
        { text = "Writing.\n" },
        { call = { tool = "write_file", arguments = { path = "new.txt", content = "hello\n" } } },
    ]
    [[reply]]
    parts = [{ text = "Done." }]
"#;

/// A console in front of an engine.
pub(crate) struct House {
    pub(crate) world: World,
    pub(crate) path: PathBuf,
    pub(crate) stop: CancellationToken,
    pub(crate) door: Door,
    serving: JoinHandle<()>,
    _directory: tempfile::TempDir,
}

impl House {
    /// No test here runs a command on the server.
    pub(crate) async fn open(script: &str) -> Self {
        Self::around(WorldBuilder::new("/bin/false").file("notes.txt", "one\ntwo\n").start(script).await)
            .await
    }

    pub(crate) async fn around(world: World) -> Self {
        Self::with(world, Arc::new(loggia_domain::NoPlugins)).await
    }

    /// The same with somebody who looks after plugins.
    pub(crate) async fn with(world: World, plugins: Arc<dyn PluginDesk>) -> Self {
        Self::furnished(world, plugins, None).await
    }

    /// The same with a code index.
    pub(crate) async fn with_index(index: Arc<dyn CodeIndex>) -> Self {
        let world = WorldBuilder::new("/bin/false").index(Arc::clone(&index)).start("").await;
        Self::furnished(world, Arc::new(loggia_domain::NoPlugins), Some(index)).await
    }

    async fn furnished(
        world: World,
        plugins: Arc<dyn PluginDesk>,
        index: Option<Arc<dyn CodeIndex>>,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (path, stop) = (directory.path().join("console.sock"), CancellationToken::new());
        let door = Door::new(Parts {
            engine: world.engine.clone(),
            models: Arc::clone(&world.catalogue),
            index: Arc::new(move |_| index.clone()),
            plugins,
            journal: Journal::new(),
            root_of: |_| None,
            admits: Arc::new(|_| true),
            version: "1.2.3".to_owned(),
            stop: stop.clone(),
        });
        let socket = Socket::bind(&path).await.unwrap();
        let home = Some(world.root().to_owned());
        let serving = tokio::spawn(door.clone().serve(socket, home));
        Self { world, path, stop, door, serving, _directory: directory }
    }

    /// A terminal with a log.
    pub(crate) async fn terminal(&self) -> Terminal {
        self.listening(Options::new(ColorLevel::None)).await
    }

    /// The same with other options.
    pub(crate) async fn listening(&self, options: Options) -> Terminal {
        let mut terminal = self.mute(options).await;
        terminal.client.subscribe().await.unwrap();
        // From here on everything is heard.
        terminal.client.ping().await.unwrap();
        terminal.heard.clear();
        terminal
    }

    /// A terminal without.
    pub(crate) async fn mute(&self, options: Options) -> Terminal {
        let (client, mut events) = Client::connect(&self.path, &options).await.unwrap();
        assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
        Terminal { client, events, heard: String::new() }
    }

    /// Waits for the end after the stop.
    pub(crate) async fn ended(&mut self) {
        timeout(PATIENCE, &mut self.serving).await.unwrap().unwrap();
    }
}

/// Somebody at a terminal.
pub(crate) struct Terminal {
    pub(crate) client: Client,
    pub(crate) events: Events,
    pub(crate) heard: String,
}

impl Terminal {
    /// Gives a command and waits for its end: what it says, and its status in brackets.
    pub(crate) async fn run(&self, command: &str) -> String {
        finish(self.client.run(command).await.unwrap()).await
    }

    /// Hears until a text comes; everything since the last time.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        loop {
            if self.heard.contains(text) {
                return std::mem::take(&mut self.heard);
            }
            let next = timeout(PATIENCE, self.events.next()).await;
            match next.unwrap_or_else(|_| panic!("no {text:?} in\n{}", self.heard)) {
                Some(Event::Log(log)) => self.heard += &log,
                Some(Event::Interactivity(available)) => self.heard += &format!("<{available}>\n"),
                other => panic!("{other:?} instead of {text:?} after\n{}", self.heard),
            }
        }
    }

    /// The id after the word `question` in the next question.
    pub(crate) async fn question(&mut self) -> String {
        let heard = self.until("answer with").await;
        heard.split_once(", question ").unwrap().1[..6].to_owned()
    }
}

/// Waits for the end of a command.
pub(crate) async fn finish(mut running: Running) -> String {
    let mut text = String::new();
    while let Some(said) = timeout(PATIENCE, running.next()).await.unwrap() {
        match said {
            Ok(Said::Output(output)) => text += &output,
            Ok(Said::Ended { status }) => text += &format!("[{status}]"),
            Err(error) => text += &format!("[{error}]"),
        }
    }
    text
}
