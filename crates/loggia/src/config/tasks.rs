//! Settings as what tasks go by: `tasks.*`.

use loggia_domain::{TaskAgents, TaskNames};
use loggia_engine::tasks::TaskSettings;

use super::keys::{self, Key};
use super::layers::Origin;
use super::value::Value;
use super::{Config, policy};

impl Config {
    /// How tasks go in every workspace.
    pub(crate) fn tasks(&self) -> TaskSettings {
        let text = |key: &Key| match policy::value(&self.everywhere, key) {
            Some(Value::Text(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        };
        let said = |key: &Key| {
            let setting = self.everywhere.iter().find(|setting| setting.path == key.path);
            match setting.filter(|setting| setting.origin != Origin::Default).map(|setting| &setting.value) {
                Some(Value::Text(text)) => Some(text.trim().to_owned()),
                _ => None,
            }
        };
        let word = |key: &Key| said(key).filter(|word| !word.is_empty());
        let usual = TaskSettings::default();
        let tries = policy::limit(&self.everywhere, &keys::TASKS_TRIES);
        TaskSettings {
            names: TaskNames {
                scheme: word(&keys::TASKS_SCHEME),
                branch: word(&keys::TASKS_BRANCH),
                // Nothing at all is a prefix, too.
                commit_prefix: said(&keys::TASKS_COMMIT_PREFIX),
            },
            agents: TaskAgents {
                any: text(&keys::TASKS_AGENT),
                planning: text(&keys::TASKS_PLANNING_AGENT),
                implementing: text(&keys::TASKS_IMPLEMENTING_AGENT),
                reviewing: text(&keys::TASKS_REVIEWING_AGENT),
            },
            quality_target: text(&keys::TASKS_QUALITY).unwrap_or(usual.quality_target),
            tries: tries.map_or(usual.tries, |tries| u32::try_from(tries).unwrap_or(u32::MAX).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use loggia_engine::tasks::names;

    use super::*;
    use crate::cli::GlobalFlags;

    #[test]
    fn what_nobody_sets_is_as_the_engine_has_it() {
        assert_eq!(Config::of_flags(&GlobalFlags::default()).tasks(), TaskSettings::default());
        for (key, usual) in [
            (&keys::TASKS_SCHEME, names::SCHEME),
            (&keys::TASKS_BRANCH, names::BRANCH_PATTERN),
            (&keys::TASKS_COMMIT_PREFIX, names::COMMIT_PREFIX),
        ] {
            assert_eq!(key.default, Value::Text(usual.into()), "{}", key.path);
        }
    }

    #[test]
    fn every_key_has_its_part() {
        let set = [
            ("tasks.scheme", "jira"),
            ("tasks.branch", "work/{key}"),
            ("tasks.commit_prefix", ""),
            ("tasks.quality", "check"),
            ("tasks.tries", "0"),
            ("tasks.agent", "plugin:a"),
            ("tasks.planning_agent", "p"),
            ("tasks.implementing_agent", "i"),
            ("tasks.reviewing_agent", "r"),
        ];
        let set = set.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec();
        let config = Config::of_flags(&GlobalFlags { set, ..GlobalFlags::default() });
        let word = |word: &str| Some(word.to_owned());
        let expected = TaskSettings {
            names: TaskNames { scheme: word("jira"), branch: word("work/{key}"), commit_prefix: word("") },
            agents: TaskAgents {
                any: word("plugin:a"),
                planning: word("p"),
                implementing: word("i"),
                reviewing: word("r"),
            },
            quality_target: "check".to_owned(),
            tries: 1,
        };
        assert_eq!(config.tasks(), expected);
    }
}
