//! The thread that starts the program.
//!
//! What holds a program in belongs to the thread that starts it. The filter of system calls is the costliest part and
//! needs nothing but a few flags, so the thread takes it on as soon as it is made, which may be before anybody knows
//! what to start; the rest follows with the order. What always holds: the program is started after everything was
//! applied, and by no other thread.

use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::seccomp::{Filter, FilterError};
use super::{Confinement, Held, Level, NotStarted, landlock, privileges};

/// A thread that waits for something to start.
#[derive(Debug)]
pub(super) struct Starter {
    filter: Filter,
    work: SyncSender<Work>,
    thread: JoinHandle<Result<(u32, Held), NotStarted>>,
}

/// What to start, and how it is held in besides the filter.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) command: Command,
    pub(super) confinement: Confinement,
    /// What is known to be missing already.
    pub(super) missing: Vec<String>,
}

impl Starter {
    /// Makes the thread, under this filter.
    pub(super) fn new(filter: Filter) -> std::io::Result<Self> {
        let (work, orders) = sync_channel(1);
        let thread = std::thread::Builder::new().name("starter".to_owned());
        Ok(Self { filter, work, thread: thread.spawn(move || run(filter, &orders))? })
    }

    /// This one if its filter is the wanted one, or a new one.
    pub(super) fn suiting(ahead: Option<Self>, filter: Filter) -> std::io::Result<Self> {
        match ahead {
            Some(starter) if starter.filter == filter => Ok(starter),
            // A thread that is not needed ends when its channel closes.
            _ => Self::new(filter),
        }
    }

    /// Confines the thread for good and starts the program from it; its process id in our own numbering.
    pub(super) fn start(self, work: Work) -> Result<(u32, Held), NotStarted> {
        // If it is gone, it has panicked.
        let _ = self.work.send(work);
        let panicked = |_| Err(NotStarted::Refused("the starting thread panicked".to_owned()));
        self.thread.join().unwrap_or_else(panicked)
    }
}

fn run(filter: Filter, orders: &Receiver<Work>) -> Result<(u32, Held), NotStarted> {
    let filtered = filter.apply();
    match orders.recv() {
        Ok(work) => confine_and_start(work, filter.own_root, filtered),
        Err(_) => Err(NotStarted::Refused("nothing to start".to_owned())),
    }
}

fn confine_and_start(
    Work { mut command, confinement, mut missing }: Work,
    own_root: bool,
    filtered: Result<(), FilterError>,
) -> Result<(u32, Held), NotStarted> {
    let ruled = landlock::restrict(&confinement, own_root, &mut missing);
    if let Err(error) = privileges::drop(own_root) {
        missing.push(format!("privileges are kept: {error}"));
    }
    let is_filtered = filtered.is_ok();
    if let Err(error) = filtered {
        missing.push(format!("system calls are not filtered: {error}"));
    }
    let level = judge(own_root, ruled || is_filtered, missing.is_empty());
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
