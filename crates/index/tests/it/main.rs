//! The index through its public face: files on disk in, findings out.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod bad_input;
mod building;
mod changing;
mod crash;
mod equivalence;
mod full_disk;
mod opening;
mod retrieving;
mod searching;
mod support;
mod vectors;
mod watching;
