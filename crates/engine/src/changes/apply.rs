//! Puts contents into files: several files together, or none of them.
//!
//! The order is what makes it safe. Every file is looked at; the bytes of both sides are kept; a record of what is
//! going to happen is on disk; the new contents are on disk beside their places; every file is looked at again; only
//! then are they moved into their places, one by one. Whatever fails takes back what was done.
//!
//! The cost for `n` files in `d` directories: `n` contents and `d` directories are synced in the workspace, and two
//! files in the journal's directory, whatever `n` is. What the blobs cost is the store's.

use std::sync::{Arc, Mutex, PoisonError};

use loggia_domain::{FileChange, StoreError};
use loggia_tree::{PathError, Root, Staged, TreeError, TreePath};

use super::blobs::Blobs;
use super::change_set::{ChangeSet, FileWrite, Removal, Unfit};
use super::disk::{remove_directories, stage, sync};
use super::journal::{ApplyJournal, JournalError, RecordFile};
use super::keep::keep;
use super::plan::Restore;
use super::record::{ApplyKind, ApplyMark, Record};
use super::roll_back::{RollBack, roll_back};
use super::seam::Seam;
use super::wanted::{Conflict, Expect, NewContent, WantedChange, merge};

/// The most files that change together: their names and states are in memory and in one record.
pub const MAX_CHANGES: usize = 10_000;

/// Changes files below one root. Have one for each root: it lets one change through at a time.
pub struct Applier {
    root: Arc<Root>,
    blobs: Arc<dyn Blobs>,
    journal: ApplyJournal,
    alone: Mutex<()>,
    pub(super) seam: Seam,
}

/// Files that have changed. The record of it stays on disk until [`settled`](Applied::settled).
#[derive(Debug)]
#[must_use = "store the event and call `settled`, or take it back"]
pub struct Applied {
    changes: Vec<FileChange>,
    /// Nothing if every file was as it was to be.
    record: Option<(Record, RecordFile)>,
}

