//! How many transactions a store has committed, by SQLite's own count.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Where the header of the write-ahead log's index counts transactions; in the machine's byte order.
const COUNTER: u64 = 8;

/// The transactions committed to the store in a directory; only the difference of two counts means something.
pub(super) fn commits(directory: &Path) -> Result<u32> {
    let index =
        File::open(directory.join("store").join("store.sqlite-shm")).context("a store that is open")?;
    let mut counter = [0; 4];
    index.read_exact_at(&mut counter, COUNTER)?;
    Ok(u32::from_ne_bytes(counter))
}
