//! `[[extensions]]`: which extensions there are, and what their dialogs and commands may do.
//!
//! Knows what was written, and nothing of extensions. Those of a workspace that is not trusted are told, too: whoever runs
//! them asks about trust.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use loggia_engine::dialogs::{DialogSettings, WhenNobody};
use loggia_jsonrpc::Json;

use super::layers::{Origin, Setting};
use super::value::Value;
use super::{Config, keys, policy};

/// An extension as it is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Configured {
    /// What somebody called it.
    pub(crate) name: Option<String>,
    /// The program, or a command line if there are no arguments.
    pub(crate) path: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) enabled: bool,
    /// Whether a workspace's file names it.
    pub(crate) of_workspace: bool,
}

impl Config {
    /// All extensions that are configured, in their order.
    pub(crate) fn extensions(&self) -> Vec<Configured> {
        let entries = self.settings.iter().filter(|setting| setting.key.path == keys::EXTENSIONS.path);
        entries.filter_map(configured).collect()
    }

    /// What dialogs may, in every workspace.
    pub(crate) fn dialogs(&self) -> DialogSettings {
        let when_nobody = match self.said_everywhere(&keys::DIALOGS_UNATTENDED) {
            "wait" => WhenNobody::Wait,
            _ => WhenNobody::Fail,
        };
        let paths = self.said_everywhere(&keys::DIALOGS_DIRECTORIES).split(',').map(str::trim);
        let directories = paths.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        DialogSettings { when_nobody, directories }
    }

    /// The text that a key has in every workspace.
    pub(super) fn said_everywhere(&self, key: &keys::Key) -> &str {
        policy::value(&self.everywhere, key).map(Value::text).unwrap_or_default()
    }

    /// `runner.extension_timeout_s`.
    pub(crate) fn extension_timeout(&self) -> Duration {
        let seconds = policy::limit(&self.settings, &keys::RUNNER_EXTENSION_TIMEOUT_S);
        seconds.map_or_else(Self::usual_extension_timeout, Duration::from_secs)
    }

    /// The same where nobody says anything.
    pub(crate) fn usual_extension_timeout() -> Duration {
        match keys::RUNNER_EXTENSION_TIMEOUT_S.default {
            Value::Count(seconds) => Duration::from_secs(seconds),
            _ => Duration::MAX,
        }
    }
}

/// What a setting says of an extension, whether or not it holds.
fn configured(setting: &Setting) -> Option<Configured> {
    let (value, origin) = match setting.ignored.first() {
        Some(ignored) => (&ignored.value, &ignored.origin),
        None => (&setting.value, &setting.origin),
    };
    let Value::Object(Json(entry)) = value else { return None };
    let field = |key: &keys::Key| entry.get(key.field_of(&keys::EXTENSIONS)?);
    let text = |key: &keys::Key| {
        let text = field(key).and_then(|value| value.as_str()).unwrap_or_default();
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    let texts = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let args = field(&keys::EXTENSION_ARGS).and_then(|value| value.as_array());
    let env = field(&keys::EXTENSION_ENV).and_then(|value| value.as_object());
    Some(Configured {
        name: text(&keys::EXTENSION_NAME),
        path: text(&keys::EXTENSION_PATH)?,
        args: args.into_iter().flatten().map(texts).collect(),
        env: env.into_iter().flatten().map(|(name, value)| (name.clone(), texts(value))).collect(),
        cwd: text(&keys::EXTENSION_CWD).map(PathBuf::from),
        enabled: field(&keys::EXTENSION_ENABLED).and_then(serde_json::Value::as_bool).unwrap_or(true),
        of_workspace: matches!(origin, Origin::WorkspaceFile { .. }),
    })
}

#[cfg(test)]
mod tests {
    use super::super::trust::Trust;
    use super::super::{layers, load};
    use super::*;

    /// The extensions of a user and of a workspace, in one line each.
    fn told(trust: Trust) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let user = "[[extensions]]\npath = \"python3 a.py\"\nenv = { A = \"1\" }\n[[extensions]]\nname = \"b\"\npath = \"/b\"\nenabled = false\n";
        let workspace = "[[extensions]]\npath = \"/c\"\nargs = [\"x\", \"\"]\ncwd = \"sub\"\n";
        let layers = vec![
            load::user_file(&file("user.toml", user)).unwrap(),
            load::workspace_file(&file("workspace.toml", workspace), trust).unwrap(),
        ];
        let settings = layers::settle(layers);
        let config = Config { settings, everywhere: Vec::new(), user_file: PathBuf::new() };
        let line = |one: Configured| {
            let flags = [(one.enabled, " on"), (one.of_workspace, " workspace's")];
            let flags: String = flags.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
            let words = (one.name, one.path, one.args, one.env, one.cwd);
            format!("{words:?}{flags}")
        };
        config.extensions().into_iter().map(line).collect()
    }

    #[test]
    fn the_users_come_first_and_those_of_a_workspace_are_known_before_it_is_trusted() {
        let all = [
            "(None, \"python3 a.py\", [], {\"A\": \"1\"}, None) on",
            "(Some(\"b\"), \"/b\", [], {}, None)",
            "(None, \"/c\", [\"x\", \"\"], {}, Some(\"sub\")) on workspace's",
        ];
        assert_eq!(told(Trust::Full), all);
        assert_eq!(told(Trust::TightenOnly), all);
    }
}
