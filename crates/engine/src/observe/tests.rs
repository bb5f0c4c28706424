//! The mirror on real directories.

mod bounds;
mod damage;
mod property;
mod reading;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loggia_domain::{FileChange, FileChangeKind};
use loggia_tree::{Root, RootSettings};
use tempfile::TempDir;

use super::manifest::Manifest;
use super::{Bounds, Mirror, Observed, Snapshot};

/// Never stop.
static GO: AtomicBool = AtomicBool::new(false);

/// A workspace and the directory of its mirror.
struct Place {
    workspace: TempDir,
    data: TempDir,
}

impl Place {
    /// A workspace with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self { workspace: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    fn mirror(&self) -> Mirror {
        self.mirror_within(Bounds::STANDARD)
    }

    fn mirror_within(&self, bounds: Bounds) -> Mirror {
        let root = Root::open(self.workspace.path(), RootSettings::default()).unwrap();
        Mirror::open_with(self.data.path().join("mirror"), Arc::new(root), bounds).unwrap()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.workspace.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.at(to).parent().unwrap()).unwrap();
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Every file and link: its mode (none for a link) and its bytes.
    fn files(&self) -> BTreeMap<String, (Option<u32>, Vec<u8>)> {
        let mut files = BTreeMap::new();
        collect(self.workspace.path(), "", &mut files);
        files
    }

    /// The files that hold the copies, each with the list beside it.
    fn segments(&self) -> Vec<(PathBuf, PathBuf)> {
        let paths = fs::read_dir(self.data.path().join("mirror/copies")).unwrap();
        let paths = paths.map(|entry| entry.unwrap().path());
        let data = paths.filter(|path| path.extension().is_some_and(|extension| extension == "data"));
        data.map(|path| (path.clone(), path.with_extension("list"))).collect()
    }

    /// Puts everything back as it was, in the order that [`Observed`] names.
    fn undo(&self, observed: &Observed) {
        for change in &observed.changes {
            if change.after.is_some() {
                let path = self.at(&change.path);
                fs::remove_file(&path).unwrap();
                for directory in path.ancestors().skip(1).take_while(|it| *it != self.workspace.path()) {
                    if fs::remove_dir(directory).is_err() {
                        break;
                    }
                }
            }
        }
        for change in &observed.changes {
            let Some(before) = change.before else { continue };
            let bytes = observed.before_bytes(change).unwrap();
            let path = self.at(&change.path);
            if path.is_dir() {
                remove_empty(&path);
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if before.is_link {
                symlink(std::str::from_utf8(&bytes).unwrap(), path).unwrap();
            } else {
                fs::write(&path, bytes).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(before.mode)).unwrap();
            }
        }
    }
}

/// Removes a directory in which there are only directories.
fn remove_empty(path: &Path) {
    for entry in fs::read_dir(path).unwrap() {
        remove_empty(&entry.unwrap().path());
    }
    fs::remove_dir(path).unwrap();
}

fn collect(directory: &Path, start: &str, files: &mut BTreeMap<String, (Option<u32>, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{start}{}", entry.file_name().to_str().unwrap());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            files.insert(path, (None, target.into_os_string().into_encoded_bytes()));
        } else if kind.is_file() {
            let mode = entry.metadata().unwrap().mode() & 0o7777;
            files.insert(path, (Some(mode), fs::read(entry.path()).unwrap()));
        }
    }
}

/// One line for each change: `+` made, `-` gone, `*` other content, `m` other mode, `l` from or to a link.
fn show(observed: &Observed) -> String {
    let mut lines: Vec<String> = observed.changes.iter().map(show_one).collect();
    if observed.beyond_undo > 0 {
        lines.push(format!("beyond {}", observed.beyond_undo));
    }
    lines.join(", ")
}

fn show_one(change: &FileChange) -> String {
    let mut signs = String::new();
    match (change.kind(), change.before.zip(change.after)) {
        (FileChangeKind::Created, _) => signs.push('+'),
        (FileChangeKind::Deleted, _) => signs.push('-'),
        (FileChangeKind::Modified, sides) => {
            let (before, after) = sides.unwrap();
            signs.extend((before.hash != after.hash).then_some('*'));
            signs.extend((before.mode != after.mode).then_some('m'));
            signs.extend((before.is_link != after.is_link).then_some('l'));
        }
    }
    format!("{signs} {}", change.path)
}

/// The time is long after the last write: what the mirror knows is not in doubt any more.
fn let_time_pass(mirror: &mut Mirror) {
    mirror.known = settled(&mirror.known);
    mirror.saved = mirror.saved.as_deref().map(settled);
}

fn settled(manifest: &Manifest) -> Arc<Manifest> {
    let mut manifest = manifest.clone();
    manifest.entries.iter_mut().for_each(|entry| entry.is_racy = false);
    Arc::new(manifest)
}

fn refresh(mirror: &mut Mirror) -> Snapshot {
    mirror.refresh(&GO).unwrap()
}

fn changes(mirror: &mut Mirror, snapshot: &Snapshot) -> Observed {
    mirror.changes_since(snapshot, &GO).unwrap()
}
