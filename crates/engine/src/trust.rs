//! Which workspaces are trusted.
//!
//! A workspace's own files may name programs and loosen rules only if somebody said so (`POST /v1/workspaces/{workspace_id}/trust`). That is
//! remembered here by the directory's real path, so that neither a link nor a directory of the same name elsewhere
//! inherits it. Trust is for one directory, not for what is below it. It may be lent for a run, too: that is never written
//! down, and lapses by itself.
//!
//! What always holds: a list that cannot be read trusts nobody and is never overwritten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::policy::files::{format, read_bounded, replace};

/// Runs that may have trust lent at once: one for each command somebody has running, and far more than people start.
const MAX_LOANS: usize = 256;

/// Stands at the top of the file.
const HEADER: &str = "# Workspaces whose own files may name programs and loosen rules. Written by `POST /v1/workspaces/ID/trust`.\n\n";

/// Why trust could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The list is not one.
    #[error("`{}`: {problem}; correct it, or remove it to trust nobody", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// The directory is not there, or its path cannot be written down.
    #[error("`{}` cannot be trusted", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Too many runs have it.
    #[error("{MAX_LOANS} runs are trusted already; let some of them end")]
    TooManyLoans,
    /// The file cannot be used.
    #[error("cannot use `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The workspaces that are trusted.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    trusted: Mutex<BTreeSet<PathBuf>>,
    /// Until when a directory is trusted for a run.
    lent: Mutex<BTreeMap<(PathBuf, String), Instant>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustText {
    #[serde(default)]
    workspace: Vec<TrustEntry>,
}

/// One trusted directory. A later version may say more about it.
#[derive(Debug, Serialize, Deserialize)]
struct TrustEntry {
    path: PathBuf,
}

impl TrustStore {
    /// Opens the list in this file, which need not be there yet.
    ///
    /// # Errors
    /// A file that cannot be read or is no such list.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, TrustError> {
        let path = path.into();
        let trusted = Mutex::new(read(&path)?);
        Ok(Self { path, trusted, lent: Mutex::default() })
    }

    /// Whether a directory is trusted. One that is not there is not.
    pub fn is_trusted(&self, directory: &Path) -> bool {
        fs::canonicalize(directory).is_ok_and(|real| self.trusted().contains(&real) || self.is_lent(&real))
    }

    /// Whether a directory is trusted until somebody says otherwise, and not only for a run.
    pub fn is_trusted_for_good(&self, directory: &Path) -> bool {
        fs::canonicalize(directory).is_ok_and(|real| self.trusted().contains(&real))
    }

    /// Trusts a directory for one run, as long as it says; no time at all ends that. Every run has its own.
    ///
    /// # Errors
    /// A directory that is not there, or too many runs.
    pub fn lend(&self, directory: &Path, run: &str, time: Duration) -> Result<(), TrustError> {
        let failed = |source| TrustError::Directory { path: directory.to_owned(), source };
        let real = fs::canonicalize(directory).map_err(failed)?;
        let now = Instant::now();
        let mut lent = self.lent();
        lent.retain(|_, until| *until > now);
        let key = (real, run.to_owned());
        if time.is_zero() {
            lent.remove(&key);
        } else if lent.len() >= MAX_LOANS && !lent.contains_key(&key) {
            return Err(TrustError::TooManyLoans);
        } else {
            lent.insert(key, now + time);
        }
        Ok(())
    }

    /// Trusts a directory.
    ///
    /// # Errors
    /// A directory that is not there, or a list that cannot be read or written.
    pub fn trust(&self, directory: &Path) -> Result<(), TrustError> {
        let failed = |source| TrustError::Directory { path: directory.to_owned(), source };
        let real = fs::canonicalize(directory).map_err(failed)?;
        if real.to_str().is_none() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8")));
        }
        self.change(|trusted| trusted.insert(real))
    }

    /// Trusts a directory no more, not for a run either. One that is gone is found by the path it was trusted under.
    ///
    /// # Errors
    /// A list that cannot be read or written.
    pub fn distrust(&self, directory: &Path) -> Result<(), TrustError> {
        let real = fs::canonicalize(directory).unwrap_or_else(|_gone| directory.to_owned());
        self.lent().retain(|(lent, _), _| *lent != real);
        self.change(|trusted| trusted.remove(&real))
    }

    /// Every trusted directory, in order.
    pub fn list(&self) -> Vec<PathBuf> {
        self.trusted().iter().cloned().collect()
    }

    fn is_lent(&self, real: &Path) -> bool {
        let now = Instant::now();
        self.lent().iter().any(|((lent, _), until)| lent == real && *until > now)
    }

    fn lent(&self) -> MutexGuard<'_, BTreeMap<(PathBuf, String), Instant>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trusted(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        // The set is replaced whole, so whoever panicked left a whole one.
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the file holds now, which somebody may have edited meanwhile.
    fn change(&self, change: impl FnOnce(&mut BTreeSet<PathBuf>) -> bool) -> Result<(), TrustError> {
        let mut held = self.trusted();
        let mut trusted = read(&self.path)?;
        if change(&mut trusted) {
            let failed = |source| TrustError::Io { path: self.path.clone(), source };
            let workspace = trusted.iter().map(|path| TrustEntry { path: path.clone() }).collect();
            let text = toml::to_string_pretty(&TrustText { workspace }).map_err(io::Error::other);
            let text = text.map_err(failed)?;
            replace::replace(&self.path, format!("{HEADER}{text}").as_bytes()).map_err(failed)?;
        }
        *held = trusted;
        Ok(())
    }
}

