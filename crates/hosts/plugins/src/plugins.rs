//! All plugins of a host: found, sorted out, listed, handed out, stopped.
//!
//! Invariant: making a host and listing its plugins starts no process.

mod aliases;
mod entry;

pub use aliases::AgentListing;
pub(crate) use entry::with_causes;

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
use crate::aliases::{AgentSettings, merged};
use crate::context::{Context, TrustQuestion};
use crate::discovery::{Found, Scope, discover};
use crate::limits::Limits;
use crate::manifest::{Manifest, PluginKind};
use crate::plugin::Plugin;
use crate::provider::GuestProvider;
use crate::workflow::GuestWorkflow;
use crate::{Place, PluginError};
use aliases::Alias;
use entry::{Entry, Told};

/// What a host is told.
#[derive(Clone)]
pub struct HostSettings {
    /// Where to look; later places win.
    pub places: Vec<Place>,
    /// Names of plugins that may run, in the order in which they count.
    pub enabled: Vec<String>,
    /// What each is handed when it starts.
    pub config: BTreeMap<String, Json>,
    /// What agents get besides, and what else they are called.
    pub agents: AgentSettings,
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
    aliases: Vec<Alias>,
    /// What to mind that is no plugin's fault.
    warnings: Vec<String>,
    /// Names that were to be enabled.
    wanted: Vec<String>,
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
        let HostSettings { places, enabled, config, agents, environment, limits, trust } = settings;
        let tasks = TaskTracker::new();
        let closing = CancellationToken::new();
        let context = Arc::new(Context { keeper, environment, limits, trust, tasks, closing });
        let wanted = Wanted { enabled, config, agents };
        Self::look(context, &places, wanted, (&[], &[]))
    }

    /// Looks again, after settings, trust or files changed. Plugins that stay as they are, also stay the same: what runs
    /// goes on. The others are given back; whoever looked ends them with [`Plugins::end`]. `settings.trust` must ask the
    /// same as before.
    #[must_use]
    pub fn find_again(&self, settings: HostSettings) -> (Self, Vec<Plugin>) {
        let HostSettings { places, enabled, config, agents, environment, limits, trust } = settings;
        let before = &self.context;
        let context = if before.environment == environment && before.limits == limits {
            Arc::clone(before)
        } else {
            let (keeper, tasks) = (before.keeper.clone(), before.tasks.clone());
            let closing = before.closing.clone();
            Arc::new(Context { keeper, environment, limits, trust, tasks, closing })
        };
        let wanted = Wanted { enabled, config, agents };
        let again = Self::look(context, &places, wanted, (&self.entries, &self.aliases));
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

    fn look(context: Arc<Context>, places: &[Place], wanted: Wanted, before: (&[Entry], &[Alias])) -> Self {
        let Wanted { enabled, config, agents } = wanted;
        let found = without_replaced(discover(places), |found| {
            found.scope == Scope::Global || (context.trust)(&found.directory)
        });
        let mut entries: Vec<Entry> = found
            .into_iter()
            .map(|found| {
                let rank = enabled.iter().position(|name| *name == found.name());
                let config = config.get(&found.name()).cloned().unwrap_or_else(Json::object);
                let variables = found.agent().map(|name| merged(agents.of_agent(name))).unwrap_or_default();
                let told = Told { config, variables };
                let known = before.0.iter().find(|entry| entry.directory == found.directory);
                Entry::new(found, rank, told, &context, known)
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.directory.cmp(&b.directory)));
        let (aliases, warnings) = Alias::all(&agents, &entries, before.1);
        Self { context, entries, aliases, warnings, wanted: enabled }
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

    /// What to mind of what was said about agents.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Lets plugins of this name that were given up try again.
    pub fn revive(&self, name: &str) {
        self.plugins().filter(|plugin| plugin.name() == name).for_each(Plugin::revive);
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
        let own = self.entries.iter().filter_map(barred);
        own.chain(self.aliases.iter().filter_map(Alias::barred)).collect()
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

    /// Agents, and then their aliases.
    pub fn agents(&self) -> Vec<Arc<dyn AgentBackend>> {
        let agents = self.trusted().filter_map(|plugin| GuestAgent::of(plugin.clone()));
        let agents = agents.chain(self.aliases.iter().filter_map(Alias::agent));
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
            self.revive(name);
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
        let own = self.entries.iter().filter_map(|entry| entry.plugin.as_ref().ok());
        own.chain(self.aliases.iter().filter_map(Alias::plugin))
    }

    /// Enabled, and of a workspace that is trusted: what others may know of.
    fn trusted(&self) -> impl Iterator<Item = &Plugin> {
        self.enabled().filter(|plugin| plugin.is_trusted())
    }
}

/// Which plugins are wanted, and what they are told.
struct Wanted {
    enabled: Vec<String>,
    config: BTreeMap<String, Json>,
    agents: AgentSettings,
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

impl fmt::Debug for HostSettings {
    /// Values of the environment and of the configuration may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSettings")
            .field("places", &self.places)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}
