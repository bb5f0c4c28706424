//! A stream over connections in memory, with a clock that jumps.

mod ends;
mod quiet;
mod saying;
mod stage;
