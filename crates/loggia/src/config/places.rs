//! Where things live: the user's directories and the workspace around the current directory.
//!
//! Only looks; reads no file's content and makes no directory.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use super::ConfigError;
use super::trust::Trust;
use crate::env_vars::{self, Variable};

const FILE: &str = "config.toml";
const WEIGHTS: &str = "models/all-MiniLM-L6-v2";
const TRUST_FILE: &str = "trust.toml";
const WORKSPACE_DIRECTORY: &str = ".loggia";
/// What makes a directory a workspace root.
const ROOT_MARKS: [&str; 2] = [WORKSPACE_DIRECTORY, ".git"];

/// The directories that matter to this process.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    config: PathBuf,
    data: PathBuf,
    runtime: PathBuf,
    /// Where lasting data of this user is, whatever engine of our own keeps its data elsewhere.
    kept: PathBuf,
    /// The workspace around the current directory, if there is one, by its real path.
    pub(crate) workspace: Option<PathBuf>,
    /// How far the workspace is trusted, if that is known already; otherwise the store says so.
    pub(crate) trust: Option<Trust>,
}

impl Places {
    /// Looks at the environment and at the directories above the current one.
    pub(crate) fn find() -> Result<Self, ConfigError> {
        // A current directory that no longer exists is in no workspace.
        Self::around(std::env::current_dir().ok().as_deref())
    }

    /// The same, with the workspace around another directory.
    pub(crate) fn around(start: Option<&Path>) -> Result<Self, ConfigError> {
        let data = directory(&env_vars::DATA_DIR, etcetera::base_strategy::Xdg::data_dir)?;
        Ok(Self {
            config: directory(&env_vars::CONFIG_DIR, etcetera::base_strategy::Xdg::config_dir)?,
            runtime: runtime(&data)?,
            kept: data.clone(),
            data,
            workspace: start.and_then(workspace_root),
            trust: None,
        })
    }

    /// The same settings and workspace, with data and sockets of their own below a directory.
    pub(crate) fn elsewhere(&self, directory: &Path) -> Self {
        Self { data: directory.join("data"), runtime: directory.join("run"), ..self.clone() }
    }

    /// The same with another workspace, or none, and how far it is trusted.
    pub(crate) fn with_workspace(&self, workspace: Option<&Path>, trust: Trust) -> Self {
        Self { workspace: workspace.map(Path::to_owned), trust: Some(trust), ..self.clone() }
    }

    /// Where the user's settings are.
    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// Where lasting data is kept.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Where the user's own plugins lie: in `plugins`, and which of all are on in which workspace.
    pub(crate) fn kept(&self) -> &Path {
        &self.kept
    }

    /// Where sockets are, as it was asked for; they may need a shorter name.
    pub(crate) fn runtime(&self) -> &Path {
        &self.runtime
    }

    /// Where the files of the embedder in this process are, unless somebody says otherwise.
    pub(crate) fn weights(&self) -> PathBuf {
        self.kept.join(WEIGHTS)
    }

    /// The user's own file.
    pub(crate) fn user_file(&self) -> PathBuf {
        self.config.join(FILE)
    }

    /// The list of trusted workspaces.
    pub(crate) fn trust_file(&self) -> PathBuf {
        self.kept.join(TRUST_FILE)
    }

    /// The file of the workspace with that root.
    pub(crate) fn workspace_file(root: &Path) -> PathBuf {
        root.join(WORKSPACE_DIRECTORY).join(FILE)
    }
}

/// The variable's directory, else ours under the XDG one, else one among our data: it is always ours alone.
fn runtime(data: &Path) -> Result<PathBuf, ConfigError> {
    if let Some(path) = given(&env_vars::RUNTIME_DIR)? {
        return Ok(path);
    }
    let xdg = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    Ok(xdg.map_or_else(|| data.join("run"), |xdg| xdg.join("loggia")))
}

/// The variable's directory, else ours under the XDG one.
fn directory(
    variable: &Variable,
    base: impl FnOnce(&etcetera::base_strategy::Xdg) -> PathBuf,
) -> Result<PathBuf, ConfigError> {
    if let Some(path) = given(variable)? {
        return Ok(path);
    }
    match etcetera::base_strategy::Xdg::new() {
        Ok(xdg) => Ok(base(&xdg).join("loggia")),
        Err(source) => Err(ConfigError::NoHome { name: variable.name, source }),
    }
}

/// The directory a variable names.
fn given(variable: &Variable) -> Result<Option<PathBuf>, ConfigError> {
    match std::env::var_os(variable.name).filter(|value| !value.is_empty()).map(PathBuf::from) {
        // Relative to what? A workspace could be put in the place of the user's own directory.
        Some(path) if path.is_relative() => Err(ConfigError::RelativeDirectory { name: variable.name, path }),
        path => Ok(path),
    }
}

/// The nearest directory, from `start` upwards, that has one of the marks.
pub(crate) fn workspace_root(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    start
        .ancestors()
        .find(|directory| ROOT_MARKS.iter().any(|mark| directory.join(mark).exists()))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_marked_directory_is_the_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let outer = directory.path().canonicalize().unwrap();
        let inner = outer.join("packages/inner");
        let deep = inner.join("src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(outer.join(".git")).unwrap();
        assert_eq!(workspace_root(&deep), Some(outer));
        std::fs::create_dir(inner.join(".loggia")).unwrap();
        assert_eq!(workspace_root(&deep), Some(inner));
    }
}