fn read(path: &Path) -> Result<BTreeSet<PathBuf>, TrustError> {
    let text = read_bounded(path).map_err(|source| TrustError::Io { path: path.to_owned(), source })?;
    let text: TrustText = toml::from_str(text.as_deref().unwrap_or_default()).map_err(|error| {
        let problem = format::explain(text.as_deref().unwrap_or_default(), error.message(), error.span());
        TrustError::Damaged { path: path.to_owned(), problem }
    })?;
    Ok(text.workspace.into_iter().map(|entry| entry.path).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
    }

    impl Fixture {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            fs::create_dir_all(directory.path().join("project/sub")).unwrap();
            symlink("project", directory.path().join("link")).unwrap();
            Self { directory }
        }

        fn file(&self) -> PathBuf {
            self.directory.path().join("data/trust.toml")
        }

        fn store(&self) -> TrustStore {
            TrustStore::open(self.file()).unwrap()
        }

        fn at(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }
    }

    #[test]
    fn trust_is_by_real_path_and_for_one_directory() {
        let fixture = Fixture::new();
        let store = fixture.store();
        assert!(!store.is_trusted(&fixture.at("project")));
        store.trust(&fixture.at("link")).unwrap();
        assert!(store.is_trusted(&fixture.at("project")) && store.is_trusted(&fixture.at("link")));
        assert!(!store.is_trusted(&fixture.at("project/sub")) && !store.is_trusted(fixture.directory.path()));
        assert_eq!(store.list(), [fs::canonicalize(fixture.at("project")).unwrap()]);
    }

    #[test]
    fn trust_outlives_the_store_and_ends_when_taken_back() {
        let fixture = Fixture::new();
        fixture.store().trust(&fixture.at("project")).unwrap();
        assert_eq!(fs::metadata(fixture.file()).unwrap().permissions().mode() & 0o777, 0o600);
        let real = fs::canonicalize(fixture.at("project")).unwrap();
        let text = fs::read_to_string(fixture.file()).unwrap();
        assert!(text.ends_with(&format!("[[workspace]]\npath = \"{}\"\n", real.display())), "{text}");
        let store = fixture.store();
        assert!(store.is_trusted(&fixture.at("project")));
        store.distrust(&fixture.at("project")).unwrap();
        assert!(
            !store.is_trusted(&fixture.at("project")) && !fixture.store().is_trusted(&fixture.at("project"))
        );
    }

    #[test]
    fn a_directory_that_is_gone_can_be_distrusted() {
        let fixture = Fixture::new();
        let store = fixture.store();
        let real = fs::canonicalize(fixture.at("project/sub")).unwrap();
        store.trust(&real).unwrap();
        fs::remove_dir(&real).unwrap();
        assert!(!store.is_trusted(&real));
        store.distrust(&real).unwrap();
        assert!(store.list().is_empty());
        assert!(matches!(store.trust(&real), Err(TrustError::Directory { .. })));
    }

    #[test]
    fn trust_that_is_lent_ends_with_its_run_and_is_not_written_down() {
        let fixture = Fixture::new();
        let store = fixture.store();
        let (project, link) = (fixture.at("project"), fixture.at("link"));
        let minute = Duration::from_secs(60);
        store.lend(&link, "one", minute).unwrap();
        store.lend(&project, "two", minute).unwrap();
        assert!(store.is_trusted(&project) && !store.is_trusted(&fixture.at("project/sub")));
        assert!(store.list().is_empty() && !fixture.file().exists());
        store.lend(&project, "one", Duration::ZERO).unwrap();
        assert!(store.is_trusted(&project), "the other run goes on");
        store.lend(&project, "two", Duration::ZERO).unwrap();
        assert!(!store.is_trusted(&project));
        store.lend(&project, "two", Duration::from_nanos(1)).unwrap();
        assert!(!store.is_trusted(&project), "it has lapsed");
        store.lend(&project, "three", minute).unwrap();
        store.distrust(&project).unwrap();
        assert!(!store.is_trusted(&project), "taken back from everybody");
        for run in 0..MAX_LOANS {
            store.lend(&project, &run.to_string(), minute).unwrap();
        }
        assert!(matches!(store.lend(&project, "more", minute), Err(TrustError::TooManyLoans)));
        store.lend(&project, "7", minute).unwrap();
    }

    #[test]
    fn a_damaged_list_is_an_error_and_is_not_overwritten() {
        let fixture = Fixture::new();
        let store = fixture.store();
        store.trust(&fixture.at("project")).unwrap();
        for damaged in ["[[workspace]]\npath = \"", "[[wrokspace]]\npath = \"/w\"\n"] {
            fs::write(fixture.file(), damaged).unwrap();
            assert!(matches!(TrustStore::open(fixture.file()), Err(TrustError::Damaged { .. })));
            assert!(matches!(store.trust(&fixture.at("project/sub")), Err(TrustError::Damaged { .. })));
            assert_eq!(fs::read_to_string(fixture.file()).unwrap(), damaged);
        }
    }
}
