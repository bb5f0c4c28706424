//! Comparing a workspace with a snapshot of it.
//!
//! Knows what a change is and which ones can be undone. Invariants: a change is listed only if the bytes to undo
//! it were found whole; a file that may have been there before is never listed as new, for undoing would remove
//! it; everything else that changed, or may have, is counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loggia_domain::{FileChange, FileState};
use loggia_tree::TreePath;

use super::MirrorError;
use super::look::{Seen, look};
use super::manifest::{Entry, Manifest, Rest, Stat};
use super::parallel::for_each;
use super::source::{Now, Purpose, Source, slack_ns};

/// What a comparison found.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// What can be undone, sorted by path.
    pub(super) changes: Vec<FileChange>,
    /// How many more changed, or may have.
    pub(super) beyond_undo: u64,
    /// The files as they are now, as far as they were looked at.
    pub(super) entries: Vec<Entry>,
}

/// Compares the workspace with what it was. `known` spares reading what was read since.
pub(super) fn compare(
    source: &Source,
    before: &Manifest,
    known: &Manifest,
    stop: &AtomicBool,
) -> Result<Compared, MirrorError> {
    let mut comparison = Comparison::new(source, before, known);
    look(&source.root, stop, |seen| comparison.see(&seen))?;
    comparison.look_for_missing(stop)?;
    comparison.judge(stop)
}

#[derive(Debug)]
struct Comparison<'a> {
    source: &'a Source,
    before: &'a Manifest,
    known: &'a Manifest,
    /// Which entries of `before` were come across.
    is_seen: Vec<bool>,
    new_files: usize,
    suspects: Vec<Suspect>,
    rest: Rest,
    found: Compared,
}

/// A file that may have changed.
#[derive(Debug)]
struct Suspect {
    path: Arc<str>,
    /// Its place among the entries of before; nothing if it was not there.
    before: Option<usize>,
    /// Nothing if it is gone.
    now: Option<Stat>,
}

/// What came of a suspicion.
#[derive(Debug)]
enum Verdict {
    Same,
    Changed(FileChange),
    BeyondUndo,
}

impl<'a> Comparison<'a> {
    fn new(source: &'a Source, before: &'a Manifest, known: &'a Manifest) -> Self {
        Self {
            source,
            before,
            known,
            is_seen: vec![false; before.entries.len()],
            new_files: 0,
            suspects: Vec::new(),
            rest: Rest::default(),
            found: Compared::default(),
        }
    }

    fn see(&mut self, seen: &Seen<'_>) {
        match *seen {
            Seen::File { path, stat } => match self.before.position(path) {
                Some(index) => self.see_known(index, stat),
                None => self.see_new(path, stat),
            },
            // It may be ignored only since the command changed the rules.
            Seen::Ignored { path, stat: Some(stat) } => {
                if let Some(index) = self.before.position(path) {
                    self.see_known(index, stat);
                }
            }
            Seen::Ignored { stat: None, .. } => {}
            Seen::Dark { ref text, .. } => self.rest.add_dark(text),
        }
    }

    fn see_known(&mut self, index: usize, stat: Stat) {
        let entry = &self.before.entries[index];
        self.is_seen[index] = true;
        if entry.is_unchanged(&stat) {
            self.found.entries.push(entry.clone());
        } else {
            let path = Arc::clone(&entry.path);
            self.suspects.push(Suspect { path, before: Some(index), now: Some(stat) });
        }
    }

    fn see_new(&mut self, path: &str, stat: Stat) {
        let before = self.before;
        if before.ignored.covers(path) {
            // It was there, or its place was ignored: no file of ours, but it is not ignored any more.
            let may_have_changed = stat.changed_ns >= before.started_ns - slack_ns();
            self.found.beyond_undo += u64::from(may_have_changed);
        } else if before.rest.count > 0 {
            // It may have been one of those.
            self.rest.add(path, &stat);
        } else if before.ignored.is_cut || self.new_files == self.source.bounds.files {
            self.found.beyond_undo += 1;
        } else {
            self.new_files += 1;
            self.suspects.push(Suspect { path: path.into(), before: None, now: Some(stat) });
        }
    }

