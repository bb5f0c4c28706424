//! Child processes that never outlive us.
//!
//! Knows how to start a program, where its bytes go, how to stop it politely and when to start it again. Refuses
//! to know what is said over its pipes. A program can be held in: see [`Confinement`].
//!
//! Nothing is started directly. Every program gets a *keeper*: our own executable, started again under a hidden
//! subcommand that calls [`keep`]. The keeper receives the program's description and its three pipe ends over a
//! Unix socket, starts it in a process group of its own and then only watches. When that socket closes, because
//! the program is to be stopped or because we were killed, the keeper kills the whole group and every descendant
//! that has left the group, and goes too.
//!
//! What always holds:
//! - whatever happens to us, `kill -9` included, no program started here is left behind, nor its children. If
//!   somebody kills a keeper instead, we kill its program and all below it, save those that had already left both
//!   their parents and the group;
//! - a program's stderr is always drained, so it can never block on it, and its last lines are at hand for
//!   error messages;
//! - every process is reaped; a dropped [`Child`] is a killed one.
//!
//! ```no_run
//! use loggia_wire::child::{ChildSpec, Keeper, spawn};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // The hidden subcommand of this executable that does nothing but return `loggia_wire::child::keep()`.
//! let keeper = Keeper::this_executable("__keep")?;
//! let mut child = spawn(&keeper, ChildSpec::new("plugin", "python3").args(["plugin.py"])).await?;
//! let (stdout, stdin) = child.take_streams().expect("nobody has taken them yet");
//! // …make a connection of them, and at the end:
//! # drop((stdout, stdin));
//! println!("{}", child.ended().await);
//! # Ok(())
//! # }
//! ```

mod codec;
mod confine;
mod control;
mod keeper;
mod limits;
mod process;
mod restart;
mod spare;
mod spawn;
mod spec;
mod stderr;
mod stop;
mod sweep;
mod terminal;

pub use confine::{Confinement, Grant, Held, Level, Road};
pub use keeper::keep;
pub use limits::Limits;
pub use process::{Child, Ended, Exit};
pub use restart::{RestartPolicy, Restarts, Verdict};
pub use spawn::{SpawnError, spawn};
pub use spec::{ChildSpec, Environment, Keeper, StderrListener, Streams};
pub use stderr::StderrTail;
pub use stop::{StopActions, StopPlan, StopStep, Stopped};
pub use sweep::ProcessMark;
pub use terminal::TerminalSize;
