//! What the process that a client started tells the daemon that serves it, before the client's own first byte.
//!
//! One line of JSON. Knows its form, for both ends. Refuses to know secrets: of the environment it holds what
//! [`Launch`] looks at and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loggia_domain::Preset;
use loggia_protocol_agent_server::{CONTROL_VERSION, PolicyPreset};
use loggia_rpc::{Launch, LaunchError, StartWith};
use serde::{Deserialize, Serialize};

/// What every preamble begins with, and no message of the protocol does.
pub(crate) const MARK: &[u8] = b"{\"loggia\":";

/// The longest one. A command line has two mebibytes on most systems, and JSON may write a byte as six.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Where and how a client started its agent. What is not told is taken from defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Preamble {
    /// The control version of whoever sends it. First, so that the line can be told from others.
    pub(crate) loggia: u32,
    /// The current directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    /// The words after the program's name.
    #[serde(default)]
    pub(crate) argv: Vec<String>,
    /// The variables that matter.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Which program sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The model that is configured there, where the command line names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The preset that is configured there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<PolicyPreset>,
}

impl Preamble {
    /// That of this process.
    pub(crate) fn here(words: &[String], current: &str) -> Self {
        let variable = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
        Self {
            loggia: CONTROL_VERSION,
            cwd: Some(current.to_owned()),
            argv: words.to_vec(),
            env: Launch::VARIABLES.iter().filter_map(variable).collect(),
            client: Some(format!("loggia {}", env!("CARGO_PKG_VERSION"))),
            model: None,
            preset: None,
        }
    }

    /// With flags that count less than what was typed, and so come before it.
    pub(crate) fn with_flags(mut self, flags: Vec<String>) -> Self {
        self.argv.splice(0..0, flags);
        self
    }

    /// As one line.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and numbers can always be written");
        line.push(b'\n');
        line
    }

    /// What it asks for; one that does not say where is somewhere else.
    ///
    /// # Errors
    /// [`LaunchError`] if it cannot be meant, or comes from a program that does not understand us.
    pub(crate) fn launch(&self, elsewhere: &Path) -> Result<Launch, LaunchError> {
        if self.loggia != CONTROL_VERSION {
            return Err(LaunchError::Refused(self.misunderstanding()));
        }
        let current = self.cwd.as_ref().map_or_else(|| elsewhere.to_owned(), PathBuf::from);
        let mut launch = Launch::from_arguments(&self.argv, |name| self.env.get(name).cloned(), &current)?;
        // A session that goes on keeps its model.
        if launch.session == StartWith::Fresh {
            launch.model = launch.model.or_else(|| self.model.clone());
        }
        launch.preset = self.preset.map(preset);
        Ok(launch)
    }

    fn misunderstanding(&self) -> String {
        let who = self.client.as_deref().unwrap_or("this command");
        let older = if self.loggia < CONTROL_VERSION {
            "update this command, which is the older one, or run `loggia stop`"
        } else {
            "run `loggia stop`: the server is the older one, and the next command starts a new one"
        };
        format!(
            "the server that runs is loggia {}, whose control version is {CONTROL_VERSION}, and that of {who} is {}; {older}",
            env!("CARGO_PKG_VERSION"),
            self.loggia
        )
    }
}

fn preset(configured: PolicyPreset) -> Preset {
    match configured {
        PolicyPreset::ReadOnly => Preset::ReadOnly,
        PolicyPreset::Ask => Preset::Ask,
        PolicyPreset::AutoEdit => Preset::AutoEdit,
        PolicyPreset::Full => Preset::Full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Preamble {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn it_is_one_line_that_begins_with_the_mark_and_reads_back() {
        let words = ["--model".to_owned(), "a\nb".to_owned()];
        let preamble = Preamble::here(&words, "/somewhere");
        let line = preamble.line();
        assert!(line.starts_with(MARK));
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        assert_eq!(serde_json::from_slice::<Preamble>(&line).unwrap(), preamble);
    }

    #[test]
    fn what_is_not_told_is_a_default() {
        let launch = read(r#"{"loggia":1,"future":true}"#).launch(Path::new("/there")).unwrap();
        assert_eq!(launch, Launch::new("/there"));
    }

    #[test]
    fn the_command_line_wins_and_the_preset_is_what_is_configured() {
        let launch = |text: &str| read(text).launch(Path::new("/")).unwrap();
        let told = launch(r#"{"loggia":1,"argv":["--model","p:a"],"model":"b","preset":"full"}"#);
        assert_eq!((told.model.as_deref(), told.preset), (Some("p:a"), Some(Preset::Full)));
        let told = launch(r#"{"loggia":1,"argv":["--dry-run"],"model":"b","preset":"full"}"#);
        assert_eq!((told.model.as_deref(), told.preset), (Some("b"), Some(Preset::Full)));
        let told = launch(r#"{"loggia":1,"argv":["--continue"],"model":"b","preset":"read-only"}"#);
        assert_eq!((told.model, told.preset), (None, Some(Preset::ReadOnly)));
    }

    #[test]
    fn another_control_version_is_told_who_is_older() {
        let refused = |version: u32| {
            let preamble = Preamble { loggia: version, ..Preamble::default() };
            preamble.launch(Path::new("/")).unwrap_err().to_string()
        };
        assert!(refused(0).contains("update this command"), "{}", refused(0));
        assert!(refused(2).contains("the server is the older one"), "{}", refused(2));
    }
}
