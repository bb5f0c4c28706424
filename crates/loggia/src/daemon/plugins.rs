//! The plugins of a daemon: one host for each workspace, made when somebody first needs it.
//!
//! Knows which settings, files and rights a host is made from, and looks at them again whenever somebody asks: files change,
//! and trust is taken back. Refuses to know what plugins say; that is for the host.
//!
//! What always holds:
//! - looking starts no plugin;
//! - a plugin that stays as it is is not disturbed when others change;
//! - what a workspace brings, its plugins, its `.mehrhof/config.yaml` and its `.mehrhof/.env`, counts only while the
//!   workspace is trusted;
//! - a workspace's files are never written, but for a plugin that is installed there or removed on somebody's word.

mod consequences;
mod install;
mod remove;
mod setup;
mod summary;
mod switches;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use loggia_domain::{
    AgentBackend, BoxFuture, GuestError, GuestFinder, Guests, PluginDesk, PluginDeskError, PluginListing,
    PluginSummary, TaskAgents, TaskNames, TrustConsequences, Workspace,
};
use loggia_engine::Engine;
use loggia_plugins::{HostSettings, Plugins, TrustQuestion, usual_places};
use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::extensions::ExtensionHosts;
use crate::cli::GlobalFlags;
use crate::config::places::Places;
use crate::config::trust::Trust;
use crate::nearest::nearest;
pub(super) use setup::in_words;
use setup::{MEHRHOF_FILE, Setup};
use switches::Switches;

/// How long all plugins together may take to leave: a little more than the protocol's own steps.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Variables and their values.
type Environment = Vec<(OsString, OsString)>;

/// All plugins of a daemon. Cheap to clone.
#[derive(Clone)]
pub(crate) struct PluginHosts(Arc<Inner>);

struct Inner {
    places: Places,
    /// Those the daemon was started with; they count before files.
    flags: GlobalFlags,
    home: Option<PathBuf>,
    keeper: Keeper,
    environment: Environment,
    /// Who knows what is trusted. Until it runs, nothing is.
    engine: OnceLock<Engine>,
    /// What else heeds trust.
    extensions: ExtensionHosts,
    switches: Switches,
    /// By the workspace's root; one for those without a workspace. The lock is held while files are looked at, so that
    /// two who look do not make two hosts.
    hosts: tokio::sync::Mutex<HashMap<Option<PathBuf>, Arc<Plugins>>>,
    /// Plugins that leave, and looks to come.
    tasks: TaskTracker,
    closing: CancellationToken,
}

/// A host as it is now, and what kept it from being as it should.
struct Looked {
    plugins: Arc<Plugins>,
    /// What its plugins get.
    environment: Environment,
    /// Whom its own files name to do tasks.
    named: TaskAgents,
    /// How they call what belongs to tasks.
    names: TaskNames,
    problems: Vec<String>,
    /// What to mind that keeps nobody from working.
    warnings: Vec<String>,
}

