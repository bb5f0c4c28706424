//! An extension as it is configured.
//!
//! Invariant: a name is what people type; it has no white space and is never empty.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::words::split;

/// As many characters as a name for typing has.
const LONGEST_NAME: usize = 64;

/// One entry of the settings.
#[derive(Clone, PartialEq, Eq)]
pub struct ExtensionEntry {
    /// What it is called here. Without one it is called like its program.
    pub name: Option<String>,
    /// The program, or a whole command line.
    pub path: String,
    /// The program's arguments. If there are any, `path` is the program as it stands.
    pub args: Vec<String>,
    /// Variables that are added to its environment, over all others.
    pub env: BTreeMap<String, String>,
    /// Whether it is to run.
    pub enabled: bool,
    /// Where it runs, relative to the workspace's root; there if it is not said.
    pub cwd: Option<PathBuf>,
    /// Whether a workspace brought it; it then needs that one's trust.
    pub of_workspace: bool,
}

/// Why an entry cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// It names no program.
    #[error("its `path` is empty")]
    Empty,
    /// Its command line cannot be taken apart.
    #[error("its `path` is a command line with a quote that is not closed: `{0}`")]
    Unbalanced(String),
}

impl ExtensionEntry {
    /// An entry of the user's with a program alone.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            name: None,
            path: path.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            enabled: true,
            cwd: None,
            of_workspace: false,
        }
    }

    /// The program and its arguments.
    ///
    /// # Errors
    /// [`EntryError`] if there is no program.
    pub fn command(&self) -> Result<Vec<String>, EntryError> {
        let words = if self.args.is_empty() {
            split(&self.path).ok_or_else(|| EntryError::Unbalanced(self.path.clone()))?
        } else {
            std::iter::once(&self.path).chain(&self.args).cloned().collect()
        };
        match words.first() {
            Some(program) if !program.trim().is_empty() => Ok(words),
            _ => Err(EntryError::Empty),
        }
    }

    /// The program and its arguments as far as they can be told.
    pub(crate) fn shown_command(&self) -> Vec<String> {
        self.command().unwrap_or_else(|_| std::iter::once(&self.path).chain(&self.args).cloned().collect())
    }

    /// What it is called as long as nobody else is.
    fn wanted_name(&self) -> String {
        let given = self.name.as_deref().map(tidy).filter(|name| !name.is_empty());
        given.unwrap_or_else(|| self.name_of_program())
    }

    /// After its script, if an interpreter runs one, and after its program otherwise.
    fn name_of_program(&self) -> String {
        let words = self.shown_command();
        let is_script = |word: &&String| !word.starts_with('-') && Path::new(word).extension().is_some();
        let script = words.iter().skip(1).find(is_script).or(words.first());
        let stem = script.and_then(|word| Path::new(word).file_stem()).unwrap_or_default();
        let name = tidy(&stem.to_string_lossy());
        if name.is_empty() { "extension".to_owned() } else { name }
    }
}

/// The names of entries: each differs from all before it, and is the same as long as the entries are.
pub(crate) fn names(entries: &[ExtensionEntry]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(entries.len());
    for entry in entries {
        let wanted = entry.wanted_name();
        let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let free = candidates.find(|name| !names.contains(name));
        names.push(free.unwrap_or(wanted));
    }
    names
}

/// What can be typed: white space and control characters become `-`.
fn tidy(name: &str) -> String {
    let typed = |c: char| if c.is_whitespace() || c.is_control() { '-' } else { c };
    name.trim().chars().take(LONGEST_NAME).map(typed).collect()
}

impl fmt::Debug for ExtensionEntry {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionEntry")
            .field("name", &self.name)
            .field("path", &self.path)
            .field("args", &self.args)
            .field("enabled", &self.enabled)
            .field("cwd", &self.cwd)
            .field("of_workspace", &self.of_workspace)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_without_a_name_are_called_like_what_they_run() {
        let check =
            |path: &str, expected: &str| assert_eq!(ExtensionEntry::new(path).wanted_name(), expected);
        check(r#"python3 "/srv/my ext/lab results.py" --v"#, "lab-results");
        check("uv run tools/x.py", "x");
        check("/opt/wizard", "wizard");
        check("python3 -u wizard.py", "wizard");
        check("'", "'");
        check("", "extension");
    }

    #[test]
    fn names_are_different_and_the_same_each_time() {
        let entry = |name: Option<&str>, path: &str| ExtensionEntry {
            name: name.map(str::to_owned),
            ..ExtensionEntry::new(path)
        };
        let entries = [
            entry(None, "python3 echo.py"),
            entry(None, "python3 echo.py"),
            entry(Some("my ext"), "x"),
            entry(Some("echo-2"), "y"),
            entry(Some("  "), "z"),
        ];
        let expected = ["echo", "echo-2", "my-ext", "echo-2-2", "z"];
        assert_eq!(names(&entries), expected);
        assert_eq!(names(&entries), expected);
    }

    #[test]
    fn with_arguments_the_path_is_the_program_as_it_stands() {
        let mut entry = ExtensionEntry::new("/srv/my ext/run 'it'");
        entry.args = vec!["--v".to_owned()];
        assert_eq!(entry.command().unwrap(), ["/srv/my ext/run 'it'", "--v"]);
        entry.args.clear();
        assert_eq!(entry.command().unwrap(), ["/srv/my", "ext/run", "it"]);
    }

    #[test]
    fn an_entry_without_a_program_cannot_be_started() {
        assert_eq!(ExtensionEntry::new("  ").command(), Err(EntryError::Empty));
        assert_eq!(ExtensionEntry::new("''").command(), Err(EntryError::Empty));
        let unbalanced = ExtensionEntry::new("python3 'x.py");
        assert_eq!(unbalanced.command(), Err(EntryError::Unbalanced("python3 'x.py".to_owned())));
    }
}
