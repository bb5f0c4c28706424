//! Changes to files: proposed, chosen from, made, and taken back.
//!
//! This is the one place where the engine writes into a workspace. It knows diffs, files and the bytes kept of them;
//! it refuses to know sessions and turns, who decided, and what the policy says. Whoever calls it has asked.
//!
//! The way of a change: [`propose`] makes a [`Patch`](loggia_domain::Patch) of what a tool wants, [`select`] gives the
//! content with only the hunks people took, and the [`Applier`] puts contents into their files. [`plan_undo`] and
//! [`plan_redo`] say how to take changes back and make them again; the applier does that too.
//!
//! What always holds:
//! - several files change together or not at all;
//! - a file is only written if it is what the change was made for;
//! - nothing is overwritten or removed whose bytes are not kept as a blob;
//! - before the first file changes, a record on disk says what is going to happen. It goes when the caller says that
//!   its event is stored. So after a crash at any point, the files can be brought in line with the journal;
//! - paths are real: a symbolic link on the way to a file is refused, and one at the end is a file of its own. Callers
//!   follow links first ([`Root::real_path_of`](loggia_tree::Root::real_path_of)), so that the policy judges what is
//!   really written.
//!
//! Directories are not kept, as in git: one that is needed is made, and one that undoing leaves empty goes.
//!
//! All of it is synchronous and touches disks: call it on a thread that may block.

mod apply;
mod blobs;
mod change_set;
mod diff;
mod disk;
mod journal;
mod keep;
mod plan;
mod propose;
mod quote;
mod record;
mod roll_back;
mod seam;
mod select;
#[cfg(test)]
mod tests;
mod wanted;

pub use apply::{Applied, Applier, ApplyError, MAX_CHANGES};
pub use blobs::Blobs;
pub use diff::{DiffError, MAX_LINES, MAX_TEXT, UnifiedDiff};
pub use disk::{Found, MAX_FILE, content_of, state_of};
pub use journal::{ApplyJournal, JournalError, Leftovers, UnfinishedApply};
pub use plan::{Restore, plan_redo, plan_undo};
pub use propose::{ProposeError, propose};
pub(crate) use quote::quoted;
pub use record::{ApplyKind, ApplyMark};
pub use roll_back::{RestoreError, RollBack};
pub use select::{SelectError, Selected, rest, select};
pub use wanted::{Conflict, Expect, NewContent, WantedChange};
