//! One plugin of a host: what it is now, and whether it stays what it was.

use std::path::PathBuf;
use std::sync::Arc;

use loggia_jsonrpc::Json;

use super::{Listing, PluginState};
use crate::aliases::Variables;
use crate::context::Context;
use crate::discovery::{Found, Scope};
use crate::manifest::{Manifest, Role};
use crate::plugin::Plugin;

/// Why a plugin of a workspace that nobody trusts may not run.
const UNTRUSTED: &str = "its workspace is not trusted; `loggia trust` shows what would run, and lets it; `--trust` is for one run";

/// A plugin that was found.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) scope: Scope,
    /// What can be run, or what is wrong.
    pub(super) plugin: Result<Plugin, String>,
    /// Its place among those that are enabled.
    pub(super) rank: Option<usize>,
    pub(super) warnings: Vec<String>,
}

/// What one plugin is told.
pub(super) struct Told {
    pub(super) config: Json,
    pub(super) variables: Variables,
}

impl Entry {
    /// Whether its agent is called so.
    pub(super) fn has_agent(&self, name: &str) -> bool {
        let role = self.plugin.as_ref().map(|plugin| &plugin.manifest().role);
        matches!(role, Ok(Role::Agent(role)) if role.name == name)
    }

    /// What can be run and may not, and what lets it.
    pub(super) fn barred(&self) -> Option<(Plugin, String)> {
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
    pub(super) fn new(
        found: Found,
        rank: Option<usize>,
        told: Told,
        context: &Arc<Context>,
        before: Option<&Self>,
    ) -> Self {
        let name = found.name();
        let Found { directory, scope, manifest } = found;
        let mut warnings = Vec::new();
        let plugin = match manifest {
            Err(error) => Err(with_causes(&error)),
            Ok(manifest) => {
                let Told { config, variables } = told;
                let is_own = |name: &str| variables.iter().any(|(known, _)| known == name);
                warnings = manifest.warnings(|name| context.variable(name).is_some() || is_own(name));
                let made =
                    Plugin::new(manifest, directory.clone(), scope, config, variables, context.clone());
                Ok(before.and_then(|before| before.same(&made, rank)).unwrap_or(made))
            }
        };
        Self { name, directory, scope, plugin, rank, warnings }
    }

    /// The plugin that was known, if it may stay: nothing about it is different, and nobody took a right from it.
    fn same(&self, made: &Plugin, rank: Option<usize>) -> Option<Plugin> {
        let plugin = self.plugin.as_ref().ok()?;
        let is_as_before = plugin.is_like(made) && plugin.variables() == made.variables();
        let was_disabled = self.rank.is_some() && rank.is_none();
        let may_run = plugin.is_trusted() || plugin.is_idle();
        (is_as_before && !was_disabled && may_run).then(|| plugin.clone())
    }

    pub(super) fn listing(&self) -> Listing {
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

pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
