//! Which plugins somebody turned on or off in a workspace, in a file of our own.
//!
//! Mehrhof keeps this in the workspace's own file; that one comes with the code, so it is never written. Ours names
//! workspaces by their real path, as the list of trusted ones does.
//!
//! What always holds: the file is replaced whole or not at all, and one that cannot be read is never overwritten.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// What the file is called.
const FILE: &str = "plugins.toml";

/// Stands at the top of the file.
const HEADER: &str =
    "# Which plugins are on or off in which workspace. Written by `loggia plugin enable` and `disable`.\n\n";

/// Which plugins are on or off where.
#[derive(Debug)]
pub(super) struct Switches {
    file: PathBuf,
    /// Held while the file is changed.
    changing: Mutex<()>,
}

/// What somebody says about a plugin in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    Off,
    /// Nothing: what is set elsewhere counts.
    Unsaid,
}

/// What is said about the plugins of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Row {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) enabled: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) disabled: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Text {
    #[serde(default)]
    workspace: Vec<Row>,
}

impl Switches {
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self { file: directory.join(FILE), changing: Mutex::default() }
    }

    /// What is said about the plugins of a workspace; else what keeps it from being read.
    pub(super) fn of(&self, root: &Path) -> Result<Row, String> {
        let found = self.read()?.workspace.into_iter().find(|row| row.path == root);
        Ok(found.unwrap_or_default())
    }

    /// Says something about a plugin.
    pub(super) fn set(&self, root: &Path, name: &str, switch: Switch) -> Result<(), String> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = self.read()?;
        let place = text.workspace.iter().position(|row| row.path == root).unwrap_or_else(|| {
            text.workspace.push(Row { path: root.to_owned(), ..Row::default() });
            text.workspace.len() - 1
        });
        let row = &mut text.workspace[place];
        let before = row.clone();
        for (names, wanted) in [(&mut row.enabled, Switch::On), (&mut row.disabled, Switch::Off)] {
            if switch != wanted {
                names.retain(|known| known != name);
            } else if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if *row == before {
            return Ok(());
        }
        text.workspace.retain(|row| !row.enabled.is_empty() || !row.disabled.is_empty());
        self.write(&text).map_err(|error| format!("cannot write `{}`: {error}", self.file.display()))
    }

    fn read(&self) -> Result<Text, String> {
        let text = crate::config::read_file(&self.file).map_err(|error| super::setup::in_words(&error))?;
        toml::from_str(&text.unwrap_or_default()).map_err(|error| {
            let problem = error.message();
            format!("`{}`: {problem}; correct it, or remove it to begin anew", self.file.display())
        })
    }

    fn write(&self, text: &Text) -> io::Result<()> {
        let directory = self.file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(directory)?;
        let written = toml::to_string_pretty(text).map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new().prefix(".plugins-").tempfile_in(directory)?;
        file.write_all(format!("{HEADER}{written}").as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_last_counts_and_what_is_unsaid_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let switches = Switches::in_directory(directory.path());
        let (one, other) = (Path::new("/w/one"), Path::new("/w/other"));
        let told = |root| {
            let row = switches.of(root).unwrap();
            format!("{:?} {:?}", row.enabled, row.disabled)
        };
        assert_eq!(told(one), "[] []");
        switches.set(one, "jira", Switch::On).unwrap();
        switches.set(one, "link", Switch::Off).unwrap();
        switches.set(other, "jira", Switch::Off).unwrap();
        assert_eq!((told(one), told(other)), ("[\"jira\"] [\"link\"]".into(), "[] [\"jira\"]".into()));
        switches.set(one, "jira", Switch::Off).unwrap();
        switches.set(one, "link", Switch::Unsaid).unwrap();
        switches.set(other, "jira", Switch::Unsaid).unwrap();
        assert_eq!((told(one), told(other)), ("[] [\"jira\"]".into(), "[] []".into()));
        let text = fs::read_to_string(directory.path().join(FILE)).unwrap();
        assert_eq!(text, format!("{HEADER}[[workspace]]\npath = \"/w/one\"\ndisabled = [\"jira\"]\n"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        fs::write(&file, "[[workspace]]\npath = ").unwrap();
        let switches = Switches::in_directory(directory.path());
        assert!(switches.of(Path::new("/w")).unwrap_err().contains("remove it to begin anew"));
        assert!(switches.set(Path::new("/w"), "jira", Switch::On).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "[[workspace]]\npath = ");
    }
}