    /// Looks where the walk did not come by: the file may be gone, or may be in a place that is ignored now.
    fn look_for_missing(&mut self, stop: &AtomicBool) -> Result<(), MirrorError> {
        for index in 0..self.is_seen.len() {
            if self.is_seen[index] {
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(MirrorError::Stopped);
            }
            let path = Arc::clone(&self.before.entries[index].path);
            let now = TreePath::parse(&path).map_or(Now::Unclear, |path| self.source.now(&path));
            match now {
                Now::There(stat) => self.see_known(index, stat),
                Now::Gone => self.suspects.push(Suspect { path, before: Some(index), now: None }),
                Now::Unclear => self.found.beyond_undo += 1,
            }
        }
        Ok(())
    }

    fn judge(mut self, stop: &AtomicBool) -> Result<Compared, MirrorError> {
        let suspects = self.readable_suspects();
        let (verdicts, error) = for_each(&suspects, stop, |suspect| self.judge_one(suspect));
        if let Some(error) = error {
            return Err(MirrorError::Unwritable { source: error });
        }
        if verdicts.len() < suspects.len() {
            return Err(MirrorError::Stopped);
        }
        let mut found = self.found;
        for (_, (entry, verdict)) in verdicts {
            found.entries.extend(entry);
            match verdict {
                Verdict::Same => {}
                Verdict::Changed(change) => found.changes.push(change),
                Verdict::BeyondUndo => found.beyond_undo += 1,
            }
        }
        found.changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let unlisted = found.changes.len().saturating_sub(self.source.bounds.changes);
        found.changes.truncate(self.source.bounds.changes);
        found.beyond_undo += unlisted as u64 + self.rest.changes_since(&self.before.rest);
        Ok(found)
    }

    /// The suspects that there is time to read, in the order of their paths.
    fn readable_suspects(&mut self) -> Vec<Suspect> {
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let all = suspects.len();
        let mut bytes_left = self.source.bounds.changed_bytes;
        suspects.retain(|suspect| {
            let len = self.cost(suspect);
            let fits = len <= bytes_left;
            bytes_left -= if fits { len } else { 0 };
            fits
        });
        self.found.beyond_undo += (all - suspects.len()) as u64;
        suspects
    }

    /// How much of the bound a suspect takes.
    fn cost(&self, suspect: &Suspect) -> u64 {
        let before = suspect.before.map(|index| self.before.entries[index].stat);
        match suspect.now {
            // It is only too young to be trusted, and there are no more of those than were read before the command.
            now if now == before => 0,
            // What is too large is not read.
            Some(stat) if stat.len <= self.source.bounds.file_bytes => stat.len,
            _ => 0,
        }
    }

    fn judge_one(&self, suspect: &Suspect) -> io::Result<(Option<Entry>, Verdict)> {
        let after = match suspect.now {
            Some(stat) => self.look_closer(&suspect.path, stat)?,
            None => None,
        };
        let before = suspect.before.map(|index| &self.before.entries[index]);
        let verdict = self.verdict(&suspect.path, before, after.as_ref());
        Ok((after, verdict))
    }

    fn look_closer(&self, path: &Arc<str>, stat: Stat) -> io::Result<Option<Entry>> {
        match self.known.get(path) {
            Some(entry) if entry.hash.is_some() && entry.is_unchanged(&stat) => Ok(Some(entry.clone())),
            _ => self.source.examine(path, stat, Purpose::Compare),
        }
    }

    fn verdict(&self, path: &str, before: Option<&Entry>, after: Option<&Entry>) -> Verdict {
        let states = (before.map(Entry::state), after.map(Entry::state));
        let (before, after) = match (states, before, after) {
            ((None, None), ..) => return Verdict::Same,
            // Its bytes were not known: all there is to compare is the `stat`.
            ((Some(None), _), Some(before), Some(after)) if before.stat == after.stat => {
                return Verdict::Same;
            }
            ((Some(None), _) | (_, Some(None)), ..) => return Verdict::BeyondUndo,
            ((before, after), ..) => (before.flatten(), after.flatten()),
        };
        if before == after {
            return Verdict::Same;
        }
        if before.is_some_and(|before| !self.can_give_back(before, after)) {
            return Verdict::BeyondUndo;
        }
        Verdict::Changed(FileChange { path: path.to_owned(), before, after })
    }

    /// Whether the bytes of before are there: as a copy, or still in the file.
    fn can_give_back(&self, before: FileState, after: Option<FileState>) -> bool {
        let is_still_there =
            after.is_some_and(|after| after.hash == before.hash && after.is_link == before.is_link);
        is_still_there || self.source.copies.get(before.hash).is_some()
    }
}
