//! Memory of sockets on which nothing happens.

use std::time::Duration;

use anyhow::Result;

use super::door::OpenDoor;
use super::listen::Orders;
use super::process::Clients;
use super::progress;
use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::engine::world::{scratch, threads};
use crate::measure::resident;

const PART: &str = "2,000 idle sockets";

const SOCKETS: usize = 2000;

/// Sessions they are on.
const SESSIONS: usize = 20;

/// Sockets that load what all of them share.
const FIRST: usize = 50;

/// KiB each.
const KIB_EACH: f64 = 40.0;

/// What a file costs the system and how many a process may have is none of ours; both ends together need two each.
const FILES: u64 = 8192;

/// Measures in this process.
pub(super) fn measure() -> Result<Vec<Figure>> {
    allow_files()?;
    let runtime = threads()?;
    let directory = scratch()?;
    let (door, tokens, sessions) = runtime.block_on(async {
        let door = OpenDoor::open(directory.path()).await?;
        let tokens = door.tokens(SOCKETS).await?;
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            sessions.push(door.session().await?);
        }
        anyhow::Ok((door, tokens, sessions))
    })?;
    let connect = |sockets| {
        let (tokens, sessions) = (tokens.clone(), sessions.clone());
        Clients::connect(&Orders { address: door.address, tokens, sessions, sockets, delta_only: true })
    };
    drop(connect(FIRST)?);
    settle();
    let before = resident();
    progress("2,000 idle sockets");
    let clients = connect(SOCKETS)?;
    settle();
    let after = resident();
    drop(clients);
    runtime.block_on(door.close())?;
    let each = (after as f64 - before as f64) / SOCKETS as f64;
    let figure = Figure::new(PART, "each", each, "KiB").limited(Limit::AtMost(KIB_EACH));
    Ok(vec![figure.noted(format!("{before} KiB resident before, {after} then"))])
}

/// Lets whatever was begun be finished.
fn settle() {
    std::thread::sleep(Duration::from_secs(1));
}

/// As many files as this process, and the clients it starts, are going to need.
fn allow_files() -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |most| most.min(FILES));
    if limit.current.is_some_and(|now| now < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum })?;
    }
    Ok(())
}
