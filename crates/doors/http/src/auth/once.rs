//! Codes that let one browser in: in the address that is opened for it, behind the `#`, which no browser sends.
//!
//! In memory only, and only their hashes. What always holds: a code is good once and for [`PAGE_CODE_LIFETIME`]; how
//! long it takes to refuse one says nothing about those there are; and whoever keeps a copy of one is told when it is of
//! no use any more.

use std::io;
use std::sync::{Mutex, PoisonError};

use loggia_protocol_agent_server::{PAGE_CODE_LIFETIME, Scope};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::auth::secret::{self, SecretHash};

/// How many codes may be open at once: a family of devices. One more ends the oldest.
const MAX_OPEN: usize = 16;

/// The codes that can be used now.
#[derive(Debug, Default)]
pub(crate) struct OnceCodes {
    /// Oldest first.
    open: Mutex<Vec<Open>>,
    /// Told whenever that changes but by time.
    changed: Notify,
}

#[derive(Debug)]
struct Open {
    hash: SecretHash,
    /// What it grants.
    scope: Scope,
    until: Instant,
}

impl OnceCodes {
    /// Makes a code that grants this.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(crate) fn start(&self, scope: Scope) -> io::Result<String> {
        let code = secret::new_page_code()?;
        let now = Instant::now();
        let made = Open { hash: SecretHash::of(&code), scope, until: now + PAGE_CODE_LIFETIME };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|held| now < held.until);
        if open.len() >= MAX_OPEN {
            open.remove(0);
        }
        open.push(made);
        self.changed.notify_one();
        Ok(code)
    }

    /// Uses a code up. Says what it grants; nothing if it is wrong, used or too old.
    pub(crate) fn redeem(&self, code: &str) -> Option<Scope> {
        let hash = SecretHash::of(code);
        let now = Instant::now();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for (place, held) in open.iter().enumerate() {
            if held.hash.is(&hash) {
                found = Some(place);
            }
        }
        let held = open.remove(found?);
        self.changed.notify_one();
        (now < held.until).then_some(held.scope)
    }

    /// The names of the codes that can be used now.
    pub(crate) fn names(&self) -> Vec<String> {
        let now = Instant::now();
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter(|held| now < held.until).map(|held| name_of(&held.hash)).collect()
    }

    /// Waits until those are others. For one who waits at a time.
    pub(crate) async fn changed(&self) {
        let now = Instant::now();
        let first_end = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.iter().map(|held| held.until).filter(|until| now < *until).min()
        };
        let Some(first_end) = first_end else { return self.changed.notified().await };
        tokio::select! {
            () = self.changed.notified() => {}
            () = tokio::time::sleep_until(first_end) => {}
        }
    }
}

/// What a code can be called where everybody reads it.
pub(crate) fn name(code: &str) -> String {
    name_of(&SecretHash::of(code))
}

fn name_of(hash: &SecretHash) -> String {
    /// Enough to tell a few codes apart.
    const DIGITS: usize = 16;
    let mut hex = hash.to_hex();
    hex.truncate(DIGITS);
    hex
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_code_is_good_once_and_for_two_minutes() {
        let codes = OnceCodes::default();
        assert_eq!(codes.redeem(""), None);
        let (drive, read) = (codes.start(Scope::Drive).unwrap(), codes.start(Scope::Read).unwrap());
        assert_ne!(drive, read);
        assert_eq!(codes.redeem(&drive), Some(Scope::Drive));
        assert_eq!(codes.redeem(&drive), None);
        tokio::time::advance(PAGE_CODE_LIFETIME - Duration::from_millis(1)).await;
        let late = codes.start(Scope::Read).unwrap();
        assert_eq!(codes.redeem(&read), Some(Scope::Read));
        tokio::time::advance(PAGE_CODE_LIFETIME).await;
        assert_eq!(codes.redeem(&late), None);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_keeps_a_copy_is_told_when_it_is_of_no_use() {
        let codes = OnceCodes::default();
        let (one, other) = (codes.start(Scope::Drive).unwrap(), codes.start(Scope::Read).unwrap());
        codes.changed().await;
        assert_eq!(codes.names(), [name(&one), name(&other)]);
        assert!(!one.contains(&name(&one)));
        codes.redeem(&one);
        codes.changed().await;
        assert_eq!(codes.names(), [name(&other)]);
        // Time alone does it too.
        codes.changed().await;
        assert_eq!(codes.names(), [""; 0]);
    }

    #[test]
    fn many_codes_take_bounded_memory() {
        let codes = OnceCodes::default();
        let all: Vec<_> = (0..=MAX_OPEN).map(|_| codes.start(Scope::Drive).unwrap()).collect();
        assert_eq!(codes.open.lock().unwrap().len(), MAX_OPEN);
        assert_eq!(codes.redeem(&all[0]), None);
        assert!(all.iter().skip(1).all(|code| codes.redeem(code).is_some()));
    }
}
