//! `[plugins]`: which plugins run, and what each is handed.
//!
//! Knows what was written, and nothing of plugins.

use std::collections::BTreeMap;
use std::time::Duration;

use loggia_jsonrpc::Json;
use loggia_plugins::Limits;

use super::layers::Origin;
use super::value::Value;
use super::{Config, keys};

impl Config {
    /// `plugins.enabled`, in its order.
    pub(crate) fn plugins_enabled(&self) -> Vec<String> {
        self.list(&keys::PLUGINS_ENABLED)
    }

    /// Who sets `plugins.enabled`, if it is a flag or a variable: the user's file then has no say.
    pub(crate) fn plugins_pinned_by(&self) -> Option<String> {
        let setting = self.setting(&keys::PLUGINS_ENABLED)?;
        let pins = matches!(setting.origin, Origin::Flag { .. } | Origin::Variable { .. });
        pins.then(|| setting.origin.to_string())
    }

    /// `plugins.config`, by the plugins' names.
    pub(crate) fn plugins_config(&self) -> BTreeMap<String, Json> {
        let of_plugins = self.settings.iter().filter(|setting| setting.key.path == keys::PLUGIN_CONFIG.path);
        let config = of_plugins.filter_map(|setting| {
            let name = setting.key.name_in(&setting.path)?;
            match &setting.value {
                Value::Object(object) if object.0.is_object() => Some((name.to_owned(), object.clone())),
                _ => None,
            }
        });
        config.collect()
    }

    /// How long plugins may take, and how long their lines may be. No time at all, and no line, are no limits.
    pub(crate) fn plugin_limits(&self) -> Limits {
        let usual = Limits::default();
        let count = |key| self.limit(key).filter(|count| *count > 0);
        let seconds = |key, usual| count(key).map_or(usual, Duration::from_secs);
        Limits {
            run_silence: seconds(&keys::PLUGINS_SILENCE_S, usual.run_silence),
            run_total: seconds(&keys::PLUGINS_RUN_S, usual.run_total),
            line: count(&keys::PLUGINS_LINE_BYTES)
                .map_or(usual.line, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            ..usual
        }
    }

    /// `plugins.variables`.
    pub(super) fn plugin_variables(&self) -> Vec<String> {
        self.list(&keys::PLUGINS_VARIABLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GlobalFlags;

    #[test]
    fn limits_are_the_protocols_unless_somebody_says_otherwise() {
        assert_eq!(Config::of_flags(&GlobalFlags::default()).plugin_limits(), Limits::default());
        let set = [("plugins.silence_s", "7"), ("plugins.run_s", "0"), ("plugins.line_bytes", "1000")];
        let set = set.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec();
        let limits = Config::of_flags(&GlobalFlags { set, ..GlobalFlags::default() }).plugin_limits();
        let expected = Limits { run_silence: Duration::from_secs(7), line: 1000, ..Limits::default() };
        assert_eq!(limits, expected);
    }

    #[test]
    fn plugins_are_named_in_order_and_each_has_its_table() {
        let set = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        let flags = GlobalFlags {
            set: vec![
                set("plugins.enabled", "link, jira"),
                set("plugins.config.jira", "{\"url\": \"https://j\"}"),
                set("plugins.variables", "JIRA_TOKEN"),
            ],
            ..GlobalFlags::default()
        };
        let config = Config::of_flags(&flags);
        assert_eq!(config.plugins_enabled(), ["link", "jira"]);
        let jira = serde_json::json!({ "url": "https://j" });
        assert_eq!(config.plugins_config(), BTreeMap::from([("jira".to_owned(), Json(jira))]));
        assert_eq!(config.variables_for_server(), ["JIRA_TOKEN"]);
        assert_eq!(config.plugins_pinned_by().as_deref(), Some("--set"));
        assert_eq!(Config::of_flags(&GlobalFlags::default()).plugins_pinned_by(), None);
    }
}