/// Why files were not changed. Nothing has changed then, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Files are not what the changes were made for. All such are named.
    #[error("{} changed since: {}", if .0.len() == 1 { "a file has" } else { "files have" }, names(.0))]
    Conflict(Vec<Conflict>),
    /// A path leads where no change may go.
    #[error("{source}")]
    Forbidden {
        /// Which.
        path: TreePath,
        /// Where it leads.
        #[source]
        source: TreeError,
    },
    /// A file cannot be read or written.
    #[error("`{path}` cannot be changed: {source}")]
    Unwritable {
        /// Which.
        path: TreePath,
        /// What the system said.
        #[source]
        source: TreeError,
    },
    /// A recorded path is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// There are too many files.
    #[error("{count} files are to change together, and {MAX_CHANGES} can")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// What the files hold cannot be kept, so they could not be put back.
    #[error("the files' contents cannot be kept: {0}")]
    Blobs(#[from] StoreError),
    /// What is going to happen cannot be written down.
    #[error("the change cannot be recorded: {0}")]
    Journal(#[from] JournalError),
    /// It failed, and could not be taken back whole. Some files have changed.
    #[error("the change failed and could not be taken back whole: {cause}")]
    HalfDone {
        /// Why it failed.
        #[source]
        cause: Box<ApplyError>,
        /// What became of the files. If some could not be put back, the record stays for the next start.
        result: RollBack,
    },
}

impl Applier {
    /// An applier for the files below a root.
    pub fn new(root: Arc<Root>, blobs: Arc<dyn Blobs>, journal: ApplyJournal) -> Self {
        Self { root, blobs, journal, alone: Mutex::new(()), seam: Seam::default() }
    }

    /// Makes the changes, all of them or none. Several changes of one file are made as one, if each was made for what
    /// the one before it leaves. What already is as it should be is left alone and not told of.
    ///
    /// # Errors
    /// [`ApplyError`]; nothing has changed then, except for [`ApplyError::HalfDone`].
    pub fn apply(&self, owner: ApplyMark, changes: Vec<WantedChange>) -> Result<Applied, ApplyError> {
        if changes.len() > MAX_CHANGES {
            return Err(ApplyError::TooMany { count: changes.len() });
        }
        let wanted = merge(changes).map_err(|conflict| ApplyError::Conflict(vec![conflict]))?;
        // A panic while it was held left a record, and each change looks at the files anew.
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let set = ChangeSet::check(&self.root, wanted)?;
        if set.is_empty() {
            return Ok(Applied { changes: Vec::new(), record: None });
        }
        keep(&self.root, &*self.blobs, &set)?;
        let record = Record {
            root: self.root.path().to_owned(),
            owner,
            made: set.missing_directories(&self.root).map_err(ApplyError::at_root)?,
            files: set.files(),
        };
        self.reach("kept")?;
        let file = self.journal.write(&record)?;
        let mut done = 0;
        match self.carry_out(&set, owner.kind, &mut done) {
            Ok(()) => Ok(Applied { changes: record.changes(), record: Some((record, file)) }),
            Err(cause) => match self.roll_back(&record, done, file) {
                result if result.is_whole() => Err(cause),
                result => Err(ApplyError::HalfDone { cause: Box::new(cause), result }),
            },
        }
    }

    /// Makes files what they once were, as [`plan_undo`](super::plan_undo) and [`plan_redo`](super::plan_redo) say.
    ///
    /// # Errors
    /// As for [`apply`](Applier::apply). A conflict means that somebody has changed the files since.
    pub fn restore(&self, owner: ApplyMark, plan: &[Restore]) -> Result<Applied, ApplyError> {
        let change = |restore: &Restore| {
            let path = TreePath::parse(&restore.path)?;
            let expect = restore.expect.map_or(Expect::Absent, Expect::Exactly);
            Ok(WantedChange { path, expect, after: restore.target.map(NewContent::Kept) })
        };
        self.apply(owner, plan.iter().map(change).collect::<Result<_, ApplyError>>()?)
    }

    /// Takes back what was just applied, for its event could not be stored. If something could not be put back, the
    /// record stays for the next start.
    pub fn take_back(&self, applied: Applied) -> RollBack {
        let Some((record, file)) = applied.record else { return RollBack::default() };
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        self.roll_back(&record, record.files.len(), file)
    }

    /// Changes the files in the order of the record, and counts those that are changed.
    fn carry_out(&self, set: &ChangeSet, kind: ApplyKind, done: &mut usize) -> Result<(), ApplyError> {
        self.reach("recorded")?;
        let mut staged = Vec::new();
        for change in set.writes.iter().filter(|change| !change.needs_room) {
            staged.push(self.stage(change)?);
        }
        set.check_again(&self.root)?;
        self.reach("checked again")?;
        for change in &set.removals {
            self.remove(change, done)?;
        }
        for staged in staged {
            self.commit(staged, done)?;
        }
        for change in set.writes.iter().filter(|change| change.needs_room) {
            self.commit(self.stage(change)?, done)?;
        }
        if matches!(kind, ApplyKind::Undo(_)) {
            for change in &set.removals {
                self.remove_directories(&change.path, &TreePath::root())?;
            }
        }
        let removed = set.removals.iter().map(|change| &change.path);
        let written = set.writes.iter().map(|change| &change.path);
        sync(&self.root, removed.chain(written)).map_err(ApplyError::at_root)?;
        self.reach("synced")
    }

    fn stage(&self, change: &FileWrite) -> Result<Staged, ApplyError> {
        let kept;
        let bytes = match &change.content {
            NewContent::File { bytes, .. } => bytes,
            NewContent::Link { target } => target,
            NewContent::Kept(state) => {
                kept = self.blobs.kept(state.hash)?;
                &kept
            }
        };
        let staged = stage(&self.root, &change.path, bytes, &change.after);
        let staged = staged.map_err(|error| ApplyError::at(&change.path, error))?;
        self.reach("staged")?;
        Ok(staged)
    }

    fn commit(&self, staged: Staged, done: &mut usize) -> Result<(), ApplyError> {
        let path = staged.path().clone();
        self.root.commit_unsynced(staged).map_err(|error| ApplyError::at(&path, error))?;
        *done += 1;
        self.reach("committed")
    }

    fn remove(&self, change: &Removal, done: &mut usize) -> Result<(), ApplyError> {
        self.root.remove_unsynced(&change.path).map_err(|error| ApplyError::at(&change.path, error))?;
        *done += 1;
        self.reach("removed")?;
        match &change.makes_room_for {
            Some(place) => self.remove_directories(&change.path, place),
            None => Ok(()),
        }
    }

    /// Removes the directories that lead to a path from a place on, as far as they are empty.
    fn remove_directories(&self, path: &TreePath, from: &TreePath) -> Result<(), ApplyError> {
        let removed = remove_directories(&self.root, path, |directory| directory.starts_with(from));
        removed.map_err(|error| ApplyError::at(path, error))?;
        self.reach("removed directories")
    }

    /// Takes back what was done to so many of the files. The record goes unless it is still needed.
    fn roll_back(&self, record: &Record, done: usize, file: RecordFile) -> RollBack {
        let result = roll_back(&self.root, &*self.blobs, &record.files[..done], &record.made, &self.seam);
        if result.failed.is_empty()
            && let Err(error) = file.remove()
        {
            tracing::warn!(%error, "the record of a change that was taken back stays");
        }
        result
    }

    fn reach(&self, step: &str) -> Result<(), ApplyError> {
        self.seam.reach(step, &TreePath::root()).map_err(ApplyError::at_root)
    }
}

impl std::fmt::Debug for Applier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Applier").field("root", &self.root.path()).finish_non_exhaustive()
    }
}

