//! What Mehrhof's users have configured: which plugins are on, what each is told, variables, and how tasks go.
//!
//! These files are a workspace's. Whoever calls this knows whether the workspace is trusted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{TaskAgents, TaskNames};
use loggia_jsonrpc::Json;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases::AgentSettings;

/// A configuration is written by hand; a larger file is something else.
const MAX_FILE: u64 = 1024 * 1024;

/// Which plugins are on, and what each is told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PluginSettings {
    /// Names of plugins that may run, in the order in which they count.
    pub enabled: Vec<String>,
    /// What each is handed when it starts.
    pub config: BTreeMap<String, Json>,
    /// How long an agent may say nothing, if that is set.
    pub agent_timeout: Option<Duration>,
    /// Whom it names to do the steps of tasks. They may be none of ours.
    pub agents: TaskAgents,
    /// What agents get besides, and what else they are called.
    pub agent_settings: AgentSettings,
    /// How it calls what belongs to tasks.
    pub names: TaskNames,
    /// What of it is left out, in words.
    pub warnings: Vec<String>,
}

/// Why a file of settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("cannot read `{}`", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is no YAML, or not what it should be.
    #[error("`{}`: {reason}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the place.
        reason: String,
    },
}

#[derive(Debug, Default, Deserialize)]
struct Configuration {
    plugins: Option<Section>,
    agent: Option<AgentSection>,
    // Whatever people wrote in the rest says nothing where it is not what it should be.
    agents: Option<Value>,
    env: Option<Value>,
    git: Option<Value>,
    providers: Option<Value>,
}

impl Configuration {
    fn names(&self) -> TaskNames {
        let text =
            |section: &Option<Value>, key| Some(section.as_ref()?.get(key)?.as_str()?.trim().to_owned());
        let word = |section, key| text(section, key).filter(|word: &String| !word.is_empty());
        TaskNames {
            scheme: word(&self.providers, "default"),
            branch: word(&self.git, "branch_pattern"),
            // Nothing at all is a prefix, too.
            commit_prefix: text(&self.git, "commit_prefix"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
struct AgentSection {
    /// Seconds. Whatever else people wrote there says nothing.
    timeout: Option<Value>,
    default: Option<Value>,
    steps: Option<Value>,
}

impl AgentSection {
    /// Who is to do what. A step has the agent's name, or an object that has it.
    fn named(&self) -> TaskAgents {
        let word = |value: Option<&Value>| {
            let word = value?.as_str()?.trim();
            (!word.is_empty()).then(|| word.to_owned())
        };
        let of = |step: &str| {
            let entry = self.steps.as_ref()?.get(step);
            word(entry).or_else(|| word(entry?.get("name")))
        };
        TaskAgents {
            any: word(self.default.as_ref()),
            planning: of("planning"),
            implementing: of("implementing"),
            reviewing: of("reviewing"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
struct Section {
    enabled: Option<Vec<String>>,
    config: Option<BTreeMap<String, Option<Value>>>,
}

impl PluginSettings {
    /// Reads what counts of a `.mehrhof/config.yaml`: `plugins`, `agent`, `agents`, `env`, and the words of `git` and
    /// `providers`. A file that is not there says nothing.
    ///
    /// # Errors
    /// [`SettingsError`], with the file and the place in it.
    pub fn read(file: &Path) -> Result<Self, SettingsError> {
        let Some(text) = read_text(file)? else { return Ok(Self::default()) };
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let broken = |error: serde_saphyr::Error| SettingsError::Broken {
            file: file.to_owned(),
            reason: error.without_snippet().to_string(),
        };
        let read: Option<Configuration> = serde_saphyr::from_str(&text).map_err(broken)?;
        let read = read.unwrap_or_default();
        let names = read.names();
        let mut warnings = Vec::new();
        let agent_settings = AgentSettings::read(read.agents.as_ref(), read.env.as_ref(), &mut warnings);
        let section = read.plugins.unwrap_or_default();
        let agent = read.agent.unwrap_or_default();
        let agents = agent.named();
        let timeout = agent.timeout.and_then(|timeout| timeout.as_u64()).filter(|seconds| *seconds > 0);
        let config = section.config.unwrap_or_default();
        let config = config.into_iter().filter_map(|(name, value)| Some((name, Json(value?))));
        Ok(Self {
            enabled: section.enabled.unwrap_or_default(),
            config: config.collect(),
            agent_timeout: timeout.map(Duration::from_secs),
            agents,
            agent_settings,
            names,
            warnings,
        })
    }
}

/// Reads a `.env` file: `KEY=VALUE` lines, with `#` comments, quotes and `export` understood. One that is not there
/// says nothing; lines that are neither are left out.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read_variables(file: &Path) -> Result<Vec<(String, String)>, SettingsError> {
    let text = read_text(file)?.unwrap_or_default();
    Ok(text.lines().filter_map(variable).collect())
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    if name.is_empty() || name.starts_with('#') || !name.chars().all(is_name) {
        return None;
    }
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Some((name.to_owned(), quoted.unwrap_or(value).to_owned()))
}

fn read_text(file: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |source| SettingsError::Unreadable { file: file.to_owned(), source };
    match file.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(data) if !data.is_file() => return Err(unreadable(std::io::Error::other("it is not a file"))),
        Ok(_) => {}
    }
    let mut text = String::new();
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(MAX_FILE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_FILE {
        return Err(unreadable(std::io::Error::other("it is over 1 MiB")));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_shells_write_them() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(variable(line), expected, "{line}");
        };
        check("TOKEN=abc", Some(("TOKEN", "abc")));
        check("  export TOKEN = \"a b\" ", Some(("TOKEN", "a b")));
        check("URL='https://x/?a=b'", Some(("URL", "https://x/?a=b")));
        check("EMPTY=", Some(("EMPTY", "")));
        check("QUOTE=\"", Some(("QUOTE", "\"")));
        for line in ["", "# comment", "#X=1", "no value", "=x", "A B=1"] {
            check(line, None);
        }
    }
}
