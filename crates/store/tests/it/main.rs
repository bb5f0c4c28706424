//! Tests of the store through its public face.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod contract;
mod copies;
mod crash;
mod full_disk;
mod opening;
mod process;
mod support;
