//! What an apply is going to do, as it is written down before it begins.
//!
//! The rows below are the form on disk: JSON, so that a person can read what a crash left behind. Invariant: what is
//! read back is what was written, also for a root whose name is not text.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use loggia_domain::{CheckpointId, ContentHash, FileChange, FileState, PatchId, Seq, SessionId};
use loggia_tree::TreePath;
use serde::{Deserialize, Serialize};

/// Which version of the form this is. Another one is not guessed at.
const VERSION: u32 = 1;

/// Whose change it is, and what will be in the journal once it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyMark {
    /// The session.
    pub session: SessionId,
    /// Its last event before the change: the one that tells of the change comes after it.
    pub after: Seq,
    /// What the change is.
    pub kind: ApplyKind,
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyKind {
    /// Patches; this is the first of them.
    Patches(PatchId),
    /// A checkpoint is undone. Directories that this leaves empty go.
    Undo(CheckpointId),
    /// An undone checkpoint is redone.
    Redo(CheckpointId),
}

/// Everything that is needed to take a change back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The directory all paths are in.
    pub(super) root: PathBuf,
    pub(super) owner: ApplyMark,
    /// In the order in which they are changed.
    pub(super) files: Vec<RecordedFile>,
    /// The directories that have to be made for them.
    pub(super) made: Vec<TreePath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedFile {
    pub(super) path: TreePath,
    pub(super) before: Option<FileState>,
    pub(super) after: Option<FileState>,
}

impl Record {
    pub(super) fn changes(&self) -> Vec<FileChange> {
        let change = |file: &RecordedFile| FileChange {
            path: file.path.as_str().to_owned(),
            before: file.before,
            after: file.after,
        };
        let mut changes: Vec<FileChange> = self.files.iter().map(change).collect();
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let (kind, id) = match self.owner.kind {
            ApplyKind::Patches(id) => (KindRow::Patches, id.to_string()),
            ApplyKind::Undo(id) => (KindRow::Undo, id.to_string()),
            ApplyKind::Redo(id) => (KindRow::Redo, id.to_string()),
        };
        let row = RecordRow {
            version: VERSION,
            root: PathRow::of(&self.root),
            session: self.owner.session.to_string(),
            after: self.owner.after.0,
            kind,
            id,
            files: self.files.iter().map(FileRow::of).collect(),
            made: self.made.iter().map(|path| path.as_str().to_owned()).collect(),
        };
        serde_json::to_vec(&row).expect("text, numbers and lists of them can be written as JSON")
    }

    /// # Errors
    /// What is wrong with it.
    pub(super) fn from_json(json: &[u8]) -> Result<Self, String> {
        let Version { version } = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("it has version {version}, and this program writes {VERSION}"));
        }
        let row: RecordRow = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let kind = match row.kind {
            KindRow::Patches => ApplyKind::Patches(read(&row.id)?),
            KindRow::Undo => ApplyKind::Undo(read(&row.id)?),
            KindRow::Redo => ApplyKind::Redo(read(&row.id)?),
        };
        Ok(Self {
            root: row.root.path(),
            owner: ApplyMark { session: read(&row.session)?, after: Seq(row.after), kind },
            files: row.files.iter().map(FileRow::file).collect::<Result<_, _>>()?,
            made: row.made.iter().map(|path| parse(path)).collect::<Result<_, _>>()?,
        })
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct RecordRow {
    version: u32,
    root: PathRow,
    session: String,
    after: u64,
    kind: KindRow,
    id: String,
    files: Vec<FileRow>,
    made: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathRow {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindRow {
    Patches,
    Undo,
    Redo,
}

#[derive(Serialize, Deserialize)]
struct FileRow {
    path: String,
    before: Option<StateRow>,
    after: Option<StateRow>,
}

#[derive(Serialize, Deserialize)]
struct StateRow {
    hash: String,
    mode: u32,
    link: bool,
}

impl PathRow {
    fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_owned()),
        }
    }

    fn path(self) -> PathBuf {
        match self {
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

impl FileRow {
    fn of(file: &RecordedFile) -> Self {
        Self {
            path: file.path.as_str().to_owned(),
            before: file.before.as_ref().map(StateRow::of),
            after: file.after.as_ref().map(StateRow::of),
        }
    }

    fn file(&self) -> Result<RecordedFile, String> {
        let state = |row: &Option<StateRow>| row.as_ref().map(StateRow::state).transpose();
        Ok(RecordedFile {
            path: parse(&self.path)?,
            before: state(&self.before)?,
            after: state(&self.after)?,
        })
    }
}

impl StateRow {
    fn of(state: &FileState) -> Self {
        Self { hash: state.hash.to_string(), mode: state.mode, link: state.is_link }
    }

    fn state(&self) -> Result<FileState, String> {
        let hash = ContentHash::from_hex(&self.hash).ok_or_else(|| format!("`{}` is no hash", self.hash))?;
        Ok(FileState { hash, mode: self.mode, is_link: self.link })
    }
}

fn read<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn parse(path: &str) -> Result<TreePath, String> {
    TreePath::parse(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(root: PathBuf, kind: ApplyKind) -> Record {
        let state =
            |text: &str, mode, is_link| FileState { hash: ContentHash::of(text.as_bytes()), mode, is_link };
        let path = |text| TreePath::parse(text).unwrap();
        Record {
            root,
            owner: ApplyMark { session: SessionId::new(), after: Seq(u64::MAX), kind },
            files: vec![
                RecordedFile { path: path("a \"b\"\n"), before: None, after: Some(state("x", 0o600, false)) },
                RecordedFile { path: path("d/ä"), before: Some(state("y", 0o777, true)), after: None },
            ],
            made: vec![path("d"), path("d/e")],
        }
    }

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let (patch, checkpoint) = (PatchId::new(), CheckpointId::new());
        for kind in [ApplyKind::Patches(patch), ApplyKind::Undo(checkpoint), ApplyKind::Redo(checkpoint)] {
            for root in [PathBuf::from("/home/ä b"), OsString::from_vec(b"/home/\xff\n".to_vec()).into()] {
                let record = record(root, kind);
                assert_eq!(Record::from_json(&record.to_json()), Ok(record));
            }
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let good = record("/r".into(), ApplyKind::Patches(PatchId::new())).to_json();
        let good = String::from_utf8(good).unwrap();
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("patch_", "cp_"),
            ("ses_", ""),
            ("\"a ", "\"../a "),
            ("{", ""),
        ] {
            let bad = good.replace(from, to);
            assert!(Record::from_json(bad.as_bytes()).is_err(), "{bad}");
        }
        let hash = ContentHash::of(b"x").to_string();
        for wrong in ["", "zz", "é", &hash[1..]] {
            assert!(Record::from_json(good.replace(&hash, wrong).as_bytes()).is_err(), "{wrong}");
        }
    }
}
