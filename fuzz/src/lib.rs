//! Broken input for everything in Loggia that reads.
//!
//! Knows one [target](targets::Target) per reader, which states what must hold for any bytes at all; samples to
//! start from; ways to break them; and a runner for the stable toolchain. With a nightly toolchain the same targets
//! run under libFuzzer (`fuzz_targets/`). Refuses to know how a reader works: a target only uses what is public.
//!
//! What always holds: an input depends on nothing but the run's seed, the target's name and the input's number, so
//! whatever was found once is found again.

mod mutate;
mod random;
pub mod runner;
pub mod samples;
pub mod targets;

pub use mutate::Mutator;
pub use random::Random;
