//! How often each peer was wrong.
//!
//! Knows addresses and moments; refuses to know what was tried. One number per peer: the moment at which everything it
//! did wrong will be forgotten. Each wrong try moves that moment on; one that lies too far ahead means waiting.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::peer::Peer;

/// Wrong tries in a row that nobody minds: a program with an old token that starts again a few times.
pub(crate) const FREE_TRIES: u32 = 10;

/// How long a wrong try is remembered: six a minute are allowed in the long run.
const PER_TRY: Duration = Duration::from_secs(10);

/// How many peers are remembered: a home network many times over, at forty bytes each.
const MAX_PEERS: usize = 4096;

/// How often each peer was wrong.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    forgotten_at: Mutex<HashMap<Key, Instant>>,
}

/// What counts as one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Address(IpAddr),
    SameUser,
    Unknown,
}

impl Failures {
    /// Takes a wrong try into account. Says how many seconds to wait if there were too many.
    pub(crate) fn blame(&self, peer: Option<Peer>) -> Option<NonZeroU64> {
        self.blame_at(peer, Instant::now())
    }

    /// How many seconds a peer has to wait, if any. Blames nobody.
    pub(crate) fn wait(&self, peer: Option<Peer>) -> Option<NonZeroU64> {
        let peers = self.forgotten_at.lock().unwrap_or_else(PoisonError::into_inner);
        peers
            .get(&key(peer))
            .and_then(|forgotten| overdue(forgotten.saturating_duration_since(Instant::now())))
    }

    fn blame_at(&self, peer: Option<Peer>, now: Instant) -> Option<NonZeroU64> {
        let mut peers = self.forgotten_at.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(peer);
        if peers.len() >= MAX_PEERS && !peers.contains_key(&key) {
            make_room(&mut peers, now);
        }
        let forgotten = peers.entry(key).or_insert(now);
        let ahead = forgotten.saturating_duration_since(now);
        let wait = overdue(ahead);
        // A peer that has to wait is not made to wait longer by asking meanwhile.
        if wait.is_none() {
            *forgotten = now + ahead + PER_TRY;
        }
        wait
    }
}

/// The seconds to wait for somebody whose tries are forgotten after this time.
fn overdue(ahead: Duration) -> Option<NonZeroU64> {
    let wait = ahead.checked_sub(PER_TRY * FREE_TRIES)?;
    Some(NonZeroU64::MIN.saturating_add(wait.as_secs()))
}

fn make_room(peers: &mut HashMap<Key, Instant>, now: Instant) {
    peers.retain(|_, forgotten| *forgotten > now);
    if peers.len() >= MAX_PEERS
        && let Some(key) = peers.iter().min_by_key(|(_, forgotten)| **forgotten).map(|(key, _)| *key)
    {
        peers.remove(&key);
    }
}

/// Whoever has one IPv6 address usually has 2^64 of them.
fn key(peer: Option<Peer>) -> Key {
    match peer {
        Some(Peer::Tcp(address)) => Key::Address(match address.ip().to_canonical() {
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            ip => ip,
        }),
        Some(Peer::SameUser) => Key::SameUser,
        None => Key::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Option<Peer> {
        Some(Peer::Tcp(address.parse().unwrap()))
    }

    #[test]
    fn too_many_wrong_tries_mean_waiting_and_waiting_helps() {
        let failures = Failures::default();
        let start = Instant::now();
        let one = peer("10.0.0.1:1000");
        for _ in 0..FREE_TRIES {
            assert_eq!(failures.blame_at(one, start), None);
        }
        let wait = failures.blame_at(one, start).unwrap();
        // Asking again meanwhile does not make it longer, and another port is the same peer.
        assert_eq!(failures.blame_at(peer("10.0.0.1:2000"), start), Some(wait));
        assert_eq!(failures.blame_at(peer("10.0.0.2:1000"), start), None);
        assert_eq!(failures.blame_at(one, start + Duration::from_secs(wait.get())), None);
    }

    #[test]
    fn neighbouring_ipv6_addresses_are_one_peer() {
        assert_eq!(key(peer("[2001:db8::1]:1")), key(peer("[2001:db8::ffff:2]:1")));
        assert_ne!(key(peer("[2001:db8::1]:1")), key(peer("[2001:db8:0:1::1]:1")));
        assert_eq!(key(peer("[::ffff:10.0.0.1]:1")), key(peer("10.0.0.1:1")));
    }

    #[test]
    fn many_peers_take_bounded_memory() {
        let failures = Failures::default();
        let start = Instant::now();
        for number in 0..MAX_PEERS + 100 {
            let ip = std::net::Ipv4Addr::from(u32::try_from(number).unwrap());
            failures.blame_at(Some(Peer::Tcp((ip, 1).into())), start);
        }
        assert_eq!(failures.forgotten_at.lock().unwrap().len(), MAX_PEERS);
    }
}
