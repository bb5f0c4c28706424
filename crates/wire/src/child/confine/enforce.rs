//! Putting it all in force, and starting the program under it.
//!
//! Runs in the keeper: the one inside the namespaces where there are any. That one may wait for its order, and is told
//! what to expect; what it can, it does [ahead](Ahead). What always holds: what a program may reach is decided by its
//! order alone. What was done ahead is used if it is what the order asks for, as the file system is then, and thrown
//! away otherwise.

use std::path::Path;
use std::process::Command;

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::plan::{self, Plan};
use super::root::{self, Root};
use super::seccomp::Filter;
use super::starter::{Starter, Work};
use super::{Confinement, NotStarted, Road};
use crate::child::confine::Held;
use crate::child::limits::Limits;

/// What is ready before the order is there.
#[derive(Debug)]
pub(in crate::child) struct Ahead {
    root: Root,
    /// Not if the system would not make a thread just then.
    starter: Option<Starter>,
}

/// Makes ready what a program needs that is held in like this one, in namespaces.
pub(in crate::child) fn prepare(expected: &Confinement) -> Result<Ahead, NotStarted> {
    let mut root = begin_root()?;
    root.put_ahead(&plan::make(expected, Path::new(root::OLD)));
    Ok(Ahead { root, starter: Starter::new(Filter::of(expected, true)).ok() })
}

/// Starts a program held in; its process id in our own numbering.
pub(in crate::child) fn start(
    command: Command,
    confinement: Confinement,
    limits: &Limits,
    ahead: Option<Ahead>,
) -> Result<(u32, Held), NotStarted> {
    let own_root = confinement.roads.first().is_some_and(Road::has_own_root);
    let (root, starter) = match ahead {
        Some(Ahead { root, starter }) => (Some(root), starter),
        None => (None, None),
    };
    // If it is a new one, it makes its filter while we make the root.
    let starter = Starter::suiting(starter, Filter::of(&confinement, own_root))?;
    let mut missing = match (confinement.roads.first(), root) {
        (Some(Road::Namespaces), Some(root)) => enter(root, &confinement, limits)?.missing,
        (Some(Road::Namespaces), None) => enter(begin_root()?, &confinement, limits)?.missing,
        (_, Some(_)) => return Err(NotStarted::Refused("made ready for another road".to_owned())),
        (_, None) => {
            limits.apply(Path::new("/proc"))?;
            let plan = own_root.then(|| plan::make(&confinement, Path::new("/")));
            plan.map(|plan| plan.missing).unwrap_or_default()
        }
    };
    // Nobody but the system's administrator may look into the keeper, whoever the program runs as.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        missing.push(format!("the keeper's memory is not closed: {error}"));
    }
    starter.start(Work { command, confinement, missing })
}

fn begin_root() -> Result<Root, NotStarted> {
    // Our parent is the keeper that made the namespaces. If somebody kills it, we go too.
    let refused = |error| NotStarted::Refused(format!("cannot be tied to its keeper: {error}"));
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(refused)?;
    Root::begin()
}

/// Moves into the root that is asked for.
fn enter(root: Root, confinement: &Confinement, limits: &Limits) -> Result<Plan, NotStarted> {
    let system = Path::new(root::OLD);
    limits.apply(&system.join("proc"))?;
    let plan = plan::make(confinement, system);
    root.finish(&plan)?;
    Ok(plan)
}
