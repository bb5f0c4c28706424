//! What can be undone and redone: one entry per turn that changed files.
//!
//! Knows what changed and where the conversation was. Refuses to know how files are put back.
//!
//! What changed elsewhere is kept, since undoing it there took the conversation back; it comes before everything that
//! changed here. Nobody is shown it, so nobody can undo it: these files are others, whatever they are called.

use std::sync::Arc;

use loggia_domain::{CheckpointId, FileChange, PatchId, Seq, TurnId};

use crate::session::state::history::{History, HistoryItem};

/// What can be undone and redone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    done: Vec<Arc<Undoable>>,
    /// A turn that is about to change something; a step only once it has.
    begun: Option<Arc<Undoable>>,
    undone: Vec<Undone>,
}

/// What was undone, and what had been said from there on.
#[derive(Debug, Clone, PartialEq)]
struct Undone {
    entry: Arc<Undoable>,
    said: Arc<[Arc<HistoryItem>]>,
}

/// What one turn changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoable {
    /// Its checkpoint.
    pub checkpoint: CheckpointId,
    /// The turn.
    pub turn: TurnId,
    /// The event that began the turn.
    pub began_at: Seq,
    /// What changed, in order.
    pub changes: Vec<FileChange>,
    /// The proposed changes among them.
    pub patches: Vec<PatchId>,
    /// Whether these were files elsewhere.
    elsewhere: bool,
}

impl UndoStack {
    /// What can be undone, oldest first.
    pub fn done(&self) -> &[Arc<Undoable>] {
        let here = self.done.partition_point(|entry| entry.elsewhere);
        &self.done[here..]
    }

    /// The step of a turn that is about to change something, before it has.
    pub fn begun(&self) -> Option<&Arc<Undoable>> {
        self.begun.as_ref().filter(|entry| !entry.elsewhere)
    }

    /// What can be redone; the last one comes first.
    pub fn undone(&self) -> impl DoubleEndedIterator<Item = &Arc<Undoable>> {
        self.undone.iter().map(|undone| &undone.entry).filter(|entry| !entry.elsewhere)
    }

    pub(super) fn begin(&mut self, checkpoint: CheckpointId, turn: TurnId, began_at: Seq, elsewhere: bool) {
        let (changes, patches) = (Vec::new(), Vec::new());
        self.begun = Some(Arc::new(Undoable { checkpoint, turn, began_at, changes, patches, elsewhere }));
    }

    pub(super) fn changed(&mut self, turn: TurnId, files: &[FileChange]) {
        self.done.extend(self.begun.take_if(|entry| entry.turn == turn));
        if let Some(entry) = self.done.iter_mut().rev().find(|entry| entry.turn == turn) {
            Arc::make_mut(entry).changes.extend_from_slice(files);
        }
    }

    /// A proposed change is in its file.
    pub(super) fn applied(&mut self, turn: Option<TurnId>, patch: PatchId) {
        if let Some(entry) = self.done.iter_mut().rev().find(|entry| Some(entry.turn) == turn) {
            Arc::make_mut(entry).patches.push(patch);
        }
    }

    /// Takes the newest entry back; gives the proposed changes that are no longer in their files.
    pub(super) fn undo(&mut self, checkpoint: CheckpointId, history: &mut History) -> Vec<PatchId> {
        let Some(entry) = self.done.pop_if(|entry| entry.checkpoint == checkpoint) else { return Vec::new() };
        let said = history.cut_from(entry.began_at).into();
        let patches = entry.patches.clone();
        self.undone.push(Undone { entry, said });
        patches
    }

    /// Puts an entry back; gives the proposed changes that are in their files again.
    pub(super) fn redo(&mut self, checkpoint: CheckpointId, history: &mut History) -> Vec<PatchId> {
        let undone = self.undone.pop_if(|undone| undone.entry.checkpoint == checkpoint);
        let Some(Undone { entry, said }) = undone else { return Vec::new() };
        history.put_back(&said);
        let patches = entry.patches.clone();
        self.done.push(entry);
        patches
    }

    /// A new turn makes what was undone unreachable.
    pub(super) fn forget_undone(&mut self) {
        self.undone.clear();
    }
}
