//! Extensions as real processes, in Python: every method, every dialog, every event, and every way of misbehaving that
//! we know of.
//!
//! `puppet.py` plays most of them: its argument is a plan of what it does. The published extensions are played one by one,
//! with the reader that they share.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod commands;
mod conformance;
mod desk;
mod dialogs;
mod editing;
mod events;
mod frames;
mod kits;
mod life;
mod people;
mod published;
mod starting;
mod stopping;
mod support;
mod windows;
