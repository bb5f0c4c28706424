//! Putting it all in force, and starting the program under it.
//!
//! Runs in the keeper: the one inside the namespaces where there are any. What always holds: a program is started
//! only by the thread that everything was applied to, and after it was.

use std::process::Command;

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::{Confinement, Held, Level, NotStarted, Road, landlock, plan, privileges, root, seccomp};
use crate::child::limits::Limits;

/// Starts a program held in; its process id in our own numbering.
pub(in crate::child) fn start(
    command: Command,
    confinement: &Confinement,
    limits: &Limits,
) -> Result<(u32, Held), NotStarted> {
    let mut missing = Vec::new();
    limits.apply()?;
    let own_root = confinement.roads.first().is_some_and(Road::has_own_root);
    if own_root {
        let plan = plan::make(confinement);
        if confinement.roads.first() == Some(&Road::Namespaces) {
            // Our parent is the keeper that made the namespaces. If somebody kills it, we go too.
            let refused = |error| NotStarted::Refused(format!("cannot be tied to its keeper: {error}"));
            set_parent_process_death_signal(Some(Signal::KILL)).map_err(refused)?;
            root::enter(&plan)?;
        }
        missing.extend(plan.missing);
    }
    // Nobody but the system's administrator may look into the keeper, whoever the program runs as.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        missing.push(format!("the keeper's memory is not closed: {error}"));
    }
    std::thread::scope(|scope| {
        let starter = scope.spawn(|| confine_and_start(command, confinement, own_root, missing));
        starter.join().unwrap_or_else(|_| Err(NotStarted::Refused("the starting thread panicked".to_owned())))
    })
}

/// Confines the calling thread for good and starts the program from it.
fn confine_and_start(
    mut command: Command,
    confinement: &Confinement,
    own_root: bool,
    mut missing: Vec<String>,
) -> Result<(u32, Held), NotStarted> {
    let ruled = landlock::restrict(confinement, own_root, &mut missing);
    if let Err(error) = privileges::drop(own_root) {
        missing.push(format!("privileges are kept: {error}"));
    }
    let filtered = match seccomp::apply(confinement, own_root) {
        Ok(()) => true,
        Err(error) => {
            missing.push(format!("system calls are not filtered: {error}"));
            false
        }
    };
    let level = judge(own_root, ruled || filtered, missing.is_empty());
    if confinement.required && level < Level::Confined {
        return Err(NotStarted::Refused(missing.join("; ")));
    }
    let pid = command.spawn()?.id();
    Ok((pid, Held { level, missing }))
}

fn judge(own_root: bool, held_at_all: bool, complete: bool) -> Level {
    match (own_root, complete) {
        (true, true) => Level::Isolated,
        (false, true) => Level::Confined,
        (true, false) => Level::Partial,
        (false, false) if held_at_all => Level::Partial,
        (false, false) => Level::None,
    }
}
