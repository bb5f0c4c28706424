//! All plugins of a host: found, sorted out, listed, handed out, stopped.
//!
//! Invariant: making a host and listing its plugins starts no process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;
use loggia_domain::{AgentBackend, BarredAgent, BarredProvider, TaskProvider, WorkflowHook};
use loggia_jsonrpc::Json;
use loggia_wire::child::Keeper;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::GuestAgent;
use crate::context::{Context, TrustQuestion};
use crate::discovery::{Found, Scope, discover};
use crate::limits::Limits;
use crate::manifest::{Manifest, PluginKind};
use crate::plugin::Plugin;
use crate::provider::GuestProvider;
use crate::workflow::GuestWorkflow;
use crate::{Place, PluginError};

/// Why a plugin of a workspace that nobody trusts may not run.
const UNTRUSTED: &str = "its workspace is not trusted; `loggia trust` shows what would run, and lets it; `--trust` is for one run";

/// What a host is told.
#[derive(Clone)]
pub struct HostSettings {
    /// Where to look; later places win.
    pub places: Vec<Place>,
    /// Names of plugins that may run, in the order in which they count.
    pub enabled: Vec<String>,
    /// What each is handed when it starts.
    pub config: BTreeMap<String, Json>,
    /// The environment that plugins get: all of it, and nothing of ours besides.
    pub environment: Vec<(OsString, OsString)>,
    /// How long they may take.
    pub limits: Limits,
    /// Whether a workspace's plugin may run.
    pub trust: TrustQuestion,
}

/// The plugins of a host.
#[derive(Debug)]
pub struct Plugins {
    context: Arc<Context>,
    entries: Vec<Entry>,
    /// Names that were to be enabled.
    wanted: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    directory: PathBuf,
    scope: Scope,
    /// What can be run, or what is wrong.
    plugin: Result<Plugin, String>,
    /// Its place among those that are enabled.
    rank: Option<usize>,
    warnings: Vec<String>,
}

/// A plugin as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Its name, or its directory's if nobody can read its manifest.
    pub name: String,
    /// What it is, if that is known.
    pub kind: Option<PluginKind>,
    /// Whose it is.
    pub scope: Scope,
    /// Where it lies.
    pub directory: PathBuf,
    /// What it says it is.
    pub description: Option<String>,
    /// All that it says about itself, if that can be read.
    pub manifest: Option<Manifest>,
    /// Whether somebody enabled it.
    pub enabled: bool,
    /// Whether it can be used.
    pub state: PluginState,
    /// What to mind.
    pub warnings: Vec<String>,
}

/// Whether a plugin can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginState {
    /// Its manifest is no good, for this reason.
    Broken(String),
    /// A workspace brought it, and nobody trusts that workspace.
    Untrusted,
    /// Nobody enabled it.
    Disabled,
    /// It is started when it is needed.
    Enabled,
    /// It runs, as this process.
    Running(i32),
    /// It failed too often, the last time so.
    GivenUp(String),
}

impl Plugins {
    /// Looks for plugins. Reads files, so it should not be called where others wait. What replaces what is settled here:
    /// whoever changes what is trusted looks again.
    pub fn find(keeper: Keeper, settings: HostSettings) -> Self {
        let HostSettings { places, enabled, config, environment, limits, trust } = settings;
        let tasks = TaskTracker::new();
        let closing = CancellationToken::new();
        let context = Arc::new(Context { keeper, environment, limits, trust, tasks, closing });
        Self::look(context, &places, enabled, &config, &[])
    }

    /// Looks again, after settings, trust or files changed. Plugins that stay as they are, also stay the same: what runs
    /// goes on. The others are given back; whoever looked ends them with [`Plugins::end`]. `settings.trust` must ask the
    /// same as before.
    #[must_use]
    pub fn find_again(&self, settings: HostSettings) -> (Self, Vec<Plugin>) {
        let HostSettings { places, enabled, config, environment, limits, trust } = settings;
        let before = &self.context;
        let context = if before.environment == environment && before.limits == limits {
            Arc::clone(before)
        } else {
            let (keeper, tasks) = (before.keeper.clone(), before.tasks.clone());
            let closing = before.closing.clone();
            Arc::new(Context { keeper, environment, limits, trust, tasks, closing })
        };
        let again = Self::look(context, &places, enabled, &config, &self.entries);
        let stays = |plugin: &Plugin| again.plugins().any(|other| other.is(plugin));
        let leaving = self.plugins().filter(|plugin| !stays(plugin)).cloned().collect();
        (again, leaving)
    }

