//! A keyring that is asked when a key is needed, and not more often than makes sense.
//!
//! What always holds: it is asked off the threads that serve others, by one at a time, and no answer is waited for
//! longer than [`LIMIT`]; whoever wants what is known waits for nobody. What fails is left alone for [`REST`]: the
//! keyring if it cannot be asked at all, else the one entry. A key that was found once is used until the keyring says
//! something else about it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Keyring, KeyringError};
use crate::Secret;

/// Longer than a keyring's own limit: this one is for those that have none.
const LIMIT: Duration = Duration::from_secs(3);

/// How long what failed is left alone: every step of a turn would wait for it otherwise.
const REST: Duration = Duration::from_secs(30);

/// How long an answer is used before the keyring is asked again: every step of a turn needs it, and people change it
/// rarely.
const KEPT: Duration = Duration::from_secs(60);

/// What becomes of a request without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is made: the endpoint may want none. That there is no key is kept, since every step asks for it.
    None,
    /// It fails. Whoever is told so stores a key and tries again, so it is looked for anew.
    Key,
}

type Answer = Result<Option<Secret>, KeyringError>;

/// A keyring, and what it said.
#[derive(Debug)]
pub(crate) struct Asked {
    keyring: Arc<dyn Keyring>,
    /// Held by whoever asks.
    asking: tokio::sync::Mutex<()>,
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    /// There are as many as there are endpoints.
    entries: BTreeMap<String, Entry>,
    /// Why it could not be asked at all, and when.
    failure: Option<(Instant, KeyringError)>,
}

/// What was said about one name.
#[derive(Debug, Default)]
struct Entry {
    /// The last answer, and when it came.
    answer: Option<(Instant, Option<Secret>)>,
    /// Why there was none since, and when.
    failure: Option<(Instant, KeyringError)>,
}

impl Asked {
    pub(crate) fn new(keyring: Arc<dyn Keyring>) -> Self {
        Self { keyring, asking: tokio::sync::Mutex::default(), said: Mutex::default() }
    }

    /// The key of an endpoint, if the keyring has one.
    pub(crate) async fn read(&self, name: &str, need: Need) -> Answer {
        if let Some(known) = self.said().known(name, need) {
            return known;
        }
        let _asking = self.asking.lock().await;
        // Whoever asked meanwhile may have been told.
        if let Some(known) = self.said().known(name, need) {
            return known;
        }
        let answer = self.ask(name).await;
        self.said().hear(name, answer)
    }

