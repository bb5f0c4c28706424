//! Layers of values, and how they become one setting per key.
//!
//! Pure: no file, no environment. A layer is a list of checked assignments; [`settle`] lays them over the
//! defaults in order.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::keys::{self, Key, WorkspaceRule};
use super::trust::Trust;
use super::value::{Value, ValueType};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// The user's file.
    UserFile {
        /// Which file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The workspace's file.
    WorkspaceFile {
        /// Which file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
    },
    /// A flag.
    Flag {
        /// Its name.
        name: String,
    },
}

/// A path as text. A path that is not UTF-8 is still worth showing.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::UserFile { path, line } | Self::WorkspaceFile { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Variable { name } | Self::Flag { name } => f.write_str(name),
        }
    }
}

/// One value for one key, checked against the key.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) key: &'static Key,
    /// Its name: the key's own, or one that people chose.
    pub(crate) path: Cow<'static, str>,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What one source sets, and how far the source is trusted.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) trust: Trust,
}

impl Layer {
    /// A layer the user wrote.
    pub(crate) fn trusted(assignments: Vec<Assignment>) -> Self {
        Self { assignments, trust: Trust::Full }
    }

    /// The same as it counts for other workspaces: what a workspace says may only tighten there.
    pub(crate) fn for_others(&self) -> Self {
        let of_a_workspace =
            self.assignments.iter().any(|one| matches!(one.origin, Origin::WorkspaceFile { .. }));
        let trust = if of_a_workspace { Trust::TightenOnly } else { self.trust };
        Self { trust, ..self.clone() }
    }
}

/// A key's effective value and its history.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Which key.
    pub(crate) key: &'static Key,
    /// Its name: the key's own, or one that people chose.
    pub(crate) path: Cow<'static, str>,
    /// What holds.
    pub(crate) value: Value,
    /// Where that came from.
    pub(crate) origin: Origin,
    /// What was asked for and not taken.
    pub(crate) ignored: Vec<Ignored>,
}

/// A value that was not taken.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ignored {
    /// What was asked for.
    pub(crate) value: Value,
    /// By whom.
    pub(crate) origin: Origin,
    /// Why it was not taken.
    pub(crate) reason: String,
}

/// Lays the layers over the defaults, the last one on top.
pub(crate) fn settle(layers: Vec<Layer>) -> Vec<Setting> {
    let mut settings: Vec<Setting> = keys::ALL.iter().map(|key| Setting::new(key, key.path.into())).collect();
    for Layer { assignments, trust } in layers {
        for mut assignment in assignments {
            if assignment.key.kind == ValueType::Entries {
                // Lists are added to, not replaced.
                let before =
                    settings.iter().filter(|setting| setting.key.path == assignment.key.path).count();
                assignment.path = format!("{}[{}]", assignment.key.path, before + 1).into();
            }
            let place = settings.iter().position(|setting| setting.path == assignment.path);
            let place = place.unwrap_or_else(|| {
                settings.push(Setting::new(assignment.key, assignment.path.clone()));
                settings.len() - 1
            });
            settings[place].lay(assignment, trust);
        }
    }
    // Tables that people named come after the rest, each in one piece; lists stay in their order.
    settings[keys::ALL.len()..].sort_by(|left, right| left.place().cmp(right.place()));
    settings
}

impl Setting {
    /// What holds before anybody sets anything.
    fn new(key: &'static Key, path: Cow<'static, str>) -> Self {
        Self { key, path, value: key.default.clone(), origin: Origin::Default, ignored: Vec::new() }
    }

    /// By what it has its place among others.
    fn place(&self) -> &str {
        if self.key.kind == ValueType::Entries { self.key.path } else { &self.path }
    }

    fn lay(&mut self, Assignment { value, origin, .. }: Assignment, trust: Trust) {
        match self.refusal(&value, trust) {
            None => {
                self.value = value;
                self.origin = origin;
            }
            Some(reason) => self.ignored.push(Ignored { value, origin, reason }),
        }
    }

