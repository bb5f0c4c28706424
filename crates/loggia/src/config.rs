//! Configuration: what is set, by whom, and what that means in the end.
//!
//! Values come in layers, later ones win: built-in defaults, the user's file, the workspace's file,
//! `LOGGIA_*` variables, flags. The table in [`keys`] says what can be set; everything else here walks it.
//!
//! What always holds:
//! - a value is checked against its key where it is read, so a [`Setting`] is never malformed;
//! - a workspace that is not trusted can only tighten: what it may not set is kept as [`Ignored`], with the reason;
//! - every value knows where it came from.

pub(crate) mod catalogue;
pub(crate) mod edit;
pub(crate) mod endpoints;
mod error;
pub(crate) mod extensions;
mod index;
pub(crate) mod keys;
mod layers;
mod load;
pub(crate) mod places;
mod plugins;
mod policy;
pub(crate) mod show;
mod tasks;
pub(crate) mod trust;
mod value;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anstream::ColorChoice;
use loggia_domain::{Policy, Preset};
use loggia_protocol_agent_server::PolicyPreset;
use tracing::level_filters::LevelFilter;

pub(crate) use error::ConfigError;
use layers::Layer;
pub(crate) use layers::{Ignored, Setting};
pub(crate) use load::OwnFlag;

use crate::cli::GlobalFlags;
use crate::logging::Format;
use crate::{color, env_vars, logging};
use keys::Key;
use layers::Origin;
pub(crate) use load::read as read_file;
use places::Places;
use value::Value;

/// The effective configuration: one setting per key, in the table's order.
#[derive(Debug)]
pub(crate) struct Config {
    settings: Vec<Setting>,
    /// The same for every workspace a server has: this one's file only tightens, however far it is trusted.
    everywhere: Vec<Setting>,
    user_file: PathBuf,
}

/// A setting of a command that only a server could follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unheard {
    pub(crate) key: String,
    /// The flag or the variable.
    pub(crate) origin: String,
    /// Whether it is a variable, which a server may have been started with, too.
    pub(crate) by_variable: bool,
}

