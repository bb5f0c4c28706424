//! Framing, JSON-RPC and child processes over any byte stream.
//!
//! Knows bytes: how a message is cut out of a stream, how two sides ask each other things over it, and how
//! a process is started, watched and stopped. Refuses to know sessions, agents and any protocol's methods;
//! it would serve an editor's language client as well.
//!
//! What always holds:
//! - a size a peer declares is compared with a cap before anything is allocated for it;
//! - every queue is bounded, and what happens when it is full is written beside it;
//! - a call ends exactly once: with its answer, its time limit or the end of the stream;
//! - no process started here, nor any of its descendants, outlives the one who started it.

pub mod child;
pub mod framing;
pub mod peer;
pub mod stdio;
