//! The wire crate against real processes, honest and hostile.

mod hostile_processes;
mod lifetimes;
mod support;
