//! Going into namespaces of our own, and starting a second keeper there.
//!
//! A process cannot enter a new namespace of processes itself, only its children are born there; so the keeper that
//! makes it only waits for the one it starts inside. That one speaks to our caller over the same socket and does
//! everything else.

use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

use super::NotStarted;

/// Starts a keeper in new namespaces and waits until it has gone. The calling process is good for nothing else
/// afterwards, even when this fails.
pub(in crate::child) fn launch(socket: &UnixStream, online: bool) -> Result<(), NotStarted> {
    enter(online).map_err(|error| NotStarted::Refused(format!("no namespaces: {error}")))?;
    let mut keeper = second_keeper(socket)
        .map_err(|error| NotStarted::Refused(format!("no keeper in its namespaces: {error}")))?;
    keeper.wait()?;
    Ok(())
}

fn enter(online: bool) -> std::io::Result<()> {
    let mut wanted = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if !online {
        wanted |= CloneFlags::CLONE_NEWNET;
    }
    // The administrator needs no namespace of users, and in one would lose the files of all others.
    if geteuid().is_root() && unshare(wanted).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(wanted | CloneFlags::CLONE_NEWUSER)?;
    // Everybody is there who he is outside; nobody else is there.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    keep_mounting()?;
    Ok(())
}

/// Whoever makes a namespace may do all in it, until he executes something. The one right that is needed to make a
/// root is handed on.
fn keep_mounting() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::SYS_ADMIN;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)
}

#[expect(clippy::disallowed_methods, reason = "the keeper inside is what everything else goes through")]
fn second_keeper(socket: &UnixStream) -> std::io::Result<std::process::Child> {
    Command::new("/proc/self/exe")
        .arg0("guest-keeper")
        .args(std::env::args_os().skip(1))
        .env_clear()
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(socket.try_clone()?)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}
