//! What a workspace's host is made from: which plugins are on, what each is handed, and their environment.
//!
//! Read anew each time, since people edit these files. What cannot be read is told and says nothing; what a workspace's
//! own files say is not even read before the workspace is trusted.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{PluginDeskError, TaskAgents, TaskNames};
use loggia_jsonrpc::Json;
use loggia_plugins::{AgentSettings, Limits, PluginSettings, read_variables};

use super::Inner;
use super::switches::Switch;
use crate::config::edit::Edit;
use crate::config::trust::Trust;
use crate::config::{Config, ConfigError, keys};

/// What Mehrhof's users configured, in a workspace.
pub(super) const MEHRHOF_FILE: &str = ".mehrhof/config.yaml";

/// Variables of a workspace's plugins.
pub(super) const MEHRHOF_VARIABLES: &str = ".mehrhof/.env";

/// What a host is made from.
#[derive(Debug, Default)]
pub(super) struct Setup {
    /// In the order in which they count.
    pub(super) enabled: Vec<String>,
    pub(super) config: BTreeMap<String, Json>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) limits: Limits,
    /// What Mehrhof's users set for an agent that says nothing.
    silence: Option<Duration>,
    /// Whom they named to do tasks.
    pub(super) named: TaskAgents,
    /// How they called what belongs to tasks.
    pub(super) names: TaskNames,
    /// What agents get besides, and what else they are called.
    pub(super) agents: AgentSettings,
    /// What could not be read, in words.
    pub(super) problems: Vec<String>,
    /// What was left out of it.
    left_out: Vec<String>,
    /// Plugins that the workspace configures. Those that are not on are probably written wrong.
    configured: Vec<String>,
}

impl Inner {
    /// What holds in a workspace, or outside of all of them.
    pub(super) fn setup(&self, root: Option<&Path>, trust: Trust) -> Setup {
        let mut setup = Setup { environment: self.environment.clone(), ..Setup::default() };
        if let (Some(root), Trust::Full) = (root, trust) {
            setup.take_mehrhof(root);
        }
        match self.config_in(root, trust) {
            Ok(config) => {
                setup.enabled.splice(0..0, config.plugins_enabled());
                setup.config.extend(config.plugins_config());
                let silence = setup.silence.filter(|_| !config.is_set(&keys::PLUGINS_SILENCE_S));
                setup.limits = config.plugin_limits();
                setup.limits.run_silence = silence.unwrap_or(setup.limits.run_silence);
            }
            Err(error) => setup.problems.push(in_words(&error)),
        }
        if let Some(root) = root {
            match self.switches.of(root) {
                Ok(switches) => {
                    setup.enabled.extend(switches.enabled);
                    setup.enabled.retain(|name| !switches.disabled.contains(name));
                }
                Err(problem) => setup.problems.push(problem),
            }
        }
        let mut seen = Vec::new();
        setup.enabled.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name.clone());
            is_new
        });
        setup
    }

    /// The configuration as it holds in a workspace.
    pub(super) fn config_in(&self, root: Option<&Path>, trust: Trust) -> Result<Config, ConfigError> {
        Config::load_in(&self.places.with_workspace(root, trust), &self.flags, &[])
    }

    /// Turns a plugin on or off, in a workspace or everywhere. Touches a disk.
    pub(super) fn switch(
        &self,
        root: Option<&Path>,
        name: &str,
        enabled: bool,
    ) -> Result<(), PluginDeskError> {
        let Some(root) = root else { return self.switch_everywhere(name, enabled) };
        // What is on without our word only needs a word to be off.
        let otherwise = self.on_otherwise(root);
        let is_on = otherwise.iter().any(|on| on == name);
        let switch = match (enabled, is_on) {
            (true, true) | (false, false) => Switch::Unsaid,
            (true, false) => Switch::On,
            (false, true) => Switch::Off,
        };
        self.switches.set(root, name, switch).map_err(PluginDeskError::Unavailable)
    }

    /// The plugins that are on in a workspace without a word of ours.
    fn on_otherwise(&self, root: &Path) -> Vec<String> {
        let mut setup = Setup::default();
        let trust = self.trust_in(Some(root));
        if trust == Trust::Full {
            setup.take_mehrhof(root);
        }
        let config = self.config_in(Some(root), trust).map(|config| config.plugins_enabled());
        setup.enabled.extend(config.unwrap_or_default());
        setup.enabled
    }

    /// Changes the user's own file.
    fn switch_everywhere(&self, name: &str, enabled: bool) -> Result<(), PluginDeskError> {
        let failed = |error: ConfigError| PluginDeskError::Unavailable(in_words(&error));
        let config = self.config_in(None, Trust::TightenOnly).map_err(failed)?;
        if let Some(by) = config.plugins_pinned_by() {
            return Err(PluginDeskError::Conflict(format!(
                "which plugins are on everywhere was said with {by} when the server was started, which counts before your file"
            )));
        }
        if name.contains(',') {
            return Err(PluginDeskError::Invalid(format!("`{name}` has a comma, which a list cannot hold")));
        }
        let mut edit = Edit::open(&self.places.user_file()).map_err(failed)?;
        let before = edit.names(keys::PLUGINS_ENABLED.path);
        let mut names = before.clone();
        names.retain(|known| known != name || enabled);
        if enabled && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        if names != before {
            edit.set_names(keys::PLUGINS_ENABLED.path, &names);
            edit.save().map_err(failed)?;
        }
        Ok(())
    }
}

impl Setup {
    /// What to mind that keeps nobody from working.
    pub(super) fn warnings(&self) -> Vec<String> {
        let in_vain = self.configured.iter().filter(|name| !self.enabled.contains(name));
        let in_vain = in_vain.map(|name| {
            format!("PLUGIN_NOT_FOUND: `{MEHRHOF_FILE}` configures `{name}`, which is not enabled here")
        });
        in_vain.chain(self.left_out.iter().map(|what| format!("`{MEHRHOF_FILE}`: {what}"))).collect()
    }

    /// What Mehrhof's files in a workspace say.
    fn take_mehrhof(&mut self, root: &Path) {
        match PluginSettings::read(&root.join(MEHRHOF_FILE)) {
            Ok(settings) => {
                self.enabled.extend(settings.enabled);
                self.config.extend(settings.config);
                self.silence = settings.agent_timeout;
                self.named = settings.agents;
                self.names = settings.names;
                self.agents = settings.agent_settings;
                self.left_out = settings.warnings;
                self.configured = self.config.keys().cloned().collect();
            }
            Err(error) => self.problems.push(in_words(&error)),
        }
        match read_variables(&root.join(MEHRHOF_VARIABLES)) {
            // What is set already counts first.
            Ok(variables) => {
                let is_new = |name: &str| self.environment.iter().all(|(known, _)| known != OsStr::new(name));
                let new: Vec<_> = variables.into_iter().filter(|(name, _)| is_new(name)).collect();
                self.environment.extend(new.into_iter().map(|(name, value)| (name.into(), value.into())));
            }
            Err(error) => self.problems.push(in_words(&error)),
        }
    }
}

/// An error with its causes.
pub(in crate::daemon) fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A path below a root, as people name it.
pub(super) fn below(root: &Path, path: &Path) -> String {
    let relative: PathBuf = path.strip_prefix(root).unwrap_or(path).to_owned();
    relative.display().to_string()
}
