//! Plugins as real processes, in Python: every method, and every way of misbehaving that we know of.
//!
//! `plugin.py` plays all of them; its arguments say how it misbehaves.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod agents;
mod aliases;
mod answers;
mod conformance;
mod discovery;
mod endings;
mod executables;
mod kits;
mod life;
mod manifests;
mod providers;
mod published;
mod support;
mod told;
mod workflows;
