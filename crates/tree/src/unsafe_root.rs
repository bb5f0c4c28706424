//! Which directories are never a root: those whose files are not one project's.
//!
//! Compares real paths only. The user's home is given by the caller.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a directory is no root.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootError {
    /// There is nothing at the path.
    #[error("`{}` does not exist", path.display())]
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is no directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// Too much is below the directory that is not one project's.
    #[error("`{}` cannot be a workspace: it is {why}", path.display())]
    Unsafe {
        /// The real path.
        path: PathBuf,
        /// What the directory is.
        why: &'static str,
    },
    /// The system refused or failed.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The path as given.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl RootError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            RootError::NotFound { .. } => "check the spelling, or make the directory first",
            RootError::NotADirectory { .. } => "give the directory that holds the file",
            RootError::Unsafe { .. } => {
                "choose the directory of one project, for example one below your home"
            }
            RootError::Io { .. } => "check that you may read the directory",
        }
    }
}

/// How far down from a directory nothing is a root.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Everything below as well.
    All,
    /// So many levels below: none means only the directory itself.
    Levels(usize),
}

const SYSTEM: &str = "a directory of the system";
const MANY_USERS: &str = "a directory that several users or programs share";
const A_HOME: &str = "a user's home directory";

/// The directories of a Linux system. The longest one that holds a path decides.
const SYSTEM_DIRECTORIES: &[(&str, Reach, &str)] = &[
    ("/", Reach::Levels(0), "the root of the file system"),
    ("/bin", Reach::All, SYSTEM),
    ("/boot", Reach::All, SYSTEM),
    ("/dev", Reach::All, SYSTEM),
    // Memory used as a disk, by tests for example.
    ("/dev/shm", Reach::Levels(0), MANY_USERS),
    ("/efi", Reach::All, SYSTEM),
    ("/etc", Reach::All, SYSTEM),
    ("/home", Reach::Levels(0), "the directory of all users' homes"),
    ("/lib", Reach::All, SYSTEM),
    ("/lib32", Reach::All, SYSTEM),
    ("/lib64", Reach::All, SYSTEM),
    ("/libx32", Reach::All, SYSTEM),
    ("/lost+found", Reach::All, SYSTEM),
    ("/media", Reach::Levels(1), MANY_USERS),
    ("/mnt", Reach::Levels(0), MANY_USERS),
    ("/nix", Reach::All, SYSTEM),
    ("/opt", Reach::Levels(0), MANY_USERS),
    ("/proc", Reach::All, SYSTEM),
    ("/root", Reach::Levels(0), A_HOME),
    // Disks of users and their runtime directories are two levels down.
    ("/run", Reach::Levels(2), SYSTEM),
    ("/sbin", Reach::All, SYSTEM),
    ("/snap", Reach::All, SYSTEM),
    ("/srv", Reach::Levels(0), MANY_USERS),
    ("/sys", Reach::All, SYSTEM),
    ("/tmp", Reach::Levels(0), MANY_USERS),
    ("/usr", Reach::All, SYSTEM),
    ("/usr/local/src", Reach::Levels(0), MANY_USERS),
    // Where container images like to keep an application.
    ("/usr/src", Reach::Levels(0), MANY_USERS),
    // `/var/www/site` and `/var/lib/ci/project` are projects; `/var/lib` is none.
    ("/var", Reach::Levels(1), SYSTEM),
];

/// Directories of a home that hold keys.
const KEYS: &[&str] = &[".aws", ".gnupg", ".kube", ".password-store", ".ssh"];

/// Refuses a real path that is no project's. `home` is a real path as well.
pub(crate) fn check(path: &Path, home: Option<&Path>) -> Result<(), RootError> {
    let refused = |why| Err(RootError::Unsafe { path: path.to_owned(), why });
    if let Some(home) = home {
        if path == home {
            return refused("your home directory");
        }
        if home.starts_with(path) {
            return refused("a directory above your home directory");
        }
        if KEYS.iter().any(|keys| path.starts_with(home.join(keys))) {
            return refused("a directory of keys and passwords");
        }
    }
    // Another user's home, by where homes are.
    if path.parent() == Some(Path::new("/home")) {
        return refused(A_HOME);
    }
    let nearest = SYSTEM_DIRECTORIES
        .iter()
        .filter_map(|(directory, reach, why)| Some((path.strip_prefix(directory).ok()?, reach, why)))
        .min_by_key(|(below, _, _)| below.components().count());
    match nearest {
        Some((_, Reach::All, why)) => refused(why),
        Some((below, Reach::Levels(levels), why)) if below.components().count() <= *levels => refused(why),
        _ => Ok(()),
    }
}
