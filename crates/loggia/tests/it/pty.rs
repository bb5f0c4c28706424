//! The binary on a pseudo-terminal: what a person sees, and what their keys do.
//!
//! Every assertion is about a screen, as a terminal makes it out of the bytes, or about what is on the disk afterwards.

mod approving;
mod asking;
mod attaching;
mod chatting;
mod console_keys;
mod interrupting;
mod picture;
mod picturing;
mod piping;
mod plain;
mod resizing;
pub(crate) mod screen;
