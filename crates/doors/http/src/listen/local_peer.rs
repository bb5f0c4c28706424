//! Who is on the other end of a Unix socket.
//!
//! Knows what the system says about processes. Invariant: whoever is let in is a process of our own user and was not
//! started by us or by anything we started. A command that runs for a model must not become its own administrator.
//! Where the system does not tell, nobody is let in.

use std::fs;

use tokio::net::UnixStream;

/// More generations than a system has processes in a row; the chain could change while it is followed.
const MAX_GENERATIONS: usize = 4096;

/// Why a local process is not let in.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The system does not say who it is.
    #[error("the system does not say who connects")]
    Unknown,
    /// It belongs to somebody else.
    #[error("it is of user {0}")]
    OtherUser(u32),
    /// It descends from a process of ours.
    #[error("process {0} was started by this server")]
    OwnChild(i32),
}

/// Whether the other end may come in without a token.
pub(super) fn check(stream: &UnixStream) -> Result<(), Refusal> {
    let Ok(peer) = stream.peer_cred() else { return Err(Refusal::Unknown) };
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err(Refusal::OtherUser(peer.uid()));
    }
    let pid = peer.pid().filter(|pid| *pid > 0).ok_or(Refusal::Unknown)?;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    match descends(pid, own, parent) {
        Some(false) => Ok(()),
        Some(true) => Err(Refusal::OwnChild(pid)),
        None => Err(Refusal::Unknown),
    }
}

/// Whether a process is below another one; nothing if that cannot be told.
fn descends(pid: i32, ancestor: i32, parent: impl Fn(i32) -> Option<i32>) -> Option<bool> {
    // A process is not below itself.
    if pid == ancestor {
        return Some(false);
    }
    let mut current = pid;
    for _ in 0..MAX_GENERATIONS {
        current = parent(current)?;
        if current == ancestor {
            return Some(true);
        }
        // The first process, or one beyond what we can see.
        if current <= 1 {
            return Some(false);
        }
    }
    None
}

/// A process's parent. The second field of `stat` is a name in parentheses and may hold anything.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 → 10 → 20 → 30, and 1 → 40.
    fn family(pid: i32) -> Option<i32> {
        match pid {
            10 | 40 => Some(1),
            20 => Some(10),
            30 => Some(20),
            1 => Some(0),
            _ => None,
        }
    }

    #[test]
    fn descendants_are_told_from_others() {
        for (pid, expected) in [(20, Some(true)), (30, Some(true)), (10, Some(false)), (40, Some(false))] {
            assert_eq!(descends(pid, 10, family), expected, "{pid}");
        }
        assert_eq!(descends(50, 10, family), None, "a process that has gone is nobody");
        assert_eq!(descends(20, 1, family), Some(true), "the first process may be the server itself");
    }

    #[test]
    fn an_endless_chain_ends() {
        assert_eq!(descends(2, 10, |pid| Some(if pid == 2 { 3 } else { 2 })), None);
    }

    #[test]
    fn a_parent_is_read_from_the_system() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(parent(own), rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()));
    }
}
