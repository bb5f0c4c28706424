//! Tests of the tree through its public face, on real files.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod changes;
mod escapes;
mod paths;
mod races;
mod reading;
mod roots;
mod support;
mod sweeping;
mod walking;
