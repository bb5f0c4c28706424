//! Where people may choose files for guests.
//!
//! Touches disks, and opens nothing: only looks where paths lead. What always holds: what is let through is a real
//! path, without links, inside a directory that is allowed and in none of our own.

use std::path::{Path, PathBuf};

use loggia_domain::DialogBody;

/// Paths that may be chosen at once: more than anybody selects by hand.
pub(super) const MAX_CHOSEN: usize = 1024;

/// Where may be chosen.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// What relative paths are relative to.
    pub(super) root: Option<PathBuf>,
    /// Besides the root.
    pub(super) directories: Vec<PathBuf>,
    /// Our own directories.
    pub(super) barred: Vec<PathBuf>,
}

/// A path that cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadPlace {
    pub(super) path: PathBuf,
    pub(super) why: String,
}

/// What is chosen.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    File,
    Place,
    Directory,
}

impl Places {
    /// The real paths of what was chosen.
    pub(super) fn check(&self, body: &DialogBody, chosen: &[PathBuf]) -> Result<Vec<PathBuf>, BadPlace> {
        let wanted = match body {
            DialogBody::ChoosePlace { .. } => Wanted::Place,
            DialogBody::ChooseDirectory { .. } => Wanted::Directory,
            DialogBody::ChooseFiles { .. } | DialogBody::Message { .. } | DialogBody::Confirm { .. } => {
                Wanted::File
            }
        };
        let allowed = self.allowed();
        let real = |path: &PathBuf| {
            let checked = self.absolute(path).and_then(|absolute| wanted.real(&absolute));
            let checked = checked.and_then(|real| self.is_within(&allowed, &real).map(|()| real));
            checked.map_err(|why| BadPlace { path: path.clone(), why })
        };
        chosen.iter().map(real).collect()
    }

    /// The real paths of the directories that are there.
    fn allowed(&self) -> Vec<PathBuf> {
        let all = self.root.iter().chain(&self.directories);
        all.filter_map(|directory| directory.canonicalize().ok()).collect()
    }

    fn absolute(&self, path: &Path) -> Result<PathBuf, String> {
        match &self.root {
            _ if path.as_os_str().is_empty() => Err("it is empty".to_owned()),
            _ if path.as_os_str().as_encoded_bytes().contains(&0) => {
                Err("it holds a NUL character".to_owned())
            }
            _ if path.is_absolute() => Ok(path.to_owned()),
            Some(root) => Ok(root.join(path)),
            None => Err("it is not absolute".to_owned()),
        }
    }

    fn is_within(&self, allowed: &[PathBuf], real: &Path) -> Result<(), String> {
        let barred = self
            .barred
            .iter()
            .any(|own| real.starts_with(own) || own.canonicalize().is_ok_and(|own| real.starts_with(own)));
        if barred {
            return Err("it is one of the server's own files".to_owned());
        }
        if allowed.iter().any(|directory| real.starts_with(directory)) {
            return Ok(());
        }
        let names: Vec<String> = allowed.iter().map(|path| format!("`{}`", path.display())).collect();
        Err(format!("it is outside of the directories that are allowed: {}", names.join(", ")))
    }
}

impl Wanted {
    /// Where a path really leads, if it is of this kind.
    fn real(self, path: &Path) -> Result<PathBuf, String> {
        let unreachable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => "it is not there".to_owned(),
            _ => format!("it cannot be reached: {error}"),
        };
        let there = path.symlink_metadata().is_ok();
        if matches!(self, Self::Place) && !there {
            let name = path.file_name().ok_or_else(|| "it names no file".to_owned())?;
            let parent = path.parent().unwrap_or(Path::new("/"));
            let directory = parent.canonicalize().map_err(|_| "its directory is not there".to_owned())?;
            return match directory.is_dir() {
                true => Ok(directory.join(name)),
                false => Err("what it lies in is not a directory".to_owned()),
            };
        }
        let real = path.canonicalize().map_err(unreachable)?;
        let kind = real.metadata().map_err(unreachable)?;
        match self {
            Self::File | Self::Place if !kind.is_file() => Err("it is not a file".to_owned()),
            Self::Directory if !kind.is_dir() => Err("it is not a directory".to_owned()),
            Self::File | Self::Place | Self::Directory => Ok(real),
        }
    }
}
