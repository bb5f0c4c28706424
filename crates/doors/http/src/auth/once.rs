//! Codes that let one browser in: in the address that is opened for it, behind the `#`, which no browser sends.
//!
//! In memory only, and only their hashes. What always holds: a code is good once and for [`PAGE_CODE_LIFETIME`]; how
//! long it takes to refuse one says nothing about those there are.

use std::io;
use std::sync::{Mutex, PoisonError};

use loggia_protocol_agent_server::{PAGE_CODE_LIFETIME, Scope};
use tokio::time::Instant;

use crate::auth::secret::{self, SecretHash};

/// How many codes may be open at once: a family of devices. One more ends the oldest.
const MAX_OPEN: usize = 16;

/// The codes that can be used now.
#[derive(Debug, Default)]
pub(crate) struct OnceCodes {
    /// Oldest first.
    open: Mutex<Vec<Open>>,
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
        (now < held.until).then_some(held.scope)
    }
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

    #[test]
    fn many_codes_take_bounded_memory() {
        let codes = OnceCodes::default();
        let all: Vec<_> = (0..=MAX_OPEN).map(|_| codes.start(Scope::Drive).unwrap()).collect();
        assert_eq!(codes.open.lock().unwrap().len(), MAX_OPEN);
        assert_eq!(codes.redeem(&all[0]), None);
        assert!(all.iter().skip(1).all(|code| codes.redeem(code).is_some()));
    }
}
