//! Agents of a host under other names. One that has variables of its own is a plugin of its own: the same program, in
//! another process that has them.
//!
//! Invariant: an alias takes no agent's name away, and is there only while its agent may be used.

use loggia_domain::{AgentBackend, BarredAgent};

use super::{Entry, Plugins};
use crate::agent::GuestAgent;
use crate::aliases::{AgentAlias, AgentSettings, Variables, expand, merged};
use crate::plugin::Plugin;

/// An agent under another name.
#[derive(Debug)]
pub(super) struct Alias {
    name: String,
    description: Option<String>,
    /// What it is, or why it is nothing.
    target: Result<Target, String>,
}

#[derive(Debug)]
struct Target {
    /// The agent's own name.
    agent: String,
    plugin: Plugin,
}

/// What a workspace's own files make of an agent, as people see it. Values may be secrets and are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentListing {
    /// What it is called.
    pub name: String,
    /// The agent that it is, if the name is an alias.
    pub alias_of: Option<String>,
    /// What it is for, in words.
    pub description: Option<String>,
    /// Names of the variables that it gets besides the host's.
    pub variables: Vec<String>,
}

impl Alias {
    /// The plugin it is, if it is one.
    pub(super) fn plugin(&self) -> Option<&Plugin> {
        self.target.as_ref().ok().map(|target| &target.plugin)
    }

    /// The agent it is, if it is one.
    pub(super) fn agent(&self) -> Option<GuestAgent> {
        GuestAgent::called(self.plugin()?.clone(), &self.name)
    }

    /// Why it is nothing.
    pub(super) fn barred(&self) -> Option<BarredAgent> {
        let why = self.target.as_ref().err()?.clone();
        Some(BarredAgent { name: self.name.clone(), why })
    }

    /// Makes the aliases of a host from its plugins and those that were there before, and tells what to mind.
    pub(super) fn all(
        settings: &AgentSettings,
        entries: &[Entry],
        before: &[Self],
    ) -> (Vec<Self>, Vec<String>) {
        let mut warnings = Vec::new();
        let mut aliases = Vec::new();
        for alias in &settings.aliases {
            if usable(entries, &alias.name).is_some() {
                let name = &alias.name;
                warnings.push(format!("the alias `{name}` is left out: an agent of a plugin is called so"));
                continue;
            }
            let known = before.iter().find(|known| known.name == alias.name).and_then(Self::plugin);
            let (name, description) = (alias.name.clone(), alias.description.clone());
            let target = Target::of(alias, settings, entries, known, &mut warnings);
            aliases.push(Self { name, description, target });
        }
        (aliases, warnings)
    }
}

impl Target {
    fn of(
        alias: &AgentAlias,
        settings: &AgentSettings,
        entries: &[Entry],
        known: Option<&Plugin>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, String> {
        let resolved = settings.resolve(alias, |name| entries.iter().any(|entry| entry.has_agent(name)))?;
        let agent = resolved.agent.to_owned();
        let base = usable(entries, &agent).ok_or_else(|| {
            let barred = entries.iter().filter(|entry| entry.has_agent(&agent)).find_map(Entry::barred);
            let why = barred.map_or_else(|| "its plugin is no good".to_owned(), |(_, why)| why);
            format!("it extends `{agent}`, which may not run: {why}")
        })?;
        let own = put_in(alias, resolved.variables, base, warnings);
        let variables = merged(base.variables().iter().cloned().chain(own));
        if variables == base.variables() {
            return Ok(Self { agent, plugin: base.clone() });
        }
        let stays = |known: &&Plugin| {
            known.is_like(base) && known.variables() == variables && (known.is_trusted() || known.is_idle())
        };
        let plugin = known.filter(stays).cloned().unwrap_or_else(|| base.with_variables(variables));
        Ok(Self { agent, plugin })
    }
}

impl Plugins {
    /// What workspaces' own files make of agents: aliases that can be used, and agents that get variables.
    pub fn told_agents(&self) -> Vec<AgentListing> {
        let names = |plugin: &Plugin| plugin.variables().iter().map(|(name, _)| name.clone()).collect();
        let with_variables = self.trusted().filter(|plugin| !plugin.variables().is_empty());
        let own = with_variables.filter_map(|plugin| {
            let name = GuestAgent::of(plugin.clone())?.name();
            Some(AgentListing { name, alias_of: None, description: None, variables: names(plugin) })
        });
        let aliases = self.aliases.iter().filter_map(|alias| {
            let target = alias.target.as_ref().ok()?;
            Some(AgentListing {
                name: alias.name.clone(),
                alias_of: Some(target.agent.clone()),
                description: alias.description.clone(),
                variables: names(&target.plugin),
            })
        });
        own.chain(aliases).collect()
    }
}

/// The plugin that has an agent of this name and may be used.
fn usable<'a>(entries: &'a [Entry], agent: &str) -> Option<&'a Plugin> {
    let mut ranked: Vec<(usize, &Plugin)> = entries
        .iter()
        .filter(|entry| entry.has_agent(agent))
        .filter_map(|entry| Some((entry.rank?, entry.plugin.as_ref().ok()?)))
        .filter(|(_, plugin)| plugin.is_trusted())
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.first().map(|(_, plugin)| *plugin)
}

/// An alias' variables with the host's put into them.
fn put_in(alias: &AgentAlias, variables: Variables, base: &Plugin, warnings: &mut Vec<String>) -> Variables {
    let of_host = |name: &str| Some(base.context().variable(name)?.to_string_lossy().into_owned());
    let mut unset = Vec::new();
    let own = variables.into_iter().map(|(name, value)| {
        let value = expand(&value, of_host, &mut unset);
        (name, value)
    });
    let own = own.collect();
    warnings.extend(unset.iter().map(|name| {
        format!(
            "the alias `{}` wants the variable `{name}`, which the server does not have; `plugins.variables` names those \
             that it is given",
            alias.name
        )
    }));
    own
}
