//! A whole engine in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Abilities, Actor, CodeIndex, Event, GuestFinder, ModelCatalogue, ModelMessage, ModelName, Policy, Preset,
    Role, Runner, Seq, SessionId, Store, TaskProvider, Workspace,
};
use loggia_engine::dialogs::DialogSettings;
use loggia_engine::{DialogBoard, Engine, NewSession, NoGuests, OnLeave, Parts, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_runner::CommandRunner;
use loggia_store::{OpenError, SqliteStore};
use loggia_wire::child::Keeper;
use tempfile::TempDir;

use crate::player::PATIENCE;
use crate::{Desks, Disk, Layer, Player, PretendDesk, PretendExtensions, PretendRepository, client};

/// A whole engine with its real parts; only the model is scripted.
pub struct World {
    directory: TempDir,
    made: WorldBuilder,
    /// The engine.
    pub engine: Engine,
    /// The one workspace.
    pub workspace: Workspace,
    /// The model.
    pub model: Arc<ScriptedModel>,
    /// What the store writes to.
    pub disk: Arc<Disk>,
    /// The store, for what no engine would write.
    pub store: Arc<dyn Store>,
    /// The models there are: that one, and those the world was made with.
    pub models: Arc<ScriptedCatalogue>,
    /// The models the engine uses: the same, unless the world was made with others.
    pub catalogue: Arc<dyn ModelCatalogue>,
}

/// How a world is made.
#[derive(Clone)]
pub struct WorldBuilder {
    keeper: PathBuf,
    files: Vec<(String, Vec<u8>)>,
    unload_after: Duration,
    secrets: Vec<String>,
    index: Option<Arc<dyn CodeIndex>>,
    others: Vec<Arc<ScriptedModel>>,
    catalogue: Option<Arc<dyn ModelCatalogue>>,
    guests: Arc<dyn GuestFinder>,
    in_repository: bool,
    /// Made with the first engine; it outlives that, as a disk does.
    repository: Option<Arc<PretendRepository>>,
    sources: Vec<Arc<dyn TaskProvider>>,
    runner: Option<Arc<dyn Runner>>,
    desks: Option<(Desks, Arc<PretendExtensions>, DialogBoard)>,
}

impl WorldBuilder {
    /// A world whose commands are kept by this program, called with `keep`.
    pub fn new(keeper: impl Into<PathBuf>) -> Self {
        Self {
            keeper: keeper.into(),
            files: Vec::new(),
            unload_after: Duration::from_secs(60),
            secrets: Vec::new(),
            index: None,
            others: Vec::new(),
            catalogue: None,
            guests: Arc::new(NoGuests),
            in_repository: false,
            repository: None,
            sources: Vec::new(),
            runner: None,
            desks: None,
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

    /// With an index of the workspace's code.
    #[must_use]
    pub fn index(mut self, index: Arc<dyn CodeIndex>) -> Self {
        self.index = Some(index);
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

    /// With these models instead of those that reply by scripts.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn ModelCatalogue>) -> Self {
        self.catalogue = Some(models);
        self
    }

    /// With programs of other people.
    #[must_use]
    pub fn guests(mut self, guests: Arc<dyn GuestFinder>) -> Self {
        self.guests = guests;
        self
    }

    /// With its workspace in a repository.
    #[must_use]
    pub fn in_repository(mut self) -> Self {
        self.in_repository = true;
        self
    }

    /// With something that tasks come from.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn TaskProvider>) -> Self {
        self.sources.push(source);
        self
    }

    /// With another runner than the real one.
    #[must_use]
    pub fn runner(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = Some(runner);
        self
    }

    /// With a desk for messages and extensions that are pretended, and dialogs as these settings say.
    #[must_use]
    pub fn desks(mut self, settings: DialogSettings) -> Self {
        let (desks, dialogs) = (Desks::default(), DialogBoard::new(settings));
        let extensions = Arc::new(PretendExtensions::new(desks.clone(), dialogs.clone()));
        self.desks = Some((desks, extensions, dialogs));
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
        self.begin(directory, script).await
    }

    /// Starts an engine in a directory.
    async fn begin(mut self, directory: TempDir, script: &str) -> World {
        if self.in_repository && self.repository.is_none() {
            let root = directory.path().join("work").canonicalize().expect("a workspace");
            self.repository = Some(PretendRepository::new(root));
        }
        let model = Arc::new(ScriptedModel::new(Script::parse(script).expect("a script")));
        let models = ScriptedCatalogue::single(Arc::clone(&model));
        let models = Arc::new(self.others.iter().cloned().fold(models, ScriptedCatalogue::with));
        let scripted = || Arc::clone(&models) as Arc<dyn ModelCatalogue>;
        let catalogue = self.catalogue.clone().unwrap_or_else(scripted);
        let disk = Disk::new();
        let keeper = Keeper::new(&self.keeper, ["keep"]);
        let real =
            || Arc::new(CommandRunner::new(keeper, loggia_runner::Settings::default())) as Arc<dyn Runner>;
        let runner = self.runner.clone().unwrap_or_else(real);
        let repositories = match &self.repository {
            Some(repository) => repository.finder(),
            None => loggia_engine::NoRepository::finder(),
        };
        let sources = self.sources.clone();
        let index = self.index.clone();
        let parts = Parts {
            store: Layer::over(open_store(directory.path()), Arc::clone(&disk)),
            models: Arc::clone(&catalogue),
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories,
            sources: Arc::new(move |_| sources.clone()),
            runner,
            index: Arc::new(move |_| index.clone()),
            guests: Arc::clone(&self.guests),
            desks: self.engine_desks(),
        };
        let settings = Settings {
            unload_after: self.unload_after,
            secrets: self.secrets.clone(),
            ..Settings::new(directory.path().join("data"))
        };
        let store = Arc::clone(&parts.store);
        let engine = Engine::start(parts, settings).await.expect("an engine");
        let root = directory.path().join("work");
        let workspace = engine.register_workspace(&root, None).await.expect("a workspace");
        World { directory, made: self, engine, workspace, model, models, catalogue, disk, store }
    }

    fn engine_desks(&self) -> loggia_engine::Desks {
        match self.desks.clone() {
            Some((desks, extensions, dialogs)) => desks.for_engine(extensions, dialogs),
            None => loggia_engine::Desks::default(),
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WorldBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorldBuilder").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}

/// Opens the store in a directory as soon as its last owner is gone.
///
/// # Panics
/// If that does not come to be.
pub fn open_store(directory: &Path) -> Arc<dyn Store> {
    /// A store whose process was killed is free at once; one whose engine was dropped, when its last thread ends.
    const TRIES: usize = 5_000;
    for _ in 0..TRIES {
        match SqliteStore::open(&directory.join("store")) {
            Ok(store) => return Arc::new(store),
            Err(OpenError::InUse { .. }) => std::thread::sleep(Duration::from_millis(2)),
            Err(error) => panic!("the store does not open: {error}"),
        }
    }
    panic!("somebody still has the store");
}

/// Opens the store in a directory on a runtime on which its last owner may be about to let go of it.
///
/// # Panics
/// If that does not come to be.
pub async fn reopen_store(directory: &Path) -> SqliteStore {
    let opened = async {
        loop {
            match SqliteStore::open(&directory.join("store")) {
                Ok(store) => return store,
                Err(OpenError::InUse { .. }) => tokio::task::yield_now().await,
                Err(error) => panic!("the store does not open: {error}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, opened).await.expect("somebody still has the store")
}

/// Everything people said in what a model was asked last.
///
/// # Panics
/// If it was not asked.
pub fn last_prompt(model: &ScriptedModel) -> String {
    let request = model.requests().pop().expect("the model was asked");
    let said = request.messages.iter().filter_map(|message| match message {
        ModelMessage::User(text) | ModelMessage::Shown { text, .. } => Some(text.as_str()),
        _ => None,
    });
    said.collect::<Vec<_>>().join("\n")
}

/// What is on disk when an engine is gone.
#[derive(Debug)]
pub struct Remains {
    directory: TempDir,
    made: WorldBuilder,
    workspace: Workspace,
}

impl Remains {
    /// The workspace's directory.
    pub fn root(&self) -> &Path {
        &self.workspace.root
    }

    /// The marks of commands that run.
    pub fn marks(&self) -> Vec<PathBuf> {
        marks(&self.directory, &self.workspace)
    }

    /// Starts another engine over it.
    pub async fn start(self, script: &str) -> World {
        self.made.begin(self.directory, script).await
    }
}

/// The marks of commands that run, which are there for the next start.
fn marks(directory: &TempDir, workspace: &Workspace) -> Vec<PathBuf> {
    let running = directory.path().join("data/mirrors").join(workspace.id.to_string()).join("running");
    let entries = std::fs::read_dir(running).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

impl World {
    /// The workspace's directory.
    pub fn root(&self) -> &Path {
        &self.workspace.root
    }

    /// The repository its workspace is in.
    ///
    /// # Panics
    /// If it is in none.
    pub fn repository(&self) -> Arc<PretendRepository> {
        self.made.repository.clone().expect("a repository")
    }

    /// The desk of its workspace.
    ///
    /// # Panics
    /// If it was made without desks.
    pub fn desk(&self) -> Arc<PretendDesk> {
        self.made.desks.as_ref().expect("desks").0.of(&self.workspace)
    }

    /// The pretended extensions.
    ///
    /// # Panics
    /// If it was made without desks.
    pub fn extensions(&self) -> Arc<PretendExtensions> {
        Arc::clone(&self.made.desks.as_ref().expect("desks").1)
    }

    /// Where the engine keeps what is its own.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Where the workspace's policy is.
    pub fn policy_file(&self) -> PathBuf {
        self.data().join("policies").join(format!("{}.toml", self.workspace.id))
    }

    /// The marks of commands that run.
    pub fn marks(&self) -> Vec<PathBuf> {
        marks(&self.directory, &self.workspace)
    }

    /// Changes the workspace's policy.
    ///
    /// # Panics
    /// If the engine refuses.
    pub fn change_policy(&self, change: impl FnOnce(&mut Policy)) {
        let current = self.engine.policy(self.workspace.id).expect("a policy");
        let mut policy = Policy::clone(&current);
        change(&mut policy);
        self.engine.set_policy(self.workspace.id, policy, current.revision).expect("a policy that is right");
    }

    /// A file's text.
    ///
    /// # Panics
    /// If it is not there.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).expect("a file with text")
    }

    /// A session's whole journal, as it is stored.
    ///
    /// # Panics
    /// If there is none.
    pub async fn journal(&self, session: SessionId) -> Vec<Event> {
        self.store.events(session, Seq(0), usize::MAX >> 1).await.expect("a journal")
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
        let client = client(name, role, abilities);
        let (seat, _) = self.engine.join(session, client, OnLeave::Keep).await.expect("a seat");
        Player::new(seat, Seq(0))
    }

    /// Stops the engine as a restart of the daemon does, and starts another one over the same data.
    pub async fn restart(self, script: &str) -> Self {
        self.engine.stop().await;
        self.leave().start(script).await
    }

    /// Lets go of the engine without stopping it. It is gone once its runtime is, as after a kill.
    pub fn leave(self) -> Remains {
        let Self { directory, made, workspace, .. } = self;
        Remains { directory, made, workspace }
    }
}
