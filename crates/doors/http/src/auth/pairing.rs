//! Pairing: a short code that somebody reads on one screen and types on another.
//!
//! One code at a time, in memory only: a new one ends the last. What always holds: a code is good once, for
//! [`PAIRING_CODE_LIFETIME`], and for [`MAX_PAIRING_TRIES`] wrong tries.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use loggia_protocol_agent_server::{MAX_PAIRING_TRIES, PAIRING_CODE_LIFETIME};
use subtle::ConstantTimeEq;

use crate::auth::secret;

/// The code that can be used now, if any.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    code: String,
    until: Instant,
    wrong: u32,
}

impl Pairing {
    /// Makes a code.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(crate) fn start(&self) -> io::Result<String> {
        let code = secret::new_code()?;
        let until = Instant::now() + PAIRING_CODE_LIFETIME;
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Open { code: code.clone(), until, wrong: 0 });
        Ok(code)
    }

    /// Uses a code up. Says whether it was the right one.
    pub(crate) fn redeem(&self, typed: &str) -> bool {
        self.redeem_at(typed, Instant::now())
    }

    fn redeem_at(&self, typed: &str, now: Instant) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = open.as_mut() else { return false };
        if now >= held.until {
            *open = None;
            return false;
        }
        let is_right: bool = plain(typed).as_bytes().ct_eq(held.code.as_bytes()).into();
        held.wrong += u32::from(!is_right);
        if is_right || held.wrong >= MAX_PAIRING_TRIES {
            *open = None;
        }
        is_right
    }
}

/// A code as people type it: in small letters, in two groups.
fn plain(typed: &str) -> String {
    let letters = typed.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    // Longer than any code is wrong in any case.
    letters.take(64).map(|letter| letter.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_code_is_good_once_and_however_it_is_typed() {
        let pairing = Pairing::default();
        assert!(!pairing.redeem(""));
        let code = pairing.start().unwrap();
        let typed = format!(" {}-{} ", &code[..4].to_lowercase(), &code[4..]);
        assert!(pairing.redeem(&typed));
        assert!(!pairing.redeem(&code));
    }

    #[test]
    fn five_wrong_tries_end_a_code() {
        let pairing = Pairing::default();
        let code = pairing.start().unwrap();
        for _ in 1..MAX_PAIRING_TRIES {
            assert!(!pairing.redeem("WRONG"));
        }
        assert!(pairing.open.lock().unwrap().is_some());
        assert!(!pairing.redeem("WRONG"));
        assert!(!pairing.redeem(&code));
    }

    #[test]
    fn a_code_ends_with_its_time_and_with_the_next_one() {
        let pairing = Pairing::default();
        let first = pairing.start().unwrap();
        let second = pairing.start().unwrap();
        assert!(!pairing.redeem(&first));
        let late = Instant::now() + PAIRING_CODE_LIFETIME + Duration::from_secs(1);
        assert!(!pairing.redeem_at(&second, late));
        assert!(!pairing.redeem(&second));
    }
}