    /// Why it could not be asked the last time; else, what is wrong with an entry.
    pub(crate) fn state(&self) -> Result<(), KeyringError> {
        let said = self.said();
        let of_entry = || said.entries.values().find_map(|entry| entry.failure.as_ref());
        said.failure.as_ref().or_else(of_entry).map_or(Ok(()), |(_, failure)| Err(failure.clone()))
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, name: &str) -> Answer {
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

impl Said {
    /// What can be said without asking.
    fn known(&self, name: &str, need: Need) -> Option<Answer> {
        let entry = self.entries.get(name);
        if let Some((when, key)) = entry.and_then(|entry| entry.answer.as_ref())
            && when.elapsed() < KEPT
            && (key.is_some() || need == Need::None)
        {
            return Some(Ok(key.clone()));
        }
        let failures = [self.failure.as_ref(), entry.and_then(|entry| entry.failure.as_ref())];
        let (_, failure) = failures.into_iter().flatten().find(|(when, _)| when.elapsed() < REST)?;
        Some(self.old_key(name).map(Some).ok_or_else(|| failure.clone()))
    }

    /// Takes an answer in. A key that worked is better than none; the provider says if it no longer does.
    fn hear(&mut self, name: &str, answer: Answer) -> Answer {
        let now = Instant::now();
        self.failure = None;
        let failure = match answer {
            Ok(key) => {
                let entry = Entry { answer: Some((now, key.clone())), failure: None };
                self.entries.insert(name.to_owned(), entry);
                return Ok(key);
            }
            Err(failure) => failure,
        };
        if is_of_all(&failure) {
            self.failure = Some((now, failure.clone()));
        } else {
            self.entries.entry(name.to_owned()).or_default().failure = Some((now, failure.clone()));
        }
        let Some(key) = self.old_key(name) else {
            tracing::debug!(endpoint = name, error = %failure, "the keyring gives no key");
            return Err(failure);
        };
        tracing::warn!(endpoint = name, error = %failure, "the keyring gives no key; the one it gave before is used");
        Ok(Some(key))
    }

    fn old_key(&self, name: &str) -> Option<Secret> {
        let (_, key) = self.entries.get(name)?.answer.as_ref()?;
        key.clone()
    }
}

/// Whether a failure is the keyring's own. Any other may be that of one entry, and a part of a keyring can be locked.
fn is_of_all(failure: &KeyringError) -> bool {
    matches!(failure, KeyringError::Absent { .. } | KeyringError::Silent { .. })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;
    use tokio::time;

    use super::*;

    /// A keyring that answers as it was told, and counts.
    #[derive(Debug, Default)]
    struct Told {
        answers: Mutex<BTreeMap<&'static str, Answer>>,
        asked: Mutex<Vec<String>>,
    }

    impl Told {
        fn set(&self, name: &'static str, answer: Answer) {
            self.answers.lock().unwrap().insert(name, answer);
        }

        /// Who was asked for since the last look.
        fn asked(&self) -> String {
            std::mem::take(&mut *self.asked.lock().unwrap()).join(" ")
        }
    }

    impl Keyring for Told {
        fn read(&self, name: &str) -> Answer {
            self.asked.lock().unwrap().push(name.to_owned());
            self.answers.lock().unwrap().get(name).cloned().unwrap_or(Ok(None))
        }
    }

    fn keyring() -> (Arc<Told>, Asked) {
        let told = Arc::new(Told::default());
        (Arc::clone(&told), Asked::new(told))
    }

    fn key(text: &str) -> Answer {
        Ok(Some(Secret::new(text)))
    }

    fn absent() -> Answer {
        Err(KeyringError::Absent { reason: "it went away".to_owned() })
    }

    /// Lets time pass. The clock stands still only here: it would run ahead of a thread that answers.
    async fn pass(time: Duration) {
        time::pause();
        time::advance(time).await;
        time::resume();
    }

    const MOMENT: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_key_is_asked_for_again_after_a_while() {
        let (told, asked) = keyring();
        told.set("a", key("sk-1"));
        assert_eq!(asked.read("a", Need::Key).await, key("sk-1"));
        told.set("a", key("sk-2"));
        pass(KEPT - 2 * MOMENT).await;
        assert_eq!(asked.read("a", Need::Key).await, key("sk-1"));
        assert_eq!(told.asked(), "a");
        pass(2 * MOMENT).await;
        assert_eq!(asked.read("a", Need::Key).await, key("sk-2"));
        assert_eq!(told.asked(), "a");
    }

    #[tokio::test]
    async fn a_key_that_was_found_survives_a_keyring_that_fails() {
        for failure in [absent(), Err(KeyringError::Locked)] {
            let (told, asked) = keyring();
            told.set("a", key("sk-1"));
            assert_eq!(asked.read("a", Need::None).await, key("sk-1"));
            told.set("a", failure.clone());
            told.asked();
            // Two rests: at the first question that fails, while it rests, and at the next that fails.
            pass(KEPT).await;
            for _ in 0..2 {
                for _ in 0..3 {
                    assert_eq!(asked.read("a", Need::None).await, key("sk-1"));
                    assert_eq!(asked.state(), failure.clone().map(drop));
                }
                assert_eq!(told.asked(), "a", "what fails is left alone");
                pass(REST).await;
            }
            // What the keyring says then counts, also that there is none.
            told.set("a", Ok(None));
            assert_eq!(asked.read("a", Need::None).await, Ok(None));
            assert_eq!(asked.state(), Ok(()));
            told.set("a", failure.clone());
            pass(KEPT).await;
            assert_eq!(asked.read("a", Need::None).await, failure);
        }
    }

    #[tokio::test]
    async fn a_bad_entry_takes_no_other_key_away() {
        let bad = || Err(KeyringError::Failed { reason: "the entry of `a` is no key".to_owned() });
        for failure in [bad(), Err(KeyringError::Locked)] {
            let (told, asked) = keyring();
            told.set("a", failure.clone());
            told.set("b", key("sk-b"));
            assert_eq!(asked.read("a", Need::Key).await, failure);
            assert_eq!(asked.read("b", Need::Key).await, key("sk-b"));
            assert_eq!(asked.read("a", Need::Key).await, failure);
            assert_eq!(told.asked(), "a b");
            assert_eq!(asked.state(), failure.clone().map(drop), "the doctor tells of it");
            told.set("a", key("sk-a"));
            pass(REST).await;
            assert_eq!(asked.read("a", Need::Key).await, key("sk-a"));
            assert_eq!(asked.state(), Ok(()));
        }
    }

    #[tokio::test]
    async fn a_keyring_that_cannot_be_asked_is_left_alone_for_every_name() {
        let (told, asked) = keyring();
        told.set("a", absent());
        told.set("b", key("sk-b"));
        assert_eq!(asked.read("a", Need::Key).await, absent());
        assert_eq!(asked.read("b", Need::Key).await, absent());
        assert_eq!(told.asked(), "a");
        pass(REST).await;
        assert_eq!(asked.read("b", Need::Key).await, key("sk-b"));
    }

    #[tokio::test]
    async fn that_there_is_no_key_is_kept_for_those_that_can_do_without() {
        let (told, asked) = keyring();
        assert_eq!(asked.read("a", Need::None).await, Ok(None));
        assert_eq!(asked.read("a", Need::None).await, Ok(None));
        assert_eq!(told.asked(), "a");
        told.set("a", key("sk-1"));
        assert_eq!(
            asked.read("a", Need::Key).await,
            key("sk-1"),
            "whoever was told to store one has done so"
        );
        told.set("b", Ok(None));
        assert_eq!(asked.read("b", Need::None).await, Ok(None));
        told.set("b", key("sk-b"));
        pass(KEPT).await;
        assert_eq!(asked.read("b", Need::None).await, key("sk-b"));
    }

    /// A keyring that answers for `quick` at once, and for others when it is let go.
    #[derive(Debug)]
    struct Stuck(Mutex<mpsc::Receiver<()>>);

    impl Keyring for Stuck {
        fn read(&self, name: &str) -> Answer {
            if name != "quick" {
                let _ = self.0.lock().unwrap().recv();
            }
            key("sk-1")
        }
    }

    #[tokio::test]
    async fn a_key_that_is_known_waits_for_nobody() {
        let (go, gone) = mpsc::channel();
        let asked = Asked::new(Arc::new(Stuck(Mutex::new(gone))));
        assert_eq!(asked.read("quick", Need::Key).await, key("sk-1"));
        let mut other = Box::pin(asked.read("other", Need::Key));
        assert_eq!(other.as_mut().now_or_never(), None);
        assert_eq!(asked.read("quick", Need::Key).now_or_never(), Some(key("sk-1")));
        drop(go);
        assert_eq!(other.await, key("sk-1"));
    }

    #[tokio::test]
    async fn one_that_never_answers_is_waited_for_once() {
        let (_go, gone) = mpsc::channel();
        let asked = Asked::new(Arc::new(Stuck(Mutex::new(gone))));
        let silent = Err(KeyringError::Silent { limit: LIMIT });
        // Nothing else happens, so the clock goes to the limit by itself.
        time::pause();
        assert_eq!(asked.read("other", Need::Key).await, silent);
        assert_eq!(asked.read("another", Need::Key).now_or_never(), Some(silent));
    }
}
