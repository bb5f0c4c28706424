//! The parts of a daemon, put together.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_console::Journal;
use loggia_domain::{BoxFuture, Runner, Workspace};
use loggia_engine::{DeskTools, Desks, DialogBoard, Engine, IndexFinder};
use loggia_git::Git;
use loggia_http::Door;
use loggia_models::Environment;
use loggia_runner::CommandRunner;
use loggia_sources::Reach;
use loggia_store::SqliteStore;
use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;

use super::directories::RuntimeDirectory;
use super::embedder::EmbedderSource;
use super::extensions::ExtensionHosts;
use super::indexes::{IndexRules, Indexes};
use super::models::{self, Found};
use super::plugins::PluginHosts;
use super::{DaemonError, Settings, doctor};
use crate::config::places::{self, Places};

/// The hidden command under which our own executable keeps what it runs.
const KEEPER: &str = "__supervise";

/// Indexes as they were chosen to be.
fn indexes(rules: &IndexRules, places: &Places) -> Result<Indexes, DaemonError> {
    let source = |name: &String| {
        let weights = rules.weights.clone().unwrap_or_else(|| places.weights());
        EmbedderSource::new(name, weights, &rules.endpoints, environment())
    };
    let embedder = rules.embedder.as_ref().map(source).transpose()?;
    Ok(Indexes::new(places.data(), rules.auto, embedder))
}

/// The variables that say where models are and what their keys are.
fn environment() -> Environment {
    Environment::from_fn(|name| std::env::var(name).ok())
}

/// An engine that runs, and what stands in front of it.
pub(crate) struct Started {
    pub(crate) engine: Engine,
    pub(crate) http: Door,
    pub(crate) rpc: loggia_rpc::Parts,
    pub(crate) plugins: PluginHosts,
    pub(crate) extensions: ExtensionHosts,
    /// Nothing where there are no indexes.
    pub(crate) indexes: Option<Indexes>,
}

/// Everything that can be had before anything runs.
pub(crate) struct Prepared {
    engine: loggia_engine::Parts,
    engine_settings: loggia_engine::Settings,
    door_settings: loggia_http::Settings,
    examine: loggia_http::Examine,
    plugins: PluginHosts,
    extensions: ExtensionHosts,
    indexes: Option<Indexes>,
    /// What the models do in the background.
    look: Option<BoxFuture<'static, ()>>,
}

impl Prepared {
    /// Opens what is to be opened.
    pub(crate) fn new(
        settings: &Settings,
        places: &Places,
        runtime: &RuntimeDirectory,
    ) -> Result<Self, DaemonError> {
        let found =
            models::find(settings.model.as_deref(), &settings.endpoints, &settings.catalogue, environment());
        let Found { models, look } = found.map_err(|error| error.set_by(settings.model_origin.as_deref()))?;
        let keeper = Keeper::this_executable(KEEPER).map_err(|source| DaemonError::Start { source })?;
        let dialogs = DialogBoard::new(settings.dialogs.clone());
        let extensions = ExtensionHosts::new(places, &settings.flags, keeper.clone(), dialogs.clone());
        let plugins = PluginHosts::new(places, &settings.flags, keeper.clone(), extensions.clone());
        let git = Git::new(keeper.clone(), loggia_git::Settings::default());
        let runner: Arc<dyn Runner> =
            Arc::new(CommandRunner::new(keeper, loggia_runner::Settings::default()));
        let indexes = settings.index.as_ref().map(|rules| indexes(rules, places)).transpose()?;
        let index = finder(indexes.as_ref());
        let guests = Arc::new(plugins.clone());
        let store = Arc::new(SqliteStore::open(&places.data().join("store"))?);
        let hidden = vec![places.config().to_owned(), runtime.path().to_owned()];
        let engine_settings = loggia_engine::Settings {
            home: etcetera::home_dir().ok(),
            hidden,
            secrets: Door::first_token(places.data())?.into_iter().collect(),
            policy: settings.policy.clone(),
            pinned_model: settings.pinned_model,
            tasks: settings.tasks.clone(),
            ..loggia_engine::Settings::new(places.data().to_owned())
        };
        let examine = doctor::examiner(places, runtime, Arc::clone(&runner));
        Ok(Self {
            examine,
            plugins,
            look,
            engine: loggia_engine::Parts {
                store,
                models,
                tools: Arc::new(|root, index| {
                    let mut tools = loggia_tools::standard(Arc::clone(root));
                    tools.extend(index.into_iter().flat_map(loggia_tools::for_index));
                    tools
                }),
                repositories: Arc::new(move |directory: &Path| Arc::new(git.repository(directory))),
                // A client with a token names references, too: nothing outside the workspace is read for it.
                sources: Arc::new(|workspace: &Workspace| {
                    loggia_sources::built_in(&workspace.root, Reach::Workspace)
                }),
                runner,
                index,
                guests,
                desks: desks(&extensions, dialogs),
            },
            extensions,
            indexes,
            engine_settings,
            door_settings: door_settings(settings, places),
        })
    }

