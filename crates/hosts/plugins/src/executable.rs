//! What exactly is started for a plugin.
//!
//! Invariant: a path that a manifest gives as relative stays in the plugin's directory, links followed.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::manifest::Executable;

/// A program and its arguments, ready to be started in the plugin's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Why nothing can be started.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// No directory of `PATH` has it.
    #[error("`{name}` is in no directory of PATH; is it installed?")]
    NotInPath {
        /// What was looked for.
        name: String,
    },
    /// It is not there.
    #[error("`{}` cannot be found: {reason}", path.display())]
    NotFound {
        /// What was looked for.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It leads out of the plugin's directory.
    #[error("`{path}` leads out of the plugin's directory")]
    LeadsOut {
        /// As the manifest has it.
        path: String,
    },
    /// It is there and cannot be run.
    #[error("`{}` is not an executable file", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
}

/// Finds what to start: bare names in `search`, which is a `PATH`; relative paths in the plugin's directory.
///
/// # Errors
/// [`ExecutableError`]; nothing was started.
pub fn resolve(
    executable: &Executable,
    directory: &Path,
    search: &OsStr,
) -> Result<Invocation, ExecutableError> {
    let (program, rest) = match executable {
        Executable::Path(path) => (within(directory, path)?, &[][..]),
        Executable::Command(command) => {
            let (first, rest) =
                command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
            let bare = !first.contains('/');
            (if bare { in_path(first, search)? } else { within(directory, first)? }, rest)
        }
    };
    if !is_executable(&program) {
        return Err(ExecutableError::NotExecutable { path: program });
    }
    let mut arguments: Vec<OsString> = rest.iter().map(OsString::from).collect();
    for argument in rest {
        check_inside(directory, argument)?;
    }
    // The script of an interpreter. Others are left as they are: they are read in the plugin's directory anyway.
    if let (Some(argument), Some(script)) = (arguments.first_mut(), rest.first())
        && !script.starts_with('-')
        && directory.join(script).exists()
    {
        *argument = within(directory, script)?.into();
    }
    Ok(Invocation { program, arguments })
}

/// Refuses an argument that is a relative path out of the directory, also as the value of an option: an interpreter
/// takes its script from behind any number of them.
fn check_inside(directory: &Path, argument: &str) -> Result<(), ExecutableError> {
    let path = match argument.strip_prefix('-') {
        Some(option) => option.split_once('=').map(|(_, value)| value),
        None => Some(argument),
    };
    match path.filter(|path| !path.is_empty() && directory.join(path).exists()) {
        Some(path) => within(directory, path).map(drop),
        None => Ok(()),
    }
}

/// A path of a manifest: absolute ones as they are, others in the directory.
fn within(directory: &Path, path: &str) -> Result<PathBuf, ExecutableError> {
    if Path::new(path).is_absolute() {
        return Ok(PathBuf::from(path));
    }
    let full = directory.join(path);
    let not_found = |path: &Path, error: std::io::Error| ExecutableError::NotFound {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let root = directory.canonicalize().map_err(|error| not_found(directory, error))?;
    let real = full.canonicalize().map_err(|error| not_found(&full, error))?;
    if !real.starts_with(&root) {
        return Err(ExecutableError::LeadsOut { path: path.to_owned() });
    }
    Ok(real)
}

/// Relative directories of the search path are left out: they would mean the plugin's.
fn in_path(name: &str, search: &OsStr) -> Result<PathBuf, ExecutableError> {
    let candidates = std::env::split_paths(search).filter(|path| path.is_absolute());
    let found = candidates.map(|path| path.join(name)).find(|path| is_executable(path));
    found.ok_or_else(|| ExecutableError::NotInPath { name: name.to_owned() })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
