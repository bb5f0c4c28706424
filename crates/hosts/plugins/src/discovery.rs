//! Where plugins lie.
//!
//! Finding them reads manifests and starts nothing. What cannot be used is listed with what is wrong with it, never
//! left out in silence.

use std::path::{Path, PathBuf};

use crate::manifest::{Manifest, ManifestError, Role};

/// Nobody has so many plugins in one directory; whoever points us at something else is not read to its end.
const MAX_ENTRIES: usize = 1_000;

/// A directory that has plugins in directories of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The directory. It need not exist.
    pub directory: PathBuf,
    /// Whose it is.
    pub scope: Scope,
}

/// Whose a plugin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The user's, for all workspaces.
    Global,
    /// A workspace's. It runs only where the workspace is trusted.
    Project,
}

impl Scope {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
        }
    }
}

/// A plugin, or what should be one.
#[derive(Debug)]
pub struct Found {
    /// Its directory.
    pub directory: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// What it says about itself, or what is wrong with that.
    pub manifest: Result<Manifest, ManifestError>,
}

impl Found {
    /// What to call it: its name, or that of its directory.
    pub fn name(&self) -> String {
        match &self.manifest {
            Ok(manifest) => manifest.name.clone(),
            Err(_) => self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// What its agent is called, if it is one.
    pub(crate) fn agent(&self) -> Option<&str> {
        match self.manifest.as_ref().map(|manifest| &manifest.role) {
            Ok(Role::Agent(role)) => Some(&role.name),
            _ => None,
        }
    }
}

/// The places to look in: Mehrhof's, old and new, and Loggia's own, which come last and win.
pub fn usual_places(home: &Path, own: &Path, workspace: Option<&Path>) -> Vec<Place> {
    let global = |directory| Place { directory, scope: Scope::Global };
    let mut places = vec![
        global(home.join(".mehrhof/plugins")),
        global(home.join(".valksor/mehrhof/plugins")),
        global(own.join("plugins")),
    ];
    if let Some(workspace) = workspace {
        let project = |name: &str| Place { directory: workspace.join(name), scope: Scope::Project };
        places.extend([project(".mehrhof/plugins"), project(".loggia/plugins")]);
    }
    places
}

/// Looks for plugins, place by place, in each by name. A place that is not there has none.
pub fn discover(places: &[Place]) -> Vec<Found> {
    places.iter().flat_map(look_in).collect()
}

fn look_in(place: &Place) -> Vec<Found> {
    let entries = match std::fs::read_dir(&place.directory) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                tracing::warn!(directory = %place.directory.display(), %error, "cannot look for plugins");
            }
            return Vec::new();
        }
    };
    let mut entries = entries.flatten();
    let mut directories: Vec<PathBuf> =
        entries.by_ref().take(MAX_ENTRIES).map(|entry| entry.path()).filter(|path| is_one(path)).collect();
    directories.sort();
    let too_many = entries.next().map(|_| Found {
        directory: place.directory.clone(),
        scope: place.scope,
        manifest: Err(ManifestError::Unusable {
            file: place.directory.clone(),
            problem: "has more than 1000 entries, and not all of them were looked at",
        }),
    });
    let found = directories.into_iter().map(|directory| {
        let manifest = if directory.is_symlink() {
            // Existing hosts do not follow these either, and what they lead to is not the place's own.
            Err(ManifestError::Unusable {
                file: directory.clone(),
                problem: "is a symbolic link; put the plugin itself here",
            })
        } else {
            Manifest::read(&directory)
        };
        Found { manifest, directory, scope: place.scope }
    });
    found.chain(too_many).collect()
}

/// A directory is meant to be a plugin, whatever is in it; a link only if it leads to one.
fn is_one(path: &Path) -> bool {
    path.is_dir() && (!path.is_symlink() || Manifest::is_in(path))
}
