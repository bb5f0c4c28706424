//! What a command changed in a workspace's files.
//!
//! A [`Mirror`] keeps, in the data directory, a list of a workspace's files that are not ignored and copies of their
//! bytes. [`Mirror::refresh`] before a command brings it up to date and gives a [`Snapshot`];
//! [`Mirror::changes_since`] after it says what is different, with the bytes of both sides, so that the change can be
//! shown and undone. Knows files only: not which command ran, nor who else wrote in the meantime. What two commands
//! do at the same time is found by both.
//!
//! # What is found
//!
//! Files and symbolic links that are made, gone, or have another content, permission or kind. A rename is one gone
//! and one made. Ignore rules count as they were before the command: a file that the command's new rules ignore is
//! still compared, and one that they no longer ignore is not taken for new. Directories count by the files in them;
//! an empty one, and a directory's own permissions, do not.
//!
//! # The bound
//!
//! Copies are kept of files of up to 4 MiB, 512 MiB in all (of which up to a quarter can be old copies that are not
//! cleared away yet), of the first 100 000 files in the order of their paths; see [`bounds`]. Of other files, of
//! files that cannot be read, and of those whose copy was damaged, the `stat` is compared, and a change is counted in
//! [`Observed::beyond_undo`]. Files beyond the 100 000 are compared by one sum over all of them; any difference
//! counts as at least one. Nothing is lost in silence but what no `stat` shows:
//!
//! - a write through a memory mapping that was begun before the snapshot;
//! - of a file that is compared by its `stat` alone, a second write in the same tick of the clock;
//! - an edit to a file whose name is no UTF-8 or has a backslash;
//! - an edit, without a file coming or going, in a directory that cannot be read or has more than 100 000 entries.
//!
//! # What always holds
//!
//! - Only files whose `stat` is not what it was are read. A file that changed within the last ticks of the clock is
//!   read again next time, for a second change in the same tick leaves the `stat` as it was.
//! - The list on disk is that of the last finished refresh, so that after a crash
//!   [`Mirror::last_snapshot`] is what the workspace was before the command that was cut.
//! - Nothing is synced to the disk: all of it can be made again. A list or a copy that is not whole is noticed by
//!   its checksum and counts as not there.
//! - A copy stays while a snapshot or a result that names it is alive.

pub mod bounds;
mod changes;
mod compare;
mod copies;
mod diff;
mod look;
mod manifest;
mod parallel;
mod source;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

use loggia_tree::{Root, TreeError};

use self::bounds::Bounds;
pub use self::changes::Observed;
use self::compare::compare;
use self::copies::{Copies, make_dir, replace};
use self::look::{Seen, look};
use self::manifest::{Entry, Manifest, Stat};
use self::parallel::for_each;
use self::source::{Purpose, Source, now_ns};

/// The list of files, in the mirror's directory.
const LIST: &str = "list";
/// The list while it is being written.
const NEW_LIST: &str = "list.new";
/// The copies, in the mirror's directory.
const COPIES: &str = "copies";
/// How often a refresh reads: a second time if removing old copies made room for what did not fit.
const ROUNDS: usize = 2;

/// The copy of one workspace's files. Its directory belongs to one `Mirror` at a time.
#[derive(Debug)]
pub struct Mirror {
    dir: PathBuf,
    source: Arc<Source>,
    /// The newest that is known of each file, to spare reading it. Not all of one moment.
    known: Arc<Manifest>,
    /// What is on disk.
    saved: Option<Arc<Manifest>>,
    /// What callers hold.
    in_use: Vec<Weak<Manifest>>,
    /// Whether there may be copies that nothing names.
    may_have_garbage: bool,
}

/// What a workspace's files were at one moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Manifest>);

/// Why a workspace's files were not looked at.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The caller stopped it. It can be called again.
    #[error("looking at the workspace's files was stopped")]
    Stopped,
    /// The workspace's root cannot be looked at: it is gone, or reading it is forbidden.
    #[error("the workspace's files cannot be listed")]
    Unreadable {
        /// What is wrong with it.
        source: TreeError,
    },
    /// The data directory cannot be used: the disk is full, for example.
    #[error("copies of the workspace's files cannot be kept")]
    Unwritable {
        /// What the system says.
        source: io::Error,
    },
}