    /// What is to be done in the background once requests are answered. Given out once.
    pub(crate) fn take_look(&mut self) -> Option<BoxFuture<'static, ()>> {
        self.look.take()
    }

    /// Starts the engine and puts its doors in front of it.
    pub(crate) async fn start(self, stop: CancellationToken) -> Result<Started, DaemonError> {
        let Self {
            engine: parts,
            engine_settings,
            door_settings,
            examine,
            plugins,
            extensions,
            indexes,
            look: _,
        } = self;
        let (models, index) = (Arc::clone(&parts.models), Arc::clone(&parts.index));
        let engine = Engine::start(parts, engine_settings).await;
        let engine = engine.map_err(|source| DaemonError::Engine { source })?;
        plugins.attach(&engine);
        extensions.attach(&engine);
        let rpc = loggia_rpc::Parts { engine: engine.clone(), models: Arc::clone(&models) };
        let desk = Arc::new(plugins.clone());
        let parts =
            loggia_http::Parts { engine: engine.clone(), models, index, plugins: desk, examine, stop };
        // Tokens are read from a disk.
        let door = tokio::task::spawn_blocking(move || Door::new(parts, door_settings)).await;
        let door = match door {
            Ok(Ok(door)) => Ok(door),
            Ok(Err(source)) => Err(DaemonError::Door { source }),
            Err(error) => Err(DaemonError::Runtime { source: error.into() }),
        };
        if door.is_err() {
            // It has nobody to serve.
            engine.stop().await;
        }
        Ok(Started { engine, http: door?, rpc, plugins, extensions, indexes })
    }
}

/// Finds the indexes there are, for everybody who asks.
pub(crate) fn finder(indexes: Option<&Indexes>) -> IndexFinder {
    indexes.map_or_else(|| Arc::new(|_: &Workspace| None) as IndexFinder, Indexes::finder)
}

/// Messages and extensions, as the engine knows them.
fn desks(extensions: &ExtensionHosts, dialogs: DialogBoard) -> Desks {
    let finder = extensions.clone();
    Desks {
        messages: Arc::new(move |workspace| Some(finder.desk(workspace))),
        extensions: Arc::new(extensions.clone()),
        dialogs,
        tools: Arc::new(|messages, commands| DeskTools {
            messages: messages.as_ref().map(loggia_tools::for_messages).unwrap_or_default(),
            commands: loggia_tools::for_commands(&commands),
        }),
    }
}

/// The console door, in front of what the rpc door is in front of. It lets in whom the other sockets do.
pub(crate) fn console(
    rpc: &loggia_rpc::Parts,
    index: IndexFinder,
    plugins: &PluginHosts,
    journal: Journal,
    stop: CancellationToken,
) -> loggia_console::Door {
    loggia_console::Door::new(loggia_console::Parts {
        engine: rpc.engine.clone(),
        models: Arc::clone(&rpc.models),
        index,
        plugins: Arc::new(plugins.clone()),
        journal,
        admits: Arc::new(loggia_http::is_welcome),
        root_of: places::workspace_root,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        stop,
    })
}

/// What the http door is told. The host we are to listen on is a name of ours; "any address" is none.
fn door_settings(settings: &Settings, places: &Places) -> loggia_http::Settings {
    let mut hosts = settings.hosts.clone();
    let is_any = |host: &&str| host.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    hosts.extend(settings.host().filter(|host| !is_any(host)).map(str::to_owned));
    loggia_http::Settings {
        data: places.data().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        hosts,
        origins: settings.origins.clone(),
    }
}

/// Registers the workspaces that were named; if none was, the one we were started in.
pub(crate) async fn register(
    engine: &Engine,
    settings: &Settings,
    places: &Places,
) -> Result<Vec<PathBuf>, DaemonError> {
    let mut registered = Vec::new();
    for path in &settings.workspaces {
        let workspace = engine.register_workspace(path, None).await;
        let workspace = workspace.map_err(|source| DaemonError::Workspace { path: path.clone(), source })?;
        registered.push(workspace.root);
    }
    if let (true, Some(path)) = (settings.workspaces.is_empty(), &places.workspace) {
        match engine.register_workspace(path, None).await {
            Ok(workspace) => registered.push(workspace.root),
            // Nobody asked for it.
            Err(error) => tracing::info!(path = %path.display(), %error, "this is no workspace"),
        }
    }
    Ok(registered)
}