impl Applied {
    /// What has changed, in the order of the paths. The bytes of both sides are kept.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// The event that tells of it is stored, so the record is not needed any more.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the record cannot be removed. The next start finds it, and the event too.
    pub fn settled(self) -> Result<Vec<FileChange>, JournalError> {
        if let Some((_, file)) = self.record {
            file.remove()?;
        }
        Ok(self.changes)
    }
}

impl ApplyError {
    /// The files that are in the way; none if it is no file in particular.
    pub fn paths(&self) -> impl Iterator<Item = &TreePath> {
        let (conflicts, one) = match self {
            Self::Conflict(conflicts) => (conflicts.as_slice(), None),
            Self::Forbidden { path, .. } | Self::Unwritable { path, .. } => (&[][..], Some(path)),
            Self::Path(_)
            | Self::TooMany { .. }
            | Self::Blobs(_)
            | Self::Journal(_)
            | Self::HalfDone { .. } => (&[][..], None),
        };
        conflicts.iter().map(|conflict| &conflict.path).chain(one)
    }

    pub(super) fn at(path: &TreePath, source: TreeError) -> Self {
        match source {
            source if source.is_forbidden() => Self::Forbidden { path: path.clone(), source },
            source => Self::Unwritable { path: path.clone(), source },
        }
    }

    fn at_root(source: TreeError) -> Self {
        Self::at(&TreePath::root(), source)
    }
}

impl From<Unfit> for ApplyError {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Conflicts(conflicts) => Self::Conflict(conflicts),
            Unfit::Unusable { path, source } => Self::at(&path, source),
        }
    }
}

fn names(conflicts: &[Conflict]) -> String {
    /// Enough to know which; the rest is in the value.
    const SHOWN: usize = 10;
    let mut names: Vec<String> =
        conflicts.iter().take(SHOWN).map(|conflict| format!("`{}`", conflict.path)).collect();
    if conflicts.len() > SHOWN {
        names.push(format!("and {} more", conflicts.len() - SHOWN));
    }
    names.join(", ")
}
