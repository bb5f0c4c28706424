//! Settings as what tasks go by: `tasks.*`.

use loggia_domain::TaskAgents;
use loggia_engine::tasks::TaskSettings;

use super::keys::{self, Key};
use super::value::Value;
use super::{Config, policy};

impl Config {
    /// How tasks go in every workspace.
    pub(crate) fn tasks(&self) -> TaskSettings {
        let text = |key: &Key| match policy::value(&self.everywhere, key) {
            Some(Value::Text(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        };
        let usual = TaskSettings::default();
        let tries = policy::limit(&self.everywhere, &keys::TASKS_TRIES);
        TaskSettings {
            default_scheme: text(&keys::TASKS_SCHEME).unwrap_or(usual.default_scheme),
            branch_pattern: text(&keys::TASKS_BRANCH).unwrap_or(usual.branch_pattern),
            // Nothing at all is a prefix, too.
            commit_prefix: text(&keys::TASKS_COMMIT_PREFIX).unwrap_or_default(),
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
    use super::*;
    use crate::cli::GlobalFlags;

    #[test]
    fn what_nobody_sets_is_as_the_engine_has_it() {
        assert_eq!(Config::of_flags(&GlobalFlags::default()).tasks(), TaskSettings::default());
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
            default_scheme: "jira".to_owned(),
            branch_pattern: "work/{key}".to_owned(),
            commit_prefix: String::new(),
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
