//! A whole engine in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Abilities, Actor, Client, ClientId, Door, ModelCatalogue, ModelName, Preset, Role, Runner, Seq,
    SessionId, Workspace,
};
use loggia_engine::{Engine, NewSession, OnLeave, Parts, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_runner::CommandRunner;
use loggia_store::SqliteStore;
use loggia_wire::child::Keeper;
use tempfile::TempDir;

use crate::Player;

/// A whole engine with its real parts; only the model is scripted.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    keeper: PathBuf,
    /// The engine.
    pub engine: Engine,
    /// The one workspace.
    pub workspace: Workspace,
    /// The model.
    pub model: Arc<ScriptedModel>,
    /// The models there are: that one, and those the world was made with.
    pub models: Arc<ScriptedCatalogue>,
}

/// How a world is made.
#[derive(Debug)]
pub struct WorldBuilder {
    keeper: PathBuf,
    files: Vec<(String, Vec<u8>)>,
    unload_after: Duration,
    secrets: Vec<String>,
    others: Vec<Arc<ScriptedModel>>,
}

impl WorldBuilder {
    /// A world whose commands are kept by this program, called with `keep`.
    pub fn new(keeper: impl Into<PathBuf>) -> Self {
        Self {
            keeper: keeper.into(),
            files: Vec::new(),
            unload_after: Duration::from_secs(60),
            secrets: Vec::new(),
            others: Vec::new(),
        }
    }

    /// With this file in the workspace.
    #[must_use]
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }

    /// With sessions that leave memory after this time.
    #[must_use]
    pub fn unload_after(mut self, time: Duration) -> Self {
        self.unload_after = time;
        self
    }

    /// With a value that must not be seen.
    #[must_use]
    pub fn secret(mut self, value: &str) -> Self {
        self.secrets.push(value.to_owned());
        self
    }

    /// With another model, which has nothing to say.
    ///
    /// # Panics
    /// If there can be no such model.
    #[must_use]
    pub fn model(mut self, name: &str) -> Self {
        let script = Script::parse("").expect("a script");
        self.others.push(Arc::new(ScriptedModel::named(ModelName(name.to_owned()), script)));
        self
    }

    /// Makes it, with a model that replies by this script.
    ///
    /// # Panics
    /// If it cannot be made.
    pub async fn start(self, script: &str) -> World {
        let directory = TempDir::with_prefix("loggia-test-").expect("a temporary directory");
        let root = directory.path().join("work");
        std::fs::create_dir(&root).expect("a workspace");
        for (path, content) in &self.files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("directories");
            std::fs::write(path, content).expect("a file");
        }
        let model = Arc::new(ScriptedModel::new(Script::parse(script).expect("a script")));
        let settings = Settings {
            unload_after: self.unload_after,
            secrets: self.secrets,
            ..Settings::new(directory.path().join("data"))
        };
        let models = ScriptedCatalogue::single(Arc::clone(&model));
        let models = Arc::new(self.others.into_iter().fold(models, ScriptedCatalogue::with));
        let engine = start(directory.path(), &self.keeper, &models, settings).await;
        let workspace = engine.register_workspace(&root, None).await.expect("a workspace");
        World { directory, keeper: self.keeper, engine, workspace, model, models }
    }
}

/// Starts an engine in a directory.
async fn start(
    directory: &Path,
    keeper: &Path,
    models: &Arc<ScriptedCatalogue>,
    settings: Settings,
) -> Engine {
    let store = Arc::new(SqliteStore::open(&directory.join("store")).expect("a store"));
    let runner: Arc<dyn Runner> =
        Arc::new(CommandRunner::new(Keeper::new(keeper, ["keep"]), loggia_runner::Settings::default()));
    let parts = Parts {
        store,
        models: Arc::clone(models) as Arc<dyn ModelCatalogue>,
        tools: Arc::new(|root| loggia_tools::standard(Arc::clone(root))),
        runner,
        index: Arc::new(|_| None),
    };
    Engine::start(parts, settings).await.expect("an engine")
}

impl World {
    /// The workspace's directory.
    pub fn root(&self) -> &Path {
        &self.workspace.root
    }

    /// Where the engine keeps its own things.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Where the workspace's policy is.
    pub fn policy_file(&self) -> PathBuf {
        self.directory.path().join("data/policies").join(format!("{}.toml", self.workspace.id))
    }

    /// A file's text.
    ///
    /// # Panics
    /// If it is not there.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).expect("a file with text")
    }

    /// Opens a session with this preset and joins it.
    pub async fn play(&self, preset: Preset) -> (SessionId, Player) {
        let session = self.open(preset).await;
        let player = self.join(session, "alice", Role::Drive, Abilities::default()).await;
        (session, player)
    }

    /// Opens a session.
    ///
    /// # Panics
    /// If the engine refuses.
    pub async fn open(&self, preset: Preset) -> SessionId {
        let new = NewSession { preset: Some(preset), ..NewSession::new(self.workspace.id) };
        self.engine.open_session(new, Actor::Engine).await.expect("a session")
    }

    /// Joins a session, and hears everything from its beginning.
    ///
    /// # Panics
    /// If the engine refuses.
    pub async fn join(&self, session: SessionId, name: &str, role: Role, abilities: Abilities) -> Player {
        let client =
            Client { id: ClientId::new(), name: name.to_owned(), door: Door::Inside, role, abilities };
        let (seat, _) = self.engine.join(session, client, OnLeave::Keep).await.expect("a seat");
        Player::new(seat, Seq(0))
    }

    /// Stops the engine as a restart of the daemon does, and starts another one over the same data.
    pub async fn restart(self, script: &str) -> Self {
        let Self { directory, keeper, engine, workspace, model: _, models: _ } = self;
        engine.stop().await;
        drop(engine);
        let model = Arc::new(ScriptedModel::new(Script::parse(script).expect("a script")));
        let settings = Settings::new(directory.path().join("data"));
        let models = Arc::new(ScriptedCatalogue::single(Arc::clone(&model)));
        let engine = start(directory.path(), &keeper, &models, settings).await;
        Self { directory, keeper, engine, workspace, model, models }
    }
}