    /// Ends plugins that are not to be used any more, all at the same time. Calls under way fail at once; the future is for
    /// the processes, which may take their time.
    pub fn end(leaving: Vec<Plugin>) -> impl Future<Output = ()> + Send + 'static {
        leaving.iter().for_each(|plugin| plugin.closing().cancel());
        async move {
            join_all(leaving.iter().map(Plugin::stop)).await;
        }
    }

    fn look(
        context: Arc<Context>,
        places: &[Place],
        enabled: Vec<String>,
        config: &BTreeMap<String, Json>,
        before: &[Entry],
    ) -> Self {
        let found = without_replaced(discover(places), |found| {
            found.scope == Scope::Global || (context.trust)(&found.directory)
        });
        let mut entries: Vec<Entry> = found
            .into_iter()
            .map(|found| {
                let rank = enabled.iter().position(|name| *name == found.name());
                let config = config.get(&found.name()).cloned();
                let known = before.iter().find(|entry| entry.directory == found.directory);
                Entry::new(found, rank, config, &context, known)
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.directory.cmp(&b.directory)));
        Self { context, entries, wanted: enabled }
    }

    /// All there are, by name.
    pub fn list(&self) -> Vec<Listing> {
        self.entries.iter().map(Entry::listing).collect()
    }

    /// One that is enabled, by its name; of two, the one that may run.
    pub fn get(&self, name: &str) -> Option<&Plugin> {
        let mut named: Vec<&Plugin> = self.enabled().filter(|plugin| plugin.name() == name).collect();
        named.sort_by_key(|plugin| !plugin.is_trusted());
        named.first().copied()
    }

    /// Names that are enabled and that no plugin has: probably written wrong.
    pub fn enabled_in_vain(&self) -> impl Iterator<Item = &str> {
        let unknown = |name: &&String| self.entries.iter().all(|entry| entry.name != **name);
        self.wanted.iter().filter(unknown).map(String::as_str)
    }

    /// Those that are enabled, in the order in which they count.
    pub fn enabled(&self) -> impl Iterator<Item = &Plugin> {
        let mut ranked: Vec<(usize, &Plugin)> = self
            .entries
            .iter()
            .filter_map(|entry| Some((entry.rank?, entry.plugin.as_ref().ok()?)))
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, plugin)| plugin)
    }

    /// Places that tasks come from. Of two with one name, the first counts.
    pub fn providers(&self) -> Vec<Arc<dyn TaskProvider>> {
        let mut providers: Vec<Arc<dyn TaskProvider>> = Vec::new();
        for provider in self.trusted().filter_map(|plugin| GuestProvider::of(plugin.clone())) {
            if providers.iter().all(|known| known.name() != provider.name()) {
                providers.push(Arc::new(provider));
            } else {
                tracing::warn!(name = provider.name(), "a second provider of that name is left out");
            }
        }
        providers
    }

    /// Agents that are there and may not run, with what lets them.
    pub fn barred_agents(&self) -> Vec<BarredAgent> {
        let barred = |entry: &Entry| {
            let (plugin, why) = entry.barred()?;
            Some(BarredAgent { name: GuestAgent::of(plugin)?.name(), why })
        };
        self.entries.iter().filter_map(barred).collect()
    }

    /// Places that tasks come from that are there and may not run, with what lets them.
    pub fn barred_providers(&self) -> Vec<BarredProvider> {
        let barred = |entry: &Entry| {
            let (plugin, why) = entry.barred()?;
            let schemes = GuestProvider::of(plugin)?.schemes();
            Some(BarredProvider { plugin: entry.name.clone(), schemes, why })
        };
        self.entries.iter().filter_map(barred).collect()
    }

    /// Agents.
    pub fn agents(&self) -> Vec<Arc<dyn AgentBackend>> {
        let agents = self.trusted().filter_map(|plugin| GuestAgent::of(plugin.clone()));
        agents.map(|agent| Arc::new(agent) as Arc<dyn AgentBackend>).collect()
    }

    /// Those who have a say in how work goes.
    pub fn workflows(&self) -> Vec<Arc<dyn WorkflowHook>> {
        let hooks = self.trusted().filter_map(|plugin| GuestWorkflow::of(plugin.clone()));
        hooks.map(|hook| Arc::new(hook) as Arc<dyn WorkflowHook>).collect()
    }

    /// Tries whether a plugin starts, takes its configuration and gives a sign of life, enabled or not, given up or not,
    /// in a process of its own. One that does is not given up any more. Nothing if there is none of that name; of two, the one that may run.
    pub async fn probe(&self, name: &str) -> Option<Result<(), ProbeError>> {
        let named = self.entries.iter().filter(|entry| entry.name == name);
        let entry = named.min_by_key(|entry| match &entry.plugin {
            Ok(plugin) if plugin.is_trusted() => 0,
            Ok(_) => 1,
            Err(_) => 2,
        })?;
        let plugin = match &entry.plugin {
            Ok(plugin) => plugin,
            Err(problem) => return Some(Err(ProbeError::Manifest(problem.clone()))),
        };
        let lives = plugin.try_out().await;
        if lives.is_ok() {
            plugin.revive();
        }
        Some(lives.map_err(ProbeError::Plugin))
    }

    /// Stops all plugins at the same time, each with the protocol's own steps. Calls under way fail; no plugin is
    /// started any more.
    pub async fn stop(&self) {
        self.context.closing.cancel();
        join_all(self.plugins().map(Plugin::stop)).await;
        self.context.tasks.close();
        self.context.tasks.wait().await;
    }

    /// All that can be run at all.
    fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.entries.iter().filter_map(|entry| entry.plugin.as_ref().ok())
    }

    /// Enabled, and of a workspace that is trusted: what others may know of.
    fn trusted(&self) -> impl Iterator<Item = &Plugin> {
        self.enabled().filter(|plugin| plugin.is_trusted())
    }
}

