//! Where the repository is and what is in it.
//!
//! Everything is read once, from `cargo metadata` and from git; checks get values and touch no process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;

use crate::shell;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable when it runs us; the built-in value serves a binary started by hand.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The repository.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Our own packages.
    pub(crate) members: Vec<Package>,
    /// All packages, ours and others'.
    pub(crate) packages: Vec<Package>,
    /// Every file that is in git or would be, relative to the root, with `/` between the parts.
    pub(crate) files: Vec<String>,
}

/// A package as cargo sees it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// What a package says it needs.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing for an ordinary one.
    pub(crate) kind: Option<String>,
}

/// A library, program or test of a package.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) src_path: PathBuf,
}

impl Workspace {
    /// Reads the repository.
    pub(crate) fn load() -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Metadata {
            packages: Vec<Package>,
            workspace_members: BTreeSet<String>,
        }
        let root = root();
        let metadata: Metadata =
            serde_json::from_slice(&read_metadata()?).context("cargo metadata is not JSON")?;
        let ours = |package: &&Package| metadata.workspace_members.contains(&package.id);
        let mut members: Vec<Package> = metadata.packages.iter().filter(ours).cloned().collect();
        members.sort_by(|left, right| left.manifest_path.cmp(&right.manifest_path));
        let files = list_files(&root)?;
        Ok(Self { root, members, packages: metadata.packages, files })
    }

    /// The text of a file; nothing for one that is not text.
    pub(crate) fn text(&self, file: &str) -> anyhow::Result<Option<String>> {
        let bytes = std::fs::read(self.root.join(file)).with_context(|| format!("cannot read `{file}`"))?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// The folder of one of our packages, relative to the root.
    pub(crate) fn folder(&self, package: &Package) -> String {
        let folder = package.manifest_path.parent().unwrap_or(&self.root);
        self.relative(folder)
    }

    /// A path relative to the root, with `/` between the parts.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    /// The files of one of our packages.
    pub(crate) fn files_of<'a>(&'a self, package: &Package) -> impl Iterator<Item = &'a String> + use<'a> {
        let prefix = format!("{}/", self.folder(package));
        self.files.iter().filter(move |file| file.starts_with(&prefix))
    }
}

/// Without the network if possible: on a fresh machine the index may still have to be fetched.
fn read_metadata() -> anyhow::Result<Vec<u8>> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let outcome = shell::read(shell::cargo(arguments).arg("--offline"))
        .or_else(|_| shell::read(&mut shell::cargo(arguments)));
    shell::with_hint(outcome, "when `Cargo.lock` is out of date, any `cargo check` brings it up to date")
}

/// What git knows, new files included; without git (an unpacked archive) everything but build results.
#[expect(clippy::disallowed_methods, reason = "a chore that runs git to its end")]
fn list_files(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let mut files: BTreeSet<String> = match shell::read(&mut git) {
        Ok(listing) => String::from_utf8_lossy(&listing).split('\0').map(str::to_owned).collect(),
        Err(_) => {
            let mut files = BTreeSet::new();
            walk(root, "", &mut files)?;
            files
        }
    };
    // A file that is deleted but not yet committed is still listed.
    files.retain(|file| root.join(file).is_file());
    Ok(files.into_iter().collect())
}

fn walk(root: &Path, folder: &str, files: &mut BTreeSet<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(root.join(folder)).with_context(|| format!("cannot list `{folder}`"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match entry.file_type()? {
            kind if kind.is_dir() && !["target", ".git"].contains(&name.as_str()) => {
                walk(root, &path, files)?;
            }
            kind if kind.is_file() => {
                files.insert(path);
            }
            _ => {}
        }
    }
    Ok(())
}