    fn refusal(&self, asked: &Value, trust: Trust) -> Option<String> {
        let rule = match trust {
            Trust::Full => WorkspaceRule::Free,
            Trust::TightenOnly => self.key.workspace,
        };
        match rule {
            WorkspaceRule::Free => None,
            WorkspaceRule::Never(reason) => {
                Some(format!("only a trusted workspace may set it, because {reason}"))
            }
            WorkspaceRule::OnlyTighter(tightness) => (!tightness.allows(self.key.kind, asked, &self.value))
                .then(|| format!("only a trusted workspace may loosen `{}`", self.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(trust: Trust, name: &str, values: &[(&str, &str)]) -> Layer {
        let assignments = values
            .iter()
            .map(|(path, text)| {
                let key = keys::find(path).expect("a known key");
                let value = key.kind.read(text).expect("a value that fits");
                let path = (*path).to_owned().into();
                Assignment { key, path, value, origin: Origin::Flag { name: name.to_owned() } }
            })
            .collect();
        Layer { assignments, trust }
    }

    /// Settles the layers and says in one line what became of a key.
    fn check(layers: Vec<Layer>, path: &str, expected: &str) {
        let settings = settle(layers);
        let setting = settings.iter().find(|setting| setting.path == path).unwrap();
        let mut line = format!("{} from {}", setting.value, setting.origin);
        for ignored in &setting.ignored {
            line.push_str(&format!("; not {} from {}", ignored.value, ignored.origin));
        }
        assert_eq!(line, expected);
    }

    #[test]
    fn the_last_layer_wins() {
        let full = |name, value| layer(Trust::Full, name, &[("policy.preset", value)]);
        check(vec![], "policy.preset", "\"ask\" from default");
        check(vec![full("a", "full"), full("b", "read-only")], "policy.preset", "\"read-only\" from b");
    }

    #[test]
    fn an_untrusted_layer_only_tightens_what_lies_beneath() {
        let lay = |beneath, asked| {
            vec![
                layer(Trust::Full, "user", &[("policy.preset", beneath)]),
                layer(Trust::TightenOnly, "workspace", &[("policy.preset", asked)]),
            ]
        };
        check(lay("auto-edit", "ask"), "policy.preset", "\"ask\" from workspace");
        check(
            lay("read-only", "ask"),
            "policy.preset",
            "\"read-only\" from user; not \"ask\" from workspace",
        );
        let mut layers = lay("ask", "full");
        layers.push(layer(Trust::Full, "flag", &[("policy.preset", "full")]));
        check(layers, "policy.preset", "\"full\" from flag; not \"full\" from workspace");
    }

    #[test]
    fn tables_that_people_name_are_settled_like_the_rest_and_closed_to_an_untrusted_layer() {
        let (user, evil) = ("http://10.0.0.1", "http://evil.example");
        let layers = || {
            vec![
                layer(Trust::Full, "user", &[("models.corp.base_url", user)]),
                layer(
                    Trust::TightenOnly,
                    "workspace",
                    &[("models.corp.base_url", evil), ("models.x.kind", "ollama")],
                ),
            ]
        };
        let expected = "\"http://10.0.0.1\" from user; not \"http://evil.example\" from workspace";
        check(layers(), "models.corp.base_url", expected);
        check(layers(), "models.x.kind", "\"openai\" from default; not \"ollama\" from workspace");
        let settings = settle(layers());
        let named: Vec<_> = settings[keys::ALL.len()..].iter().map(|setting| setting.path.as_ref()).collect();
        assert_eq!(named, ["models.corp.base_url", "models.x.kind"]);
    }

    #[test]
    fn some_keys_are_closed_to_an_untrusted_layer_and_some_are_free() {
        let asked = [("model.default", "evil:model"), ("ui.color", "never")];
        let layers = |trust| vec![layer(trust, "workspace", &asked)];
        check(
            layers(Trust::TightenOnly),
            "model.default",
            "\"\" from default; not \"evil:model\" from workspace",
        );
        check(layers(Trust::Full), "model.default", "\"evil:model\" from workspace");
        check(layers(Trust::TightenOnly), "ui.color", "\"never\" from workspace");
    }
}
