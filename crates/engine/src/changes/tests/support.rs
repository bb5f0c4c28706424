//! A tree in a directory of its own, with what is needed to change it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::{
    BlobError, CheckpointId, ContentHash, FileChange, FileState, PatchId, Seq, SessionId, StoreError,
};
use loggia_tree::{Root, RootSettings, TreePath};
use tempfile::TempDir;

use crate::changes::seam::Seam;
use crate::changes::{
    Applied, Applier, ApplyError, ApplyJournal, ApplyKind, ApplyMark, Blobs, Expect, NewContent, WantedChange,
};

/// What is below a directory: each entry by its path. Directories end with a slash.
pub(super) type Snapshot = BTreeMap<String, Entry>;

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Directory,
    File { bytes: Vec<u8>, mode: u32 },
    Link { target: String },
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory => f.write_str("directory"),
            Self::File { bytes, mode } => write!(f, "{mode:o} {:?}", String::from_utf8_lossy(bytes)),
            Self::Link { target } => write!(f, "-> {target}"),
        }
    }
}

impl Entry {
    pub(super) fn state(&self) -> Option<FileState> {
        match self {
            Self::Directory => None,
            Self::File { bytes, mode } => {
                Some(FileState { hash: ContentHash::of(bytes), mode: *mode, is_link: false })
            }
            Self::Link { target } => {
                Some(FileState { hash: ContentHash::of(target.as_bytes()), mode: 0o777, is_link: true })
            }
        }
    }

    pub(super) fn content(&self) -> NewContent {
        match self {
            Self::Directory => panic!("a directory is no content"),
            Self::File { bytes, mode } => NewContent::File { bytes: bytes.clone(), mode: Some(*mode) },
            Self::Link { target } => NewContent::Link { target: target.clone().into_bytes() },
        }
    }
}

/// Blobs as files, so that they outlive a process.
pub(super) struct DirectoryBlobs(pub(super) PathBuf);

impl Blobs for DirectoryBlobs {
    fn keep(&self, contents: Vec<Vec<u8>>) -> Result<(), StoreError> {
        for bytes in contents {
            fs::write(self.0.join(ContentHash::of(&bytes).to_string()), bytes).unwrap();
        }
        Ok(())
    }

    fn kept(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        match fs::read(self.0.join(hash.to_string())) {
            Ok(bytes) if ContentHash::of(&bytes) == hash => Ok(bytes),
            Ok(_) => Err(StoreError::Blob { hash, fault: BlobError::Damaged }),
            Err(_) => Err(StoreError::Blob { hash, fault: BlobError::Missing }),
        }
    }
}

/// A workspace and a data directory.
pub(super) struct Bench {
    pub(super) base: PathBuf,
    /// Removes both when dropped; nothing in a process that only visits.
    _own: Option<TempDir>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let own = TempDir::new().unwrap();
        let bench = Self { base: own.path().canonicalize().unwrap(), _own: Some(own) };
        fs::create_dir(bench.tree()).unwrap();
        fs::create_dir(bench.blobs_directory()).unwrap();
        bench
    }

    /// The same as somebody else has made it.
    pub(super) fn visit(base: &Path) -> Self {
        Self { base: base.to_owned(), _own: None }
    }

    pub(super) fn with(files: &Snapshot) -> Self {
        let bench = Self::new();
        bench.write(files);
        bench
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.base.join("tree")
    }

    pub(super) fn blobs_directory(&self) -> PathBuf {
        self.base.join("blobs")
    }

    pub(super) fn journal(&self) -> ApplyJournal {
        ApplyJournal::open(&self.base.join("journal")).unwrap()
    }

    pub(super) fn root(&self) -> Root {
        Root::open(&self.tree(), RootSettings::default()).unwrap()
    }

    pub(super) fn blobs(&self) -> DirectoryBlobs {
        DirectoryBlobs(self.blobs_directory())
    }

    pub(super) fn applier(&self) -> Applier {
        Applier::new(Arc::new(self.root()), Arc::new(self.blobs()), self.journal())
    }

    /// An applier that tells each step before it goes on.
    pub(super) fn applier_with(
        &self,
        hook: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static,
    ) -> Applier {
        let mut applier = self.applier();
        applier.seam = Seam { hook: Some(Arc::new(hook)) };
        applier
    }

    pub(super) fn write(&self, files: &Snapshot) {
        for (path, entry) in files {
            self.write_one(path, entry);
        }
    }

    pub(super) fn write_one(&self, path: &str, entry: &Entry) {
        let place = self.tree().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match entry {
            Entry::Directory => fs::create_dir_all(&place).unwrap(),
            Entry::File { bytes, mode } => {
                fs::write(&place, bytes).unwrap();
                fs::set_permissions(&place, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Entry::Link { target } => symlink(target, &place).unwrap(),
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let mut found = Snapshot::new();
        collect(&self.tree(), "", &mut found);
        found
    }

    pub(super) fn snapshot_of_files(&self) -> Snapshot {
        let mut found = self.snapshot();
        found.retain(|_, entry| *entry != Entry::Directory);
        found
    }

    /// Removes empty directories, which are nobody's.
    pub(super) fn prune(&self) {
        prune(&self.tree());
    }

    /// How many records are on disk.
    pub(super) fn records(&self) -> usize {
        fs::read_dir(self.base.join("journal")).map_or(0, Iterator::count)
    }
}

fn collect(directory: &Path, prefix: &str, found: &mut Snapshot) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
            found.insert(format!("{path}/"), Entry::Directory);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap().into_os_string().into_string().unwrap();
            found.insert(path, Entry::Link { target });
        } else {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            found.insert(path, Entry::File { bytes: fs::read(entry.path()).unwrap(), mode });
        }
    }
}

fn prune(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            prune(&entry.path());
            // Not empty is what most are.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

pub(super) fn file(text: &str) -> Entry {
    Entry::File { bytes: text.into(), mode: 0o644 }
}

pub(super) fn files<const N: usize>(entries: [(&str, Entry); N]) -> Snapshot {
    entries.map(|(path, entry)| (path.to_owned(), entry)).into()
}

pub(super) fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

pub(super) fn patches() -> ApplyMark {
    mark(ApplyKind::Patches(PatchId::new()))
}

pub(super) fn undo() -> ApplyMark {
    mark(ApplyKind::Undo(CheckpointId::new()))
}

pub(super) fn redo() -> ApplyMark {
    mark(ApplyKind::Redo(CheckpointId::new()))
}

fn mark(kind: ApplyKind) -> ApplyMark {
    ApplyMark { session: SessionId::new(), after: Seq(7), kind }
}

/// A change as a patch asks for it: what the file holds, and what it is to hold; nothing stands for no file.
pub(super) fn change(at: &str, before: Option<&str>, after: Option<&str>) -> WantedChange {
    WantedChange {
        path: path(at),
        expect: before.map_or(Expect::Absent, |text| Expect::Hash(ContentHash::of(text.as_bytes()))),
        after: after.map(|text| NewContent::File { bytes: text.into(), mode: None }),
    }
}

/// Settles what was applied, as after storing the event.
pub(super) fn settle(applied: Result<Applied, ApplyError>) -> Vec<FileChange> {
    applied.unwrap().settled().unwrap()
}
