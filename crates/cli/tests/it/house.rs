//! A door in front of a whole engine, which can go and come back.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use loggia_cli::{Ask, CliError, Client, Interrupts, Outcome, Terminal};
use loggia_client::Server;
use loggia_domain::{CodeIndex, ModelCatalogue, Workspace};
use loggia_engine::Engine;
use loggia_http::{Door, Parts, Peer, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_tests::{PretendRunner, scripts};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::losing::{Loses, losing};

/// Longer than anything here takes; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server and all that is behind it.
pub(crate) struct House {
    pub(crate) directory: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) client: Client,
    engine: Engine,
    stop: CancellationToken,
    address: SocketAddr,
    server: tokio::task::JoinHandle<()>,
}

/// What is left of a house that went.
pub(crate) struct Remains {
    directory: TempDir,
    address: SocketAddr,
}

impl Remains {
    /// The server comes back where it was.
    pub(crate) async fn start(self, script: &str) -> House {
        House::start(self.directory, self.address, script, None).await
    }
}

impl House {
    /// With these files and a model that replies by this script.
    pub(crate) async fn new(files: &[(&str, &str)], script: &str) -> Self {
        Self::furnished(files, script, None).await
    }

    /// With this index of the workspace's code.
    pub(crate) async fn with_index(index: Arc<dyn CodeIndex>) -> Self {
        Self::furnished(&[], "", Some(index)).await
    }

    async fn furnished(files: &[(&str, &str)], script: &str, index: Option<Arc<dyn CodeIndex>>) -> Self {
        let directory = TempDir::with_prefix("loggia-cli-").unwrap();
        let root = directory.path().join("work");
        std::fs::create_dir(&root).unwrap();
        for (path, content) in files {
            std::fs::write(root.join(path), content).unwrap();
        }
        Self::start(directory, ([127, 0, 0, 1], 0).into(), script, index).await
    }

    async fn start(
        directory: TempDir,
        address: SocketAddr,
        script: &str,
        index: Option<Arc<dyn CodeIndex>>,
    ) -> Self {
        let index: loggia_engine::IndexFinder = Arc::new(move |_| index.clone());
        let model = Arc::new(ScriptedModel::new(Script::parse(script).unwrap()));
        let models = Arc::new(ScriptedCatalogue::single(Arc::clone(&model)));
        let parts = loggia_engine::Parts {
            store: Arc::new(loggia_tests::reopen_store(directory.path()).await),
            models: Arc::clone(&models) as Arc<dyn ModelCatalogue>,
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories: loggia_engine::NoRepository::finder(),
            sources: Arc::new(|_| Vec::new()),
            runner: Arc::new(PretendRunner),
            index: Arc::clone(&index),
            guests: Arc::new(loggia_engine::NoGuests),
            desks: loggia_engine::Desks::default(),
        };
        let data = directory.path().join("data");
        let engine = Engine::start(parts, loggia_engine::Settings::new(data.clone())).await.unwrap();
        let workspace = engine.register_workspace(&directory.path().join("work"), None).await.unwrap();
        let stop = CancellationToken::new();
        let examine = loggia_http::examine_nothing();
        let plugins = Arc::new(loggia_domain::NoPlugins);
        let parts = Parts { engine: engine.clone(), models, index, plugins, examine, stop: stop.clone() };
        let version = "1.2.3".to_owned();
        let settings = Settings { data: data.clone(), version, hosts: Vec::new(), origins: Vec::new() };
        let door = Door::new(parts, settings).unwrap();
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = door.router().layer(Extension(Peer::Tcp(([127, 0, 0, 1], 50_000).into())));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let client = client_of(&directory, address);
        Self { directory, workspace, model, client, engine, stop, address, server }
    }

    /// The same server, by a way on which this is lost.
    pub(crate) async fn client_losing(&self, what: Loses) -> Client {
        self.client_losing_often(what, 1).await
    }

    /// The same, so many times.
    pub(crate) async fn client_losing_often(&self, what: Loses, times: usize) -> Client {
        client_of(&self.directory, losing(self.address, what, times).await)
    }

    /// The server goes; what it has written stays.
    pub(crate) async fn leave(self) -> Remains {
        self.server.abort();
        self.stop.cancel();
        self.engine.stop().await;
        let Self { directory, address, .. } = self;
        Remains { directory, address }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.workspace.root.clone()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// A prompt in this workspace.
    pub(crate) fn prompt(&self, prompt: &str) -> Ask {
        Ask::new(prompt, self.root())
    }

    /// Asks and waits for the end.
    pub(crate) async fn ask(&self, options: Ask, terminal: &mut Terminal) -> Result<Outcome, CliError> {
        let asking = loggia_cli::ask(&self.client, options, terminal, Interrupts::never());
        tokio::time::timeout(PATIENCE, asking).await.unwrap()
    }

    /// Everything the model was told last.
    pub(crate) fn last_prompt(&self) -> String {
        loggia_tests::last_prompt(&self.model)
    }
}

fn client_of(directory: &TempDir, address: SocketAddr) -> Client {
    let token = std::fs::read_to_string(directory.path().join("data/token")).unwrap();
    let host = Server::parse(&format!("http://{address}")).unwrap();
    Client::new(host).with_token(token.trim().to_owned())
}

/// A script of one reply.
pub(crate) fn says(text: &str) -> String {
    scripts::says(text) + "usage = { input = 1200, output = 34 }\n"
}

/// A script that calls a tool, then says that it is done.
pub(crate) fn calls(tool: &str, arguments: &str) -> String {
    scripts::calls(tool, arguments) + &scripts::says("Done.")
}
