//! Tasks from real files and directories, good and bad.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod directories;
mod files;
mod reach;
mod support;
mod words;