impl PluginHosts {
    pub(crate) fn new(
        places: &Places,
        flags: &GlobalFlags,
        keeper: Keeper,
        extensions: ExtensionHosts,
    ) -> Self {
        Self(Arc::new(Inner {
            places: places.clone(),
            flags: flags.clone(),
            home: etcetera::home_dir().ok(),
            keeper,
            environment: std::env::vars_os().collect(),
            engine: OnceLock::new(),
            extensions,
            switches: Switches::in_directory(places.kept()),
            hosts: tokio::sync::Mutex::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Tells who knows what is trusted.
    pub(crate) fn attach(&self, engine: &Engine) {
        // A second engine would be a mistake of ours, and the first one goes on counting.
        let _ = self.0.engine.set(engine.clone());
    }

    /// Stops all plugins, each with the protocol's own steps, in bounded time. None is started any more.
    pub(crate) async fn stop(&self) {
        self.0.closing.cancel();
        let stop = async {
            let hosts: Vec<_> = self.0.hosts.lock().await.drain().map(|(_, plugins)| plugins).collect();
            join_all(hosts.iter().map(|plugins| plugins.stop())).await;
            self.0.tasks.close();
            self.0.tasks.wait().await;
        };
        if tokio::time::timeout(STOP_LIMIT, stop).await.is_err() {
            tracing::warn!("not every plugin left in time; the rest is killed");
        }
    }

    /// The host of a workspace as its files and settings are now.
    async fn look(&self, root: Option<&Path>) -> Result<Looked, PluginDeskError> {
        let mut hosts = self.0.hosts.lock().await;
        if self.0.closing.is_cancelled() {
            return Err(PluginDeskError::Unavailable("the server is stopping".to_owned()));
        }
        let key = root.map(Path::to_owned);
        let (inner, known, root) = (Arc::clone(&self.0), hosts.get(&key).cloned(), key.clone());
        let look = move || {
            let trust = inner.trust_in(root.as_deref());
            let setup = inner.setup(root.as_deref(), trust);
            let mut warnings = setup.warnings();
            let Setup { enabled, config, agents, environment, limits, problems, named, names, .. } = setup;
            let settings = HostSettings {
                places: inner.plugin_places(root.as_deref()),
                enabled,
                config,
                agents,
                environment: environment.clone(),
                limits,
                trust: inner.trust_question(root),
            };
            let (plugins, leaving) = match known {
                Some(known) => known.find_again(settings),
                None => (Plugins::find(inner.keeper.clone(), settings), Vec::new()),
            };
            warnings.extend(plugins.warnings().iter().map(|what| format!("`{MEHRHOF_FILE}`: {what}")));
            let plugins = Arc::new(plugins);
            (Looked { plugins, environment, named, names, problems, warnings }, leaving)
        };
        let (looked, leaving) = blocking(look).await?;
        // In the background: it may take as long as a plugin takes to leave.
        self.0.tasks.spawn(Plugins::end(leaving));
        hosts.insert(key, Arc::clone(&looked.plugins));
        Ok(looked)
    }

    /// Looks again at every host there is, so that what may no longer run is stopped.
    async fn look_everywhere(&self) {
        let roots: Vec<Option<PathBuf>> = self.0.hosts.lock().await.keys().cloned().collect();
        for root in roots {
            if let Err(error) = self.look(root.as_deref()).await {
                tracing::warn!(%error, "plugins cannot be looked at");
            }
        }
    }

    async fn listing(&self, root: Option<&Path>) -> Result<PluginListing, PluginDeskError> {
        let Looked { plugins, environment, mut problems, warnings, .. } = self.look(root).await?;
        problems.extend(warnings);
        Ok(PluginListing {
            plugins: plugins.list().into_iter().map(|one| summary::of(one, &environment)).collect(),
            unknown: plugins.enabled_in_vain().map(str::to_owned).collect(),
            problems,
        })
    }

    /// The plugin of that name; of two, the one that may run.
    async fn named(&self, name: &str, root: Option<&Path>) -> Result<PluginSummary, PluginDeskError> {
        let listing = self.listing(root).await?;
        summary::named(&listing, name).cloned().ok_or_else(|| no_such(&listing, name))
    }

    async fn set_enabled(
        &self,
        name: String,
        workspace: Option<Workspace>,
        enabled: bool,
    ) -> Result<PluginSummary, PluginDeskError> {
        let root = workspace.map(|workspace| workspace.root);
        let listing = self.listing(root.as_deref()).await?;
        let found = summary::named(&listing, &name).cloned();
        let (inner, place, given) = (Arc::clone(&self.0), root.clone(), name.clone());
        match &found {
            Some(plugin) if enabled => summary::check_usable(plugin)?,
            Some(_) => {}
            // A name that no plugin has any more can still be taken from the list.
            None if !enabled && listing.unknown.contains(&name) => {}
            None => return Err(no_such(&listing, &name)),
        }
        blocking(move || inner.switch(place.as_deref(), &given, enabled)).await??;
        if root.is_none() {
            self.look_everywhere().await;
        }
        let Looked { plugins, .. } = self.look(root.as_deref()).await?;
        // Whoever turns it on again wants it to be tried again.
        plugins.revive(&name);
        match found {
            Some(_) => self.named(&name, root.as_deref()).await,
            None => Ok(summary::gone(name)),
        }
    }

    async fn validate(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> Result<Option<String>, PluginDeskError> {
        let root = workspace.map(|workspace| workspace.root);
        let Looked { plugins, .. } = self.look(root.as_deref()).await?;
        match plugins.probe(&name).await {
            Some(probed) => Ok(probed.err().map(|error| error.to_string())),
            None => Err(no_such(&self.listing(root.as_deref()).await?, &name)),
        }
    }

    async fn install(
        &self,
        source: String,
        workspace: Option<Workspace>,
    ) -> Result<PluginSummary, PluginDeskError> {
        let root = workspace.map(|workspace| workspace.root);
        let place = self.0.own_place(root.as_deref());
        let installed = install::install(&self.0.keeper, &source, &place).await?;
        let listing = self.listing(root.as_deref()).await?;
        let found = listing.plugins.into_iter().find(|plugin| plugin.directory == installed);
        found.ok_or_else(|| {
            let place = installed.display();
            PluginDeskError::Conflict(format!("it is in `{place}`, and another plugin of its name counts"))
        })
    }

    async fn remove(&self, name: String, workspace: Option<Workspace>) -> Result<PathBuf, PluginDeskError> {
        let root = workspace.map(|workspace| workspace.root);
        let listing = self.listing(root.as_deref()).await?;
        let found = remove::choose(&listing, &name, root.is_some())
            .ok_or_else(|| remove::not_there(&listing, &name, root.is_some()))?;
        let directory = found.directory.clone();
        let (places, gone) = (self.0.plugin_places(root.as_deref()), directory.clone());
        blocking(move || remove::delete(&gone, &places)).await??;
        // What runs of it is stopped.
        self.look_everywhere().await;
        Ok(directory)
    }

    async fn guests_of(&self, workspace: Workspace) -> Result<Guests, GuestError> {
        let looked = self.look(Some(&workspace.root)).await;
        let Looked { plugins, problems, named, names, .. } =
            looked.map_err(|error| GuestError::Gone(error.to_string()))?;
        if let Some(problem) = problems.first() {
            // Which guards hold would be a guess.
            return Err(GuestError::Failed(format!("which plugins are on cannot be told: {problem}")));
        }
        let agents = plugins.agents();
        Ok(Guests {
            named: known(named, &agents),
            names,
            agents,
            providers: plugins.providers(),
            hooks: plugins.workflows(),
            barred: plugins.barred_agents(),
            barred_providers: plugins.barred_providers(),
        })
    }

    async fn heed_trust(&self, workspace: Workspace, lapses: Option<Duration>) {
        let root = workspace.root;
        if let Err(error) = self.look(Some(&root)).await {
            tracing::debug!(%error, "plugins cannot be looked at");
        }
        self.0.extensions.heed_trust(&root).await;
        let Some(time) = lapses.filter(|time| !time.is_zero()) else { return };
        let hosts = self.clone();
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = hosts.0.closing.cancelled() => {}
                () = tokio::time::sleep(time) => {
                    drop(hosts.look(Some(&root)).await);
                    hosts.0.extensions.heed_trust(&root).await;
                }
            }
        });
    }
}

impl Inner {
    fn trust_in(&self, root: Option<&Path>) -> Trust {
        let trusted = |root: &Path| self.engine.get().is_some_and(|engine| engine.is_trusted(root));
        if root.is_some_and(trusted) { Trust::Full } else { Trust::TightenOnly }
    }

    /// Asked before each call: trust that is taken back counts at once.
    fn trust_question(self: &Arc<Self>, root: Option<PathBuf>) -> TrustQuestion {
        let inner = Arc::downgrade(self);
        Arc::new(move |_| {
            let trust = inner.upgrade().map(|inner| inner.trust_in(root.as_deref()));
            trust == Some(Trust::Full)
        })
    }

    /// Where plugins of a workspace, and those of the user, are looked for.
    fn plugin_places(&self, root: Option<&Path>) -> Vec<loggia_plugins::Place> {
        let own = self.places.kept();
        // Without a home there are only our own.
        usual_places(self.home.as_deref().unwrap_or(own), own, root)
    }

    /// Where a plugin is put that is installed.
    fn own_place(&self, root: Option<&Path>) -> PathBuf {
        root.map_or_else(|| self.places.kept().join("plugins"), |root| root.join(".loggia/plugins"))
    }
}

impl PluginDesk for PluginHosts {
    fn list(&self, workspace: Option<Workspace>) -> BoxFuture<'_, Result<PluginListing, PluginDeskError>> {
        Box::pin(async move { self.listing(workspace.map(|workspace| workspace.root).as_deref()).await })
    }

    fn set_enabled(
        &self,
        name: String,
        workspace: Option<Workspace>,
        enabled: bool,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        Box::pin(Self::set_enabled(self, name, workspace, enabled))
    }

    fn validate(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<Option<String>, PluginDeskError>> {
        Box::pin(Self::validate(self, name, workspace))
    }

    fn install(
        &self,
        source: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PluginSummary, PluginDeskError>> {
        Box::pin(Self::install(self, source, workspace))
    }

    fn remove(
        &self,
        name: String,
        workspace: Option<Workspace>,
    ) -> BoxFuture<'_, Result<PathBuf, PluginDeskError>> {
        Box::pin(Self::remove(self, name, workspace))
    }

    fn consequences(
        &self,
        workspace: Workspace,
    ) -> BoxFuture<'_, Result<TrustConsequences, PluginDeskError>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { blocking(move || inner.consequences(&workspace.root)).await })
    }

    fn trust_changed(&self, workspace: Workspace, lapses: Option<Duration>) -> BoxFuture<'_, ()> {
        Box::pin(self.heed_trust(workspace, lapses))
    }
}

impl GuestFinder for PluginHosts {
    fn guests(&self, workspace: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        Box::pin(self.guests_of(workspace))
    }
}

fn no_such(listing: &PluginListing, name: &str) -> PluginDeskError {
    let names = listing.plugins.iter().map(|plugin| plugin.name.as_str());
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`loggia plugin list` tells which there are".to_owned(),
    };
    PluginDeskError::NotFound(format!("there is no plugin `{name}` here; {hint}"))
}

/// Does what reads and writes files where nobody waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PluginDeskError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| PluginDeskError::Unavailable(format!("the work was cut off: {error}")))
}

impl std::fmt::Debug for PluginHosts {
    /// The environment may have secrets and is not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHosts").field("places", &self.0.places).finish_non_exhaustive()
    }
}

/// Those of the agents that files name which are there. What Mehrhof itself brings, such as `claude`, is not.
fn known(named: TaskAgents, agents: &[Arc<dyn AgentBackend>]) -> TaskAgents {
    let known = |name: Option<String>| name.filter(|name| agents.iter().any(|agent| agent.name() == *name));
    TaskAgents {
        any: known(named.any),
        planning: known(named.planning),
        implementing: known(named.implementing),
        reviewing: known(named.reviewing),
    }
}
