//! Tests of the tools through their public face: arguments in, texts out.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod arguments;
mod cancel;
mod code;
mod commands;
mod edit;
mod git;
mod git_trust;
mod list;
mod patch;
mod policy;
mod read;
mod search;
mod support;
