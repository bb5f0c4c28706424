//! Records of changes that are under way, one small file each.
//!
//! A record is there before the first file changes and goes when its owner says that the event is stored. What is
//! found at a start was interrupted; whoever asks decides by looking for the event. Invariant: a file with a record's
//! name holds a whole record, for it got that name only after it was on disk.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use loggia_domain::{CheckpointId, FileChange};
use loggia_tree::Root;

use super::blobs::Blobs;
use super::record::{ApplyMark, Record};
use super::roll_back::{RollBack, roll_back};
use super::seam::Seam;

/// The largest record: the most files there can be in one change, with paths as long as they can be.
const MAX_RECORD: u64 = 64 << 20;

/// How the name of a record that is not whole yet begins.
const DRAFT: &str = ".draft-";

/// How the name of a whole record ends.
const RECORD: &str = ".json";

/// A directory of records. One daemon uses it; clones of this are the same journal.
#[derive(Debug, Clone)]
pub struct ApplyJournal {
    directory: PathBuf,
}

/// Why records cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system does not let us.
    #[error("cannot use `{}`: {source}", .path.display())]
    Io {
        /// What it is about.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file is not a record we can read.
    #[error("`{}` is not a record of changes: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The names of all the files are too much for one record.
    #[error("the record of the change has {len} bytes, and {MAX_RECORD} can be kept")]
    TooLarge {
        /// How large it is.
        len: u64,
    },
    /// The record is about another directory.
    #[error("the changes were made in `{}`", .root.display())]
    OtherRoot {
        /// That directory.
        root: PathBuf,
    },
}

/// What a crash left behind.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Changes that were under way, the newest first: roll back in this order.
    pub applies: Vec<UnfinishedApply>,
    /// Records that cannot be read. They stay where they are, for people to look at.
    pub damaged: Vec<JournalError>,
}

/// A change that was under way when the daemon stopped.
#[derive(Debug)]
#[must_use = "either the change counts and is forgotten, or it is rolled back"]
pub struct UnfinishedApply {
    record: Record,
    file: RecordFile,
}

/// A record on disk. It stays there unless it is removed by name: also when this is dropped.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
}

impl ApplyJournal {
    /// The journal in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn open(directory: &Path) -> Result<Self, JournalError> {
        // Records name files of private projects.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|source| JournalError::Io { path: directory.to_owned(), source })?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// What a crash left behind. Ask once, at the start, before anything is applied: what is under way looks the same.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the directory cannot be read. What is wrong with one record is told beside the others.
    pub fn unfinished(&self) -> Result<Leftovers, JournalError> {
        let failed = |source| JournalError::Io { path: self.directory.clone(), source };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            names.extend(name.into_string().ok());
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        let mut leftovers = Leftovers::default();
        for name in names {
            let file = RecordFile { path: self.directory.join(&name) };
            if name.starts_with(DRAFT) {
                // It never became a record, so nothing was done after it.
                file.remove()?;
            } else if name.ends_with(RECORD) {
                match file.read() {
                    Ok(record) => leftovers.applies.push(UnfinishedApply { record, file }),
                    Err(error) => leftovers.damaged.push(error),
                }
            }
        }
        Ok(leftovers)
    }

    /// Writes a record; when it returns, the record is on disk.
    pub(super) fn write(&self, record: &Record) -> Result<RecordFile, JournalError> {
        let failed = |source| JournalError::Io { path: self.directory.clone(), source };
        let json = record.to_json();
        let len = json.len() as u64;
        if len > MAX_RECORD {
            return Err(JournalError::TooLarge { len });
        }
        let mut draft =
            tempfile::Builder::new().prefix(DRAFT).tempfile_in(&self.directory).map_err(failed)?;
        draft.write_all(&json).map_err(failed)?;
        draft.as_file().sync_all().map_err(failed)?;
        // Names sort by age, and no two are the same.
        let path = self.directory.join(format!("{}{RECORD}", CheckpointId::new()));
        draft.persist(&path).map_err(|error| failed(error.error))?;
        File::open(&self.directory).and_then(|directory| directory.sync_all()).map_err(failed)?;
        Ok(RecordFile { path })
    }
}

impl RecordFile {
    /// Not synced: a record that comes back after a crash is found to be settled by its event.
    pub(super) fn remove(self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(|source| JournalError::Io { path: self.path, source })
    }

    fn read(&self) -> Result<Record, JournalError> {
        let mut json = Vec::new();
        let file = File::open(&self.path);
        let read = file.and_then(|file| file.take(MAX_RECORD + 1).read_to_end(&mut json));
        read.map_err(|source| JournalError::Io { path: self.path.clone(), source })?;
        let damaged = |reason| JournalError::Damaged { path: self.path.clone(), reason };
        if json.len() as u64 > MAX_RECORD {
            return Err(damaged("it is too large".to_owned()));
        }
        Record::from_json(&json).map_err(damaged)
    }
}

impl UnfinishedApply {
    /// Whose it was.
    pub fn owner(&self) -> ApplyMark {
        self.record.owner
    }

    /// The directory it is about.
    pub fn root(&self) -> &Path {
        &self.record.root
    }

    /// What it was to change.
    pub fn changes(&self) -> Vec<FileChange> {
        self.record.changes()
    }

    /// Puts every file back that the change got to, and leaves alone what somebody has changed since. The record goes
    /// if nothing failed; otherwise it stays for another try.
    ///
    /// # Errors
    /// [`JournalError`] if this is the wrong root or the record cannot be removed.
    pub fn roll_back(self, root: &Root, blobs: &dyn Blobs) -> Result<RollBack, JournalError> {
        self.roll_back_at(root, blobs, &Seam::default())
    }

    pub(super) fn roll_back_at(
        self,
        root: &Root,
        blobs: &dyn Blobs,
        seam: &Seam,
    ) -> Result<RollBack, JournalError> {
        if root.path() != self.record.root {
            return Err(JournalError::OtherRoot { root: self.record.root });
        }
        let result = roll_back(root, blobs, &self.record.files, &self.record.made, seam);
        if result.failed.is_empty() {
            self.file.remove()?;
        }
        Ok(result)
    }

    /// The change counts, for its event is stored: the record goes.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it does not.
    pub fn forget(self) -> Result<(), JournalError> {
        self.file.remove()
    }
}
