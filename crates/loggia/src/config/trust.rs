//! Which workspaces the user trusts.
//!
//! The store is a file in the data directory, outside every workspace; here it is only read. A workspace is
//! named by its real path, so that a link to a trusted directory is the same workspace and a directory
//! moved elsewhere is not.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConfigError, load};

/// How far a source of values is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It may set anything.
    Full,
    /// It may only tighten.
    TightenOnly,
}

/// The store as it is written. Fields of later versions are not an error: this file is ours, not typed by hand.
#[derive(Debug, Deserialize)]
struct Store {
    #[serde(default)]
    workspace: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    path: PathBuf,
}

/// How far the workspace with that real path is trusted.
pub(crate) fn of(root: &Path, store: &Path) -> Result<Trust, ConfigError> {
    let trusted = list(store)?.iter().any(|path| path == root);
    Ok(if trusted { Trust::Full } else { Trust::TightenOnly })
}

/// Every trusted workspace, as the store has them.
pub(crate) fn list(store: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let Some(text) = load::read(store)? else { return Ok(Vec::new()) };
    let entries: Store =
        toml::from_str(&text).map_err(|source| ConfigError::syntax(store, &text, &source))?;
    Ok(entries.workspace.into_iter().map(|entry| entry.path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(store: &str, expected: Trust) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("trust.toml");
        std::fs::write(&file, store).unwrap();
        assert_eq!(of(Path::new("/w/one"), &file).unwrap(), expected, "for {store}");
    }

    #[test]
    fn only_the_very_path_is_trusted() {
        check("", Trust::TightenOnly);
        check("[[workspace]]\npath = \"/w/one\"\nsince = \"later field\"", Trust::Full);
        check("[[workspace]]\npath = \"/w\"", Trust::TightenOnly);
        check("[[workspace]]\npath = \"/w/one/sub\"", Trust::TightenOnly);
        check("[[workspace]]\npath = \"/x\"\n[[workspace]]\npath = \"/w/one\"", Trust::Full);
    }

    #[test]
    fn without_a_store_nothing_is_trusted() {
        assert_eq!(of(Path::new("/w"), Path::new("/nowhere/trust.toml")).unwrap(), Trust::TightenOnly);
    }
}
