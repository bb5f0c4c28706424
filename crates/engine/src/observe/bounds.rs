//! How much of a workspace is kept for undoing.
//!
//! Every bound is a constant with its reason. [`Bounds`] carries them, so that tests can be small.
//! What is beyond a bound is never forgotten: it is compared by its `stat` and counted.

use std::time::Duration;

/// Files that are known one by one. About 200 bytes of memory each. The largest ordinary repositories
/// (the Linux kernel has 90 000 files) fit; what is beyond is compared as one sum.
pub const FILES: usize = 100_000;

/// Bytes of one file. Sources are smaller by far; what is larger is data that would push the sources out.
/// Two files of this size are in memory at a time for each reading thread.
pub const FILE_BYTES: u64 = 4 << 20;

/// Bytes of all copies of one workspace, on disk in the data directory. Up to a quarter may be of files that are no
/// longer so, until it is worth moving the others together.
pub const ALL_BYTES: u64 = 512 << 20;

/// Changes of one command that are listed. An event with ten thousand paths is about two megabytes; nobody
/// reads more, and the journal keeps it forever.
pub const CHANGES: usize = 10_000;

/// Bytes of both sides of all listed changes of one command: what the caller must keep as blobs.
pub const CHANGED_BYTES: u64 = 512 << 20;

/// Ignored files and directories that are known by name. Each directory lists only its own, and what is inside
/// an ignored directory is not looked at, so that real workspaces have a few hundred.
pub const IGNORED: usize = 100_000;

/// Bytes of copies that one refresh moves together to make room. A command waits for it, some ten milliseconds.
pub(super) const MOVED_BYTES: u64 = 32 << 20;

/// How far back a file's change time must lie before its `stat` is trusted. The kernel's clock for files ticks
/// every ten milliseconds at worst; old filesystems round to two seconds; a file server's clock is a little off.
pub(super) const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// Threads that read and hash. More do not help: the directory, not the processor, is the limit then.
pub(super) const READERS: usize = 4;

/// How often a file is looked at again that changes under our hands.
pub(super) const ATTEMPTS: usize = 3;

/// Bytes of a side that a diff is made of. A larger text is no change that a person reads.
pub(super) const DIFF_SIDE_BYTES: usize = 1 << 20;

/// Bytes of one file's diff. The new file of three thousand lines fits.
pub(super) const DIFF_BYTES: usize = 128 << 10;

/// Bytes of all diffs of one command. They are in one event, which every client gets.
pub(super) const ALL_DIFF_BYTES: usize = 1 << 20;

/// Time for one file's diff. Later the algorithm stops looking for the smallest one.
pub(super) const DIFF_TIME: Duration = Duration::from_millis(200);

/// Time for all diffs of one command. The model waits for the command's result.
pub(super) const ALL_DIFF_TIME: Duration = Duration::from_secs(2);

/// The bounds of one mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Files that are known one by one.
    pub files: usize,
    /// Bytes of one file that is kept.
    pub file_bytes: u64,
    /// Bytes of all copies.
    pub all_bytes: u64,
    /// Changes that are listed.
    pub changes: usize,
    /// Bytes of both sides of the listed changes.
    pub changed_bytes: u64,
    /// Ignored files and directories that are known by name.
    pub ignored: usize,
}

impl Bounds {
    /// The bounds that the constants of this module give.
    pub const STANDARD: Self = Self {
        files: FILES,
        file_bytes: FILE_BYTES,
        all_bytes: ALL_BYTES,
        changes: CHANGES,
        changed_bytes: CHANGED_BYTES,
        ignored: IGNORED,
    };
}
