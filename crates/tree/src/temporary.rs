//! Names of files that are not in place yet.
//!
//! Invariant: a name is alive, in this process, from before its file is made until after it is gone.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

const PREFIX: &str = ".loggia-";
const SUFFIX: &str = ".tmp";
/// Two names are never the same by chance, and nobody can guess the next one.
const RANDOM_BYTES: usize = 8;

/// The names in use by this process, whichever root they are below, so that a sweep lets them be.
static ALIVE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// A name of ours that is in use.
#[derive(Debug)]
pub(crate) struct TemporaryName(String);

impl TemporaryName {
    pub(crate) fn new() -> Result<TemporaryName, Errno> {
        let mut random = [0_u8; RANDOM_BYTES];
        // So short a request is answered whole.
        getrandom(&mut random, GetRandomFlags::empty())?;
        let name = format!("{PREFIX}{:016x}{SUFFIX}", u64::from_ne_bytes(random));
        alive().insert(name.clone());
        Ok(TemporaryName(name))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a file's name is one of ours.
    pub(crate) fn read(name: &[u8]) -> Option<&str> {
        let text = std::str::from_utf8(name).ok()?;
        let random = text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let is_ours = random.len() == RANDOM_BYTES * 2
            && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_ours.then_some(text)
    }

    pub(crate) fn is_alive(name: &str) -> bool {
        alive().contains(name)
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        alive().remove(&self.0);
    }
}

fn alive() -> MutexGuard<'static, HashSet<String>> {
    // A set of names is whole after any panic.
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
