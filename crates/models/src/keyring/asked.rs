//! A keyring that is asked when a key is needed, and not more often than makes sense.
//!
//! What always holds: it is asked off the threads that serve others, by one at a time, and no answer is waited for
//! longer than [`LIMIT`]; one that could not be asked is left alone for [`REST`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::time::Instant;

use super::{Keyring, KeyringError};
use crate::Secret;

/// Longer than a keyring's own limit: this one is for those that have none.
const LIMIT: Duration = Duration::from_secs(3);

/// How long one that could not be asked is left alone: every step of a turn would wait for it otherwise.
const REST: Duration = Duration::from_secs(30);

/// How long a key is used before the keyring is asked again: every step of a turn needs it, and people change it rarely.
const KEPT: Duration = Duration::from_secs(60);

/// A keyring, and what it said.
#[derive(Debug)]
pub(crate) struct Asked {
    keyring: Arc<dyn Keyring>,
    /// Held by whoever asks.
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    /// There are as many as there are endpoints.
    keys: HashMap<String, (Instant, Secret)>,
    /// Why it could not be asked, and when.
    failure: Option<(Instant, KeyringError)>,
}

impl Asked {
    pub(crate) fn new(keyring: Arc<dyn Keyring>) -> Self {
        Self { keyring, said: Mutex::default() }
    }

    /// The key of an endpoint, if the keyring has one.
    pub(crate) async fn read(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        let mut said = self.said.lock().await;
        if let Some((_, key)) = said.keys.get(name).filter(|(when, _)| when.elapsed() < KEPT) {
            return Ok(Some(key.clone()));
        }
        if let Some((_, failure)) = said.failure.as_ref().filter(|(when, _)| when.elapsed() < REST) {
            return Err(failure.clone());
        }
        let answer = self.ask(name).await;
        let now = Instant::now();
        said.failure = answer.as_ref().err().map(|failure| (now, failure.clone()));
        match &answer {
            Ok(Some(key)) => drop(said.keys.insert(name.to_owned(), (now, key.clone()))),
            Ok(None) => drop(said.keys.remove(name)),
            // A key that worked is better than none; the provider says if it no longer does.
            Err(_) => {
                if let Some((_, key)) = said.keys.get(name) {
                    return Ok(Some(key.clone()));
                }
            }
        }
        answer
    }

    /// Why it could not be asked the last time.
    pub(crate) async fn state(&self) -> Result<(), KeyringError> {
        self.said.lock().await.failure.clone().map_or(Ok(()), |(_, failure)| Err(failure))
    }

    async fn ask(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        let (answer, answered) = oneshot::channel();
        let (keyring, name) = (Arc::clone(&self.keyring), name.to_owned());
        let asking = move || {
            // Whoever asked may have gone.
            let _ = answer.send(keyring.read(&name));
        };
        let failed = |reason: String| KeyringError::Failed { reason };
        let thread = std::thread::Builder::new().name("keyring".to_owned()).spawn(asking);
        thread.map_err(|error| failed(error.to_string()))?;
        match tokio::time::timeout(LIMIT, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(failed("it broke".to_owned()))),
            Err(_) => Err(KeyringError::Silent { limit: LIMIT }),
        }
    }
}
