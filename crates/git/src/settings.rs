//! What is the same for every call of git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is the same for every call of git.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The variables that git inherits from.
    pub environment: Vec<(OsString, OsString)>,
    /// How long it may take.
    pub limits: Limits,
}

impl Default for Settings {
    /// Our own environment and the usual limits.
    fn default() -> Self {
        Self { environment: std::env::vars_os().collect(), limits: Limits::default() }
    }
}

/// How long git may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For a question. The status of a very large tree on a cold disk takes tens of seconds.
    pub question: Duration,
    /// For a change of files, refs or the index: a whole checkout may be part of it.
    pub change: Duration,
    /// For sending a branch.
    pub push: Duration,
    /// How long to wait for another git to let go of the index. Editors hold it for moments, again and again.
    pub locked: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            question: Duration::from_secs(60),
            change: Duration::from_secs(300),
            push: Duration::from_secs(300),
            locked: Duration::from_secs(2),
        }
    }
}

/// The user's git, and the `PATH` without entries that mean something else in every directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Nothing if there is none.
    pub(crate) git: Option<PathBuf>,
    pub(crate) path: OsString,
}

impl Program {
    pub(crate) fn find(environment: &[(OsString, OsString)]) -> Self {
        let path = environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let directories: Vec<PathBuf> = std::env::split_paths(&path.unwrap_or_default())
            .filter(|directory| directory.is_absolute())
            .collect();
        let git = directories.iter().map(|directory| directory.join("git")).find(|file| is_program(file));
        // They were parts of such a list a moment ago.
        let path = std::env::join_paths(&directories).unwrap_or_default();
        Self { git, path }
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const ANYBODY_RUNS: u32 = 0o111;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & ANYBODY_RUNS != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_looked_for_where_path_says_but_never_relative_to_a_tree() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_str().unwrap();
        let find = |path: &str| {
            let Program { git, path } = Program::find(&[("PATH".into(), path.into())]);
            (git, path.into_string().unwrap())
        };
        assert_eq!(find(&format!(".::bin:{place}")), (None, place.to_owned()));
        std::fs::write(directory.path().join("git"), "").unwrap();
        assert_eq!(find(place).0, None, "nobody may run it");
        use std::os::unix::fs::PermissionsExt;
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path().join("git"), everybody).unwrap();
        assert_eq!(find(place).0, Some(directory.path().join("git")));
        assert_eq!(Program::find(&[]), Program { git: None, path: OsString::new() });
    }
}