impl Mirror {
    /// Opens or makes the mirror of a workspace in a directory of its own, outside the workspace.
    pub fn open(dir: PathBuf, root: Arc<Root>) -> Result<Self, MirrorError> {
        Self::open_with(dir, root, Bounds::STANDARD)
    }

    /// Like [`Mirror::open`], with other bounds.
    pub fn open_with(dir: PathBuf, root: Arc<Root>, bounds: Bounds) -> Result<Self, MirrorError> {
        let unwritable = |source| MirrorError::Unwritable { source };
        make_dir(&dir).map_err(unwritable)?;
        let saved = match fs::read(dir.join(LIST)) {
            Ok(bytes) => Manifest::decode(&bytes, root.path()).map(Arc::new),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unwritable(error)),
        };
        let copies = Copies::open(dir.join(COPIES), bounds.all_bytes).map_err(unwritable)?;
        Ok(Self {
            dir,
            source: Arc::new(Source { root, copies, bounds }),
            known: saved.clone().unwrap_or_default(),
            saved,
            in_use: Vec::new(),
            may_have_garbage: true,
        })
    }

    /// Brings the mirror up to date, in memory and on disk, and says what the workspace's files are now.
    ///
    /// Reads only what changed since it was last read. After a stop, what was read so far is not read again.
    pub fn refresh(&mut self, stop: &AtomicBool) -> Result<Snapshot, MirrorError> {
        let mut manifest = self.list(stop)?;
        for round in 1.. {
            let read = self.read_wanted(&mut manifest, stop);
            self.known = Arc::new(manifest);
            read?;
            self.save()?;
            let has_more_room = self.remove_garbage()?;
            if round == ROUNDS || !has_more_room || !self.known.entries.iter().any(|it| self.is_wanted(it)) {
                break;
            }
            manifest = Manifest::clone(&self.known);
        }
        Ok(self.give(&Arc::clone(&self.known)))
    }

    /// What is different from a snapshot of this mirror. Leaves the list on disk as it is: the same question can be
    /// asked again after a crash, until the next refresh.
    pub fn changes_since(&mut self, snapshot: &Snapshot, stop: &AtomicBool) -> Result<Observed, MirrorError> {
        let before = &snapshot.0;
        let copies_before = self.source.copies.count();
        let compared = compare(&self.source, before, &self.known, stop)?;
        let mut now = Manifest::default();
        now.set_entries(compared.entries);
        self.known = Arc::new(now);
        self.may_have_garbage |= self.source.copies.count() > copies_before;
        let after = self.give(&Arc::clone(&self.known));
        Ok(Observed {
            changes: compared.changes,
            beyond_undo: compared.beyond_undo,
            source: Arc::clone(&self.source),
            _in_use: [Arc::clone(before), after.0],
        })
    }

    /// The snapshot of the last finished refresh, also of an earlier process; nothing if there was none, or its list
    /// is damaged.
    pub fn last_snapshot(&mut self) -> Option<Snapshot> {
        let saved = Arc::clone(self.saved.as_ref()?);
        Some(self.give(&saved))
    }

    /// The files as they are now, with what is known of those that did not change since.
    fn list(&self, stop: &AtomicBool) -> Result<Manifest, MirrorError> {
        let bounds = &self.source.bounds;
        let mut entries = Vec::with_capacity(self.known.entries.len());
        let mut manifest = Manifest { started_ns: now_ns(), ..Manifest::default() };
        look(&self.source.root, stop, |seen| match seen {
            Seen::File { path, stat } if entries.len() < bounds.files => entries.push(self.entry(path, stat)),
            Seen::File { path, stat } => manifest.rest.add(path, &stat),
            Seen::Ignored { path, stat: Some(_) } => manifest.ignored.add_file(path, bounds.ignored),
            Seen::Ignored { path, stat: None } => manifest.ignored.add_directory(path, bounds.ignored),
            Seen::Dark { path, text } => {
                manifest.rest.add_dark(&text);
                // Files in there are not new when they come to light.
                if let Some(path) = path {
                    manifest.ignored.add_directory(path, bounds.ignored);
                }
            }
        })?;
        manifest.set_entries(entries);
        Ok(manifest)
    }

    fn entry(&self, path: &str, stat: Stat) -> Entry {
        match self.known.get(path) {
            Some(entry) if entry.is_unchanged(&stat) => entry.clone(),
            Some(entry) => Entry { path: Arc::clone(&entry.path), stat, hash: None, is_racy: false },
            None => Entry { path: path.into(), stat, hash: None, is_racy: false },
        }
    }

    /// Whether a file is to be read: there is no copy of it, and one fits.
    fn is_wanted(&self, entry: &Entry) -> bool {
        let len = entry.stat.len;
        let is_kept = entry.hash.is_some_and(|hash| self.source.copies.has(hash, len));
        !is_kept && len <= self.source.bounds.file_bytes.min(self.source.copies.room())
    }

    fn read_wanted(&self, manifest: &mut Manifest, stop: &AtomicBool) -> Result<(), MirrorError> {
        let entries = &mut manifest.entries;
        let wanted: Vec<usize> =
            (0..entries.len()).filter(|index| self.is_wanted(&entries[*index])).collect();
        let (read, error) = for_each(&wanted, stop, |index| {
            let entry = &entries[*index];
            self.source.examine(&entry.path, entry.stat, Purpose::Keep)
        });
        let is_whole = read.len() == wanted.len();
        let mut gone = HashSet::new();
        for (at, entry) in read {
            let index = wanted[at];
            match entry {
                Some(entry) => entries[index] = entry,
                None => _ = gone.insert(Arc::clone(&entries[index].path)),
            }
        }
        if !gone.is_empty() {
            entries.retain(|entry| !gone.contains(&entry.path));
        }
        match error {
            Some(source) => Err(MirrorError::Unwritable { source }),
            None if is_whole => Ok(()),
            None => Err(MirrorError::Stopped),
        }
    }

    /// Writes the list, if it is not what is on disk but for the time.
    fn save(&mut self) -> Result<(), MirrorError> {
        let is_saved = self.saved.as_ref().is_some_and(|saved| saved.is_same_but_for_time(&self.known));
        if !is_saved {
            let bytes = self.known.encode(self.source.root.path());
            replace(&self.dir.join(LIST), &self.dir.join(NEW_LIST), &bytes)
                .map_err(|source| MirrorError::Unwritable { source })?;
            self.may_have_garbage = true;
        }
        self.saved = Some(Arc::clone(&self.known));
        Ok(())
    }

    /// Removes copies that nothing names. Says whether there is more room now.
    fn remove_garbage(&mut self) -> Result<bool, MirrorError> {
        if !self.may_have_garbage {
            return Ok(false);
        }
        let held: Vec<Arc<Manifest>> = self.in_use.iter().filter_map(Weak::upgrade).collect();
        let all = held.iter().chain(&self.saved).chain([&self.known]);
        let named: HashSet<_> = all.flat_map(|manifest| manifest.hashes()).collect();
        let removed = self.source.copies.keep_only(&named);
        let removed = removed.map_err(|source| MirrorError::Unwritable { source })?;
        // What only callers hold now may be garbage next time.
        let is_held_only = |manifest: &Arc<Manifest>| !Arc::ptr_eq(manifest, &self.known);
        self.may_have_garbage = removed.more || held.iter().any(is_held_only);
        Ok(removed.bytes > 0)
    }

    /// A snapshot whose copies stay as long as somebody has it.
    fn give(&mut self, manifest: &Arc<Manifest>) -> Snapshot {
        self.in_use.retain(|manifest| manifest.strong_count() > 0);
        self.in_use.push(Arc::downgrade(manifest));
        Snapshot(Arc::clone(manifest))
    }
}
