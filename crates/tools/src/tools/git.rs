//! Git, read without running it.
//!
//! Knows repositories as far as `git status`, `git diff` and `git log` show them, through gix. Repositories are not
//! trusted: their configuration, hooks, filters and attributes start nothing and decide nothing, and no program is
//! run. The work tree is read like any other file, so the overlay and the policy's filter hold here too.
//!
//! What follows from that: a file whose stored form a filter makes (as with LFS) counts as changed once its size or
//! times differ from what the index says; renames are shown as a deletion and a new file; submodules are left alone.

mod changes;
mod diff;
mod index;
mod log;
mod place;
mod repository;
mod status;

pub(crate) use diff::GitDiff;
pub(crate) use log::GitLog;
pub(crate) use status::GitStatus;