/// Why a plugin is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Its manifest is no good.
    #[error("{0}")]
    Manifest(String),
    /// It does not work.
    #[error("{0}")]
    Plugin(#[source] PluginError),
}

impl Entry {
    /// What can be run and may not, and what lets it.
    fn barred(&self) -> Option<(Plugin, String)> {
        let plugin = self.plugin.as_ref().ok()?;
        let why = match (plugin.is_trusted(), self.rank) {
            (false, _) => UNTRUSTED.to_owned(),
            (true, None) => {
                format!("it is not enabled here; `loggia plugin enable {}` turns it on", self.name)
            }
            (true, Some(_)) => return None,
        };
        Some((plugin.clone(), why))
    }

    /// `before` is what was known of that directory.
    fn new(
        found: Found,
        rank: Option<usize>,
        config: Option<Json>,
        context: &Arc<Context>,
        before: Option<&Self>,
    ) -> Self {
        let name = found.name();
        let Found { directory, scope, manifest } = found;
        let mut warnings = Vec::new();
        let plugin = match manifest {
            Err(error) => Err(with_causes(&error)),
            Ok(manifest) => {
                warnings = manifest.warnings(|name| context.variable(name).is_some());
                let config = config.unwrap_or_else(Json::object);
                let same = before.and_then(|before| before.same(&manifest, scope, &config, rank, context));
                let made = || Plugin::new(manifest, directory.clone(), scope, config, context.clone());
                Ok(same.unwrap_or_else(made))
            }
        };
        Self { name, directory, scope, plugin, rank, warnings }
    }

    /// The plugin that was known, if it may stay: nothing about it is different, and nobody took a right from it.
    fn same(
        &self,
        manifest: &Manifest,
        scope: Scope,
        config: &Json,
        rank: Option<usize>,
        context: &Arc<Context>,
    ) -> Option<Plugin> {
        let plugin = self.plugin.as_ref().ok()?;
        let is_as_before = *plugin.manifest() == *manifest
            && plugin.scope() == scope
            && plugin.config() == config
            && Arc::ptr_eq(plugin.context(), context);
        let was_disabled = self.rank.is_some() && rank.is_none();
        let may_run = plugin.is_trusted() || plugin.is_idle();
        (is_as_before && !was_disabled && may_run).then(|| plugin.clone())
    }

    fn listing(&self) -> Listing {
        let manifest = self.plugin.as_ref().ok().map(Plugin::manifest);
        Listing {
            name: self.name.clone(),
            kind: manifest.map(Manifest::kind),
            scope: self.scope,
            directory: self.directory.clone(),
            description: manifest.and_then(|manifest| manifest.description.clone()),
            manifest: manifest.cloned(),
            enabled: self.rank.is_some(),
            state: self.state(),
            warnings: self.warnings.clone(),
        }
    }

    fn state(&self) -> PluginState {
        let plugin = match &self.plugin {
            Ok(plugin) => plugin,
            Err(problem) => return PluginState::Broken(problem.clone()),
        };
        let sketch = plugin.sketch();
        match (sketch.given_up, sketch.pid) {
            _ if !plugin.is_trusted() => PluginState::Untrusted,
            _ if self.rank.is_none() => PluginState::Disabled,
            (Some(problem), _) => PluginState::GivenUp(problem),
            (None, Some(pid)) => PluginState::Running(pid),
            (None, None) => PluginState::Enabled,
        }
    }
}

/// Leaves out those whose name a later one has. One that is not trusted replaces nobody: a workspace that is only
/// looked at does not take anything away.
fn without_replaced(found: Vec<Found>, is_trusted: impl Fn(&Found) -> bool) -> Vec<Found> {
    let counts = |found: &Found| found.manifest.is_ok() && is_trusted(found);
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for (place, one) in found.iter().enumerate().filter(|(_, one)| counts(one)) {
        last.insert(one.name(), place);
    }
    let kept = found
        .into_iter()
        .enumerate()
        .filter(|(place, one)| !counts(one) || last.get(&one.name()).is_none_or(|winner| winner == place));
    kept.map(|(_, one)| one).collect()
}

pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl fmt::Debug for HostSettings {
    /// Values of the environment and of the configuration may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSettings")
            .field("places", &self.places)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}