impl Config {
    /// Reads all layers of this process and settles each key.
    pub(crate) fn load(flags: &GlobalFlags, of_command: &[OwnFlag<'_>]) -> Result<Self, ConfigError> {
        Self::load_in(&Places::find()?, flags, of_command)
    }

    /// The same for a process that works somewhere else.
    pub(crate) fn load_in(
        places: &Places,
        flags: &GlobalFlags,
        of_command: &[OwnFlag<'_>],
    ) -> Result<Self, ConfigError> {
        let variables = env_vars::ours();
        let mut layers = vec![load::user_file(&places.user_file())?];
        if let Some(root) = &places.workspace {
            let trust = match places.trust {
                Some(trust) => trust,
                None => trust::of(root, &places.trust_file())?,
            };
            layers.push(load::workspace_file(&Places::workspace_file(root), trust)?);
        }
        layers.push(load::variables(&variables)?);
        layers.push(load::flags(flags, of_command)?);
        let everywhere = layers::settle(layers.iter().map(Layer::for_others).collect());
        Ok(Self { settings: layers::settle(layers), everywhere, user_file: places.user_file() })
    }

    /// The configuration of somebody who has only flags.
    #[cfg(test)]
    pub(crate) fn of_flags(flags: &GlobalFlags) -> Self {
        let layer = load::flags(flags, &[]).expect("a test's flags make sense");
        let everywhere = layers::settle(vec![layer.clone()]);
        Self { settings: layers::settle(vec![layer]), everywhere, user_file: PathBuf::new() }
    }

    /// Every key's setting, in the table's order.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What an untrusted workspace tried to set in vain.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = (&Setting, &Ignored)> {
        self.settings.iter().flat_map(|setting| setting.ignored.iter().map(move |ignored| (setting, ignored)))
    }

    /// The user's own file, whether or not it exists.
    pub(crate) fn user_file(&self) -> &Path {
        &self.user_file
    }

    /// `ui.color`.
    pub(crate) fn color(&self) -> ColorChoice {
        color::choice(self.text(&keys::UI_COLOR))
    }

    /// `log.level`.
    pub(crate) fn log_level(&self) -> LevelFilter {
        logging::level(self.text(&keys::LOG_LEVEL))
    }

    /// `log.format`.
    pub(crate) fn log_format(&self) -> Format {
        logging::format(self.text(&keys::LOG_FORMAT))
    }

    /// `server.addr`.
    pub(crate) fn server_addr(&self) -> &str {
        self.text(&keys::SERVER_ADDR)
    }

    /// `server.hosts`.
    pub(crate) fn server_hosts(&self) -> Vec<String> {
        self.list(&keys::SERVER_HOSTS)
    }

    /// `server.origins`.
    pub(crate) fn server_origins(&self) -> Vec<String> {
        self.list(&keys::SERVER_ORIGINS)
    }

    /// `server.idle_exit_minutes`; nothing if it is never too long.
    pub(crate) fn idle_exit(&self) -> Option<Duration> {
        self.limit(&keys::SERVER_IDLE_EXIT_MINUTES)
            .map(|minutes| Duration::from_secs(minutes.saturating_mul(60)))
    }

    /// Whether somebody set a key, in whatever way.
    pub(crate) fn is_set(&self, key: &Key) -> bool {
        self.setting(key).is_some_and(|setting| setting.origin != Origin::Default)
    }

    /// Whether a key is set for this command or this workspace, so that a server that runs cannot know it.
    fn is_own(&self, key: &Key) -> bool {
        let elsewhere = |origin: &Origin| matches!(origin, Origin::Default | Origin::UserFile { .. });
        self.setting(key).is_some_and(|setting| !elsewhere(&setting.origin))
    }

    /// What is set for this command alone, by a flag or a variable, and only a server could follow.
    pub(crate) fn unheard(&self) -> Vec<Unheard> {
        let only_a_servers =
            |setting: &&Setting| !keys::OF_COMMANDS.iter().any(|key| key.path == setting.key.path);
        let unheard = |setting: &Setting| {
            let by_variable = match &setting.origin {
                Origin::Variable { .. } => true,
                Origin::Flag { .. } => false,
                Origin::Default | Origin::UserFile { .. } | Origin::WorkspaceFile { .. } => return None,
            };
            Some(Unheard { key: setting.path.to_string(), origin: setting.origin.to_string(), by_variable })
        };
        self.settings.iter().filter(only_a_servers).filter_map(unheard).collect()
    }

    /// `model.default`, if it is set for this command or this workspace.
    pub(crate) fn own_model(&self) -> Option<&str> {
        self.model().filter(|_| self.is_own(&keys::MODEL_DEFAULT))
    }

    /// `policy.preset`, if it is set for this command or this workspace.
    pub(crate) fn own_preset(&self) -> Option<PolicyPreset> {
        self.is_own(&keys::POLICY_PRESET).then(|| match policy::preset(&self.settings) {
            Preset::ReadOnly => PolicyPreset::ReadOnly,
            Preset::Ask => PolicyPreset::Ask,
            Preset::AutoEdit => PolicyPreset::AutoEdit,
            Preset::Full => PolicyPreset::Full,
        })
    }

    /// The flags of `loggia rpc` that the configuration stands for.
    pub(crate) fn rpc_flags(&self) -> Vec<String> {
        let switches =
            [(&keys::RPC_PREVIEW, "--preview"), (&keys::RPC_PERMISSION_TIMERS, "--permission-timers")];
        let is_on = |key: &Key| policy::switch(&self.settings, key);
        let mut flags: Vec<String> =
            switches.into_iter().filter(|(key, _)| is_on(key)).map(|(_, flag)| flag.to_owned()).collect();
        let merge = policy::limit(&self.settings, &keys::RPC_MERGE_UPDATES_MS).unwrap_or(0);
        flags.extend((merge > 0).then(|| format!("--merge-updates={merge}")));
        flags
    }

    /// `model.default`, if one is set.
    pub(crate) fn model(&self) -> Option<&str> {
        Some(self.text(&keys::MODEL_DEFAULT)).filter(|name| !name.is_empty())
    }

    /// Where `model.default` is set, for people; nothing if it is not.
    pub(crate) fn model_origin(&self) -> Option<String> {
        self.model()?;
        self.setting(&keys::MODEL_DEFAULT).map(|setting| setting.origin.to_string())
    }

    /// Whether `model.default` is set by a flag or a variable, which count before every choice that is kept.
    pub(crate) fn is_model_pinned(&self) -> bool {
        let pins = |origin: &Origin| matches!(origin, Origin::Flag { .. } | Origin::Variable { .. });
        self.model().is_some()
            && self.setting(&keys::MODEL_DEFAULT).is_some_and(|setting| pins(&setting.origin))
    }

    /// `telemetry.otlp_endpoint`, if one is set.
    pub(crate) fn otlp_endpoint(&self) -> Option<&str> {
        Some(self.text(&keys::TELEMETRY_OTLP_ENDPOINT)).filter(|url| !url.is_empty())
    }

    /// What holds in every workspace as far as its own policy does not say otherwise. Trusting
    /// one workspace loosens no other.
    pub(crate) fn policy(&self) -> Policy {
        policy::of(&self.everywhere)
    }

    fn list(&self, key: &Key) -> Vec<String> {
        let words = self.text(key).split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    fn text(&self, key: &Key) -> &str {
        match self.value(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// A number; nothing where there is no limit.
    fn limit(&self, key: &Key) -> Option<u64> {
        match self.value(key) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    fn value(&self, key: &Key) -> Option<&Value> {
        self.setting(key).map(|setting| &setting.value)
    }

    fn setting(&self, key: &Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.path == key.path)
    }
}
