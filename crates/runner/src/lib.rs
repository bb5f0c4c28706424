//! Runs commands: confined, limited in time and output, killed with all they started.
//!
//! Fills [`Runner`]. Knows what a command line needs of its surroundings: a shell, a
//! directory, an environment, a place for temporary files, the system's own programs. Refuses to know whether the
//! command may run at all, which the policy decides, and how a program is held in, which is the keeper's work.
//!
//! # What a command finds
//!
//! - The line is read by `/bin/sh -c`. Standard input is `/dev/null`. There is no terminal.
//! - It may read, write and execute in the workspace's root and in a temporary directory made for it and removed
//!   after it. It may read the system's own directories and those the policy names. All else is not there.
//! - `TMPDIR` is that temporary directory and `HOME` one in it: programs find no keys there and leave no litter. Tools
//!   that keep something at home (`CARGO_HOME`, `RUSTUP_HOME`…) are told where by a variable the policy lets through.
//! - Parts of the root named read-only cannot be written. One that does not exist cannot be made either: an empty
//!   directory stands in for it while the command runs.
//! - Its environment is a short list of harmless variables, not ours. Its own variables may not change what is run or
//!   loaded, so neither `LD_PRELOAD` nor `PATH`: the policy judged the line, and that belongs into it.
//! - There is no network and no Unix socket unless the policy says so.
//!
//! How it is held in is told with its end. Where the system lets nobody make namespaces, Landlock alone cannot keep
//! the read-only parts: that is [`SandboxLevel::Partial`](loggia_domain::SandboxLevel::Partial), and refused where
//! a sandbox is required. There is then no `/tmp` and no terminal device either, only `TMPDIR`.
//!
//! # What always holds
//!
//! - nothing the command started is left when the future is done, or soon after it is dropped;
//! - memory is bounded: of each stream only as much is kept as asked for, its beginning and its end;
//! - what is handed on and kept is whole characters; bytes that are none become U+FFFD;
//! - with [`Confinement::required`](loggia_domain::Confinement::required) a command runs only if all that was asked
//!   for is in force.

mod capture;
mod decode;
mod environment;
mod execute;
mod place;
mod sandbox;
mod scratch;
mod settings;
mod standin;

use std::sync::{Arc, Once};

use loggia_domain::{BoxFuture, CommandEnd, CommandSpec, OutputSink, RunError, Runner};
use loggia_wire::child::Keeper;
use tokio::sync::oneshot;

pub use crate::settings::Settings;
use crate::standin::StandIns;

/// Runs commands on this machine.
#[derive(Debug, Clone)]
pub struct CommandRunner(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    keeper: Keeper,
    settings: Settings,
    stand_ins: Arc<StandIns>,
    /// Done by the first command: what a former life of ours left is in nobody's way until then.
    swept: Once,
}

impl CommandRunner {
    /// A runner that starts every command through this keeper, and has one ready for the next.
    pub fn new(keeper: Keeper, settings: Settings) -> Self {
        let keeper = keeper.with_a_spare();
        Self(Arc::new(Parts { keeper, settings, stand_ins: Arc::default(), swept: Once::new() }))
    }
}

impl Runner for CommandRunner {
    fn run(
        &self,
        command: CommandSpec,
        output: OutputSink,
    ) -> BoxFuture<'static, Result<CommandEnd, RunError>> {
        let parts = self.0.clone();
        Box::pin(async move {
            // A task of its own: it outlives a dropped future for as long as killing and cleaning up take.
            let (wanted, unwanted) = oneshot::channel();
            let task = tokio::spawn(execute::run(parts, command, output, unwanted));
            let end = task.await.unwrap_or_else(|error| Err(RunError::Lost(error.to_string())));
            drop::<oneshot::Sender<()>>(wanted);
            end
        })
    }
}
