//! What trusting a workspace means: what would run, and what its files say that would then hold.
//!
//! Starts nothing and changes nothing. Values of variables are not told: they may be secrets.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{TaskAgents, TaskNames, TrustConsequences, TrustedSetting};
use loggia_plugins::{AgentListing, HostSettings, PluginSettings, Plugins, Scope, read_variables};

use super::setup::{MEHRHOF_FILE, MEHRHOF_VARIABLES, Setup, below, in_words};
use super::{Inner, summary};
use crate::config::extensions::Configured;
use crate::config::keys;
use crate::config::places::Places;
use crate::config::trust::Trust;

/// Files that the engine reads, or reads without reserve, only if the workspace is trusted.
const READ_BY_ENGINE: [(&str, &str); 2] = [
    (".loggia/instructions.md", "the agent is told what it says"),
    (".loggia/policy.toml", "its rules may loosen what your policy asks about or denies"),
];

impl Inner {
    /// What trusting this workspace means.
    pub(super) fn consequences(&self, root: &Path) -> TrustConsequences {
        let Setup { enabled, config, agents, environment, limits, problems, .. } =
            self.setup(Some(root), Trust::Full);
        let settings = HostSettings {
            places: self.plugin_places(Some(root)),
            enabled,
            config,
            agents,
            environment: environment.clone(),
            limits,
            // As if it were.
            trust: Arc::new(|_| true),
        };
        let plugins = Plugins::find(self.keeper.clone(), settings);
        let agents = plugins.told_agents();
        let own = plugins.list().into_iter().filter(|plugin| plugin.scope == Scope::Project);
        TrustConsequences {
            plugins: own.map(|plugin| summary::of(plugin, &environment)).collect(),
            settings: self.settings_of(root, &agents),
            problems,
        }
    }

    /// What the files say, and make of `agents`. Those that cannot be read are told elsewhere.
    fn settings_of(&self, root: &Path, agents: &[AgentListing]) -> Vec<TrustedSetting> {
        let setting = |file: &str, effect: String| TrustedSetting { file: file.to_owned(), effect };
        let mut settings = Vec::new();
        let mut own_names = TaskNames::default();
        if let Ok(config) = self.config_in(Some(root), Trust::TightenOnly) {
            own_names = config.tasks().names;
            let file = below(root, &Places::workspace_file(root));
            let runs = config.extensions().into_iter().filter(|one| one.of_workspace && one.enabled);
            settings.extend(runs.map(|one| setting(&file, extension(&one))));
            let others = config.ignored().filter(|(key, _)| key.key.path != keys::EXTENSIONS.path);
            let others = others.map(|(key, value)| format!("{} = {}", key.path, value.value));
            settings.extend(others.map(|effect| setting(&file, effect)));
        }
        let there = |(file, _): &&(&str, &str)| root.join(file).is_file();
        let read = READ_BY_ENGINE.iter().filter(there);
        settings.extend(read.map(|(file, effect)| setting(file, (*effect).to_owned())));
        match PluginSettings::read(&root.join(MEHRHOF_FILE)) {
            Ok(mehrhof) => {
                let enables = mehrhof.enabled.iter().map(|name| format!("enables the plugin `{name}`"));
                settings.extend(enables.map(|effect| setting(MEHRHOF_FILE, effect)));
                let configures = mehrhof.config.keys().map(|name| format!("configures the plugin `{name}`"));
                settings.extend(configures.map(|effect| setting(MEHRHOF_FILE, effect)));
                let TaskAgents { any, planning, implementing, reviewing } = mehrhof.agents;
                let mut named: Vec<String> =
                    [any, planning, implementing, reviewing].into_iter().flatten().collect();
                named.sort();
                named.dedup();
                let works =
                    named.iter().map(|name| format!("has tasks done by `{name}`, if an agent is called so"));
                let more = agents.iter().map(agent_words).chain(name_words(mehrhof.names, &own_names));
                settings.extend(works.chain(more).map(|effect| setting(MEHRHOF_FILE, effect)));
            }
            Err(error) => tracing::debug!(error = in_words(&error), "told with the problems"),
        }
        if let Ok(variables) = read_variables(&root.join(MEHRHOF_VARIABLES)) {
            let sets = variables.iter().map(|(name, _)| format!("sets `{name}` for plugins"));
            settings.extend(sets.map(|effect| setting(MEHRHOF_VARIABLES, effect)));
        }
        settings
    }
}

/// What an extension would do. Values of its variables are not told.
fn extension(one: &Configured) -> String {
    let name = one.name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
    let words: Vec<&str> = std::iter::once(&one.path).chain(&one.args).map(String::as_str).collect();
    format!("runs the extension{name} when it is needed: {}", words.join(" "))
}

/// What is made of an agent.
fn agent_words(agent: &AgentListing) -> String {
    let AgentListing { name, alias_of, description, variables } = agent;
    let names: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    let about = description.as_ref().map(|words| format!(" ({words})")).unwrap_or_default();
    match alias_of {
        None => format!("gives {names} to the agent `{name}`"),
        Some(agent) if variables.is_empty() => format!("adds the agent `{name}`{about}, which is `{agent}`"),
        Some(agent) => format!("adds the agent `{name}`{about}, which is `{agent}` with {names}"),
    }
}

/// How things are called, where nothing of ours says so.
fn name_words(names: TaskNames, own: &TaskNames) -> impl Iterator<Item = String> {
    let TaskNames { scheme, branch, commit_prefix } = names;
    let scheme = scheme.filter(|_| own.scheme.is_none());
    let branch = branch.filter(|_| own.branch.is_none());
    let commit_prefix = commit_prefix.filter(|_| own.commit_prefix.is_none());
    let scheme = scheme.map(|scheme| format!("reads references of tasks without a scheme as `{scheme}:`"));
    let branch = branch.map(|pattern| format!("calls branches of tasks `{pattern}`"));
    let prefix = commit_prefix.map(|prefix| format!("begins commits of tasks with `{prefix}`"));
    scheme.into_iter().chain(branch).chain(prefix)
}
