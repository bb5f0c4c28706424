//! What can be undone and redone: one entry per turn that changed files.
//!
//! Knows what changed and where the conversation was. Refuses to know how files are put back.

use std::sync::Arc;

use loggia_domain::{CheckpointId, FileChange, Seq, TurnId};

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
}

impl UndoStack {
    /// What can be undone, oldest first.
    pub fn done(&self) -> &[Arc<Undoable>] {
        &self.done
    }

    /// What can be redone; the last one comes first.
    pub fn undone(&self) -> impl DoubleEndedIterator<Item = &Arc<Undoable>> {
        self.undone.iter().map(|undone| &undone.entry)
    }

    pub(super) fn begin(&mut self, checkpoint: CheckpointId, turn: TurnId, began_at: Seq) {
        self.begun = Some(Arc::new(Undoable { checkpoint, turn, began_at, changes: Vec::new() }));
    }

    pub(super) fn changed(&mut self, turn: TurnId, files: &[FileChange]) {
        self.done.extend(self.begun.take_if(|entry| entry.turn == turn));
        if let Some(entry) = self.done.iter_mut().rev().find(|entry| entry.turn == turn) {
            Arc::make_mut(entry).changes.extend_from_slice(files);
        }
    }

    pub(super) fn undo(&mut self, checkpoint: CheckpointId, history: &mut History) {
        if let Some(entry) = self.done.pop_if(|entry| entry.checkpoint == checkpoint) {
            let said = history.cut_from(entry.began_at).into();
            self.undone.push(Undone { entry, said });
        }
    }

    pub(super) fn redo(&mut self, checkpoint: CheckpointId, history: &mut History) {
        let undone = self.undone.pop_if(|undone| undone.entry.checkpoint == checkpoint);
        if let Some(Undone { entry, said }) = undone {
            history.put_back(&said);
            self.done.push(entry);
        }
    }

    /// A new turn makes what was undone unreachable.
    pub(super) fn forget_undone(&mut self) {
        self.undone.clear();
    }
}
