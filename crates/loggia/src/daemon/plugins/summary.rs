//! A plugin of the host as people and doors see it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use loggia_domain::{
    PluginAbout, PluginDeskError, PluginKind, PluginListing, PluginStanding, PluginSummary, PluginVariable,
};
use loggia_plugins::{Executable, Listing, Manifest, PluginState, Role, Scope};

/// What is told of a plugin.
pub(super) fn of(listing: Listing, environment: &[(OsString, OsString)]) -> PluginSummary {
    let Listing { name, scope, directory, manifest, enabled, state, warnings, .. } = listing;
    PluginSummary {
        name,
        kind: manifest.as_ref().map(|manifest| match manifest.role {
            Role::Provider(_) => PluginKind::Provider,
            Role::Agent(_) => PluginKind::Agent,
            Role::Workflow(_) => PluginKind::Workflow,
        }),
        of_workspace: scope == Scope::Project,
        enabled,
        standing: match state {
            PluginState::Broken(problem) => PluginStanding::Broken(problem),
            PluginState::Untrusted => PluginStanding::Untrusted,
            PluginState::Disabled => PluginStanding::Disabled,
            PluginState::Enabled => PluginStanding::Ready,
            PluginState::Running(pid) => PluginStanding::Running(pid),
            PluginState::GivenUp(problem) => PluginStanding::GivenUp(problem),
        },
        directory,
        about: manifest.map(|manifest| about(manifest, environment)),
        warnings,
    }
}

/// One that is not there any more.
pub(super) fn gone(name: String) -> PluginSummary {
    PluginSummary {
        name,
        kind: None,
        of_workspace: false,
        enabled: false,
        standing: PluginStanding::Broken("there is no such plugin".to_owned()),
        directory: PathBuf::new(),
        about: None,
        warnings: Vec::new(),
    }
}

/// The plugin of that name; of two, the one that may run.
pub(super) fn named<'l>(listing: &'l PluginListing, name: &str) -> Option<&'l PluginSummary> {
    let named = listing.plugins.iter().filter(|plugin| plugin.name == name);
    named.min_by_key(|plugin| match plugin.standing {
        PluginStanding::Broken(_) => 2,
        PluginStanding::Untrusted => 1,
        _ => 0,
    })
}

/// Refuses to turn on what cannot be started at all.
pub(super) fn check_usable(plugin: &PluginSummary) -> Result<(), PluginDeskError> {
    let PluginStanding::Broken(problem) = &plugin.standing else { return Ok(()) };
    Err(PluginDeskError::Conflict(format!("the plugin `{}` cannot be used: {problem}", plugin.name)))
}

fn about(manifest: Manifest, environment: &[(OsString, OsString)]) -> PluginAbout {
    let is_set = |name: &str| environment.iter().any(|(known, _)| known == OsStr::new(name));
    let (schemes, capabilities) = abilities(&manifest.role);
    let variable = |variable: loggia_plugins::Variable| PluginVariable {
        set: is_set(&variable.name) || variable.default.is_some(),
        name: variable.name,
        description: variable.description,
        required: variable.required,
    };
    PluginAbout {
        description: manifest.description,
        version: manifest.version,
        protocol: manifest.protocol,
        author: manifest.author,
        homepage: manifest.homepage,
        command: match manifest.executable {
            Executable::Command(words) => words,
            Executable::Path(path) => vec![path],
        },
        schemes,
        capabilities,
        variables: manifest.environment.into_iter().map(variable).collect(),
    }
}

/// What references begin with, and what it says it can do or adds.
fn abilities(role: &Role) -> (Vec<String>, Vec<String>) {
    match role {
        Role::Provider(role) => (role.schemes.clone(), role.capabilities.iter().filter_map(word).collect()),
        Role::Agent(role) => (Vec::new(), role.capabilities.iter().filter_map(word).collect()),
        Role::Workflow(role) => {
            let phases = role.phases.iter().map(|phase| format!("phase {}", phase.name));
            let guards = role.guards.iter().map(|guard| format!("guard {}", guard.name));
            let effects = role.effects.iter().map(|effect| format!("effect {}", effect.name));
            (Vec::new(), phases.chain(guards).chain(effects).collect())
        }
    }
}

/// A capability's word on the wire.
fn word(capability: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(capability).ok()?.as_str().map(str::to_owned)
}
