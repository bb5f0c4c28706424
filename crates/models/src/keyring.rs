//! The keyring of the operating system: GNOME Keyring, KWallet, KeePassXC, and whatever else is a Secret Service.
//!
//! Knows how to keep, find and take away the keys of endpoints, under the service `loggia` and the endpoint's name.
//! Refuses to know what they are for. What always holds:
//! - nobody is asked before a key is needed or a model is looked for, nor where there is no session bus;
//! - every question has a time limit, and is asked on a thread of its own;
//! - no error holds a key.

mod asked;
mod service;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::{Environment, NotAKey, Secret, checked_key};

pub(crate) use asked::{Asked, Need};

/// Whose entries they are.
pub(crate) const SERVICE: &str = "loggia";

/// How long a keyring may take to answer without asking anybody: it is on this machine. Replies that want different
/// keys ask one after the other, and one that does not answer is not asked by the next.
const ANSWER: Duration = Duration::from_secs(2);

/// How long people may take to unlock it when they store a key.
const PEOPLE: Duration = Duration::from_secs(60);

/// The variable with the session bus's address.
const BUS_VARIABLE: &str = "DBUS_SESSION_BUS_ADDRESS";

/// The variable with the directory in which the session bus is otherwise.
const RUNTIME_VARIABLE: &str = "XDG_RUNTIME_DIR";

/// Something that keeps keys by the names of endpoints.
pub trait Keyring: fmt::Debug + Send + Sync + 'static {
    /// The key of an endpoint, if it has one. It may take its time: it is called on a thread of its own.
    ///
    /// # Errors
    /// The keyring cannot be asked.
    fn read(&self, name: &str) -> Result<Option<Secret>, KeyringError>;
}

/// Why a keyring did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// Nothing keeps keys on this machine.
    #[error("there is no keyring: {reason}")]
    Absent {
        /// What is missing.
        reason: String,
    },
    /// Somebody has to unlock it first.
    #[error("the keyring is locked; unlock it, for example by logging in to the desktop")]
    Locked,
    /// It was to be unlocked, and somebody said no.
    #[error("the keyring was not unlocked")]
    Dismissed,
    /// It did not answer in time.
    #[error("the keyring does not answer within {} seconds", limit.as_secs_f32())]
    Silent {
        /// How long it had.
        limit: Duration,
    },
    /// The name of an endpoint that is none.
    #[error("a key is kept under the name of an endpoint")]
    NotAName,
    /// A key that is none. It is not kept, since nothing could be done with it.
    #[error("this is no key: {0}")]
    NotAKey(NotAKey),
    /// It answered something else.
    #[error("the keyring fails: {reason}")]
    Failed {
        /// What went wrong.
        reason: String,
    },
}

/// The keyring of this session.
///
/// Its calls wait for an answer, so they are for programs that have nothing else to do meanwhile.
///
/// ```no_run
/// use loggia_models::{Environment, Secret, SystemKeyring};
///
/// let keyring = SystemKeyring::new(&Environment::from_fn(|name| std::env::var(name).ok()));
/// if keyring.available() {
///     keyring.set("openai", &Secret::new("sk-…"))?;
/// }
/// # Ok::<(), loggia_models::KeyringError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SystemKeyring {
    /// Where the session bus is, if there is one.
    bus: Option<String>,
    answer: Duration,
    people: Duration,
}

impl SystemKeyring {
    /// The keyring on the session bus that the environment names. Nobody is asked yet.
    pub fn new(environment: &Environment) -> Self {
        Self { bus: bus(environment), answer: ANSWER, people: PEOPLE }
    }

    /// The same with other limits: for its own answers, and for people who unlock it.
    #[must_use]
    pub fn with_limits(self, answer: Duration, people: Duration) -> Self {
        Self { answer, people, ..self }
    }

    /// Whether there is a session bus on which it could be. Nobody is asked.
    pub fn has_bus(&self) -> bool {
        self.bus.is_some()
    }

    /// Whether there is a keyring, locked or not.
    pub fn available(&self) -> bool {
        self.ask(self.answer, async |bus| service::is_there(bus).await).unwrap_or(false)
    }

    /// The key of an endpoint. A keyring that is locked stays so.
    ///
    /// # Errors
    /// There is no keyring, it is locked, or it does not answer.
    pub fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        let name = checked_name(name)?;
        self.ask(self.answer, async |bus| service::Service::open(bus).await?.get(&name).await)
    }

    /// Keeps the key of an endpoint, in the place of an older one. Whoever is there may be asked to unlock the keyring.
    ///
    /// # Errors
    /// There is no keyring, nobody unlocks it, it does not answer, or the key is none.
    pub fn set(&self, name: &str, key: &Secret) -> Result<(), KeyringError> {
        let name = checked_name(name)?;
        checked_key(key.expose()).map_err(KeyringError::NotAKey)?;
        self.ask(self.people, async |bus| service::Service::open(bus).await?.set(&name, key).await)
    }

    /// Forgets the key of an endpoint. Tells whether there was one.
    ///
    /// # Errors
    /// There is no keyring, nobody unlocks it, or it does not answer.
    pub fn remove(&self, name: &str) -> Result<bool, KeyringError> {
        let name = checked_name(name)?;
        self.ask(self.people, async |bus| service::Service::open(bus).await?.remove(&name).await)
    }

    /// Asks on a thread of its own: a caller may be on one that must not wait in this way, whatever it does itself.
    fn ask<T: Send>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(&str) -> Result<T, KeyringError> + Send,
    ) -> Result<T, KeyringError> {
        let absent = || KeyringError::Absent { reason: "no session bus is running".to_owned() };
        let bus = self.bus.as_deref().ok_or_else(absent)?;
        let failed = |reason: &dyn fmt::Display| KeyringError::Failed { reason: reason.to_string() };
        let asking = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| failed(&error))?.block_on(async {
                let answer = tokio::time::timeout(limit, question(bus)).await;
                answer.unwrap_or(Err(KeyringError::Silent { limit }))
            })
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("keyring".to_owned()).spawn_scoped(scope, asking);
            let answer = thread.map_err(|error| failed(&error))?.join();
            answer.unwrap_or_else(|_| Err(failed(&"its thread broke")))
        })
    }
}

impl Keyring for SystemKeyring {
    fn read(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        self.get(name)
    }
}

/// Where the session bus is. A socket that is not there is none.
fn bus(environment: &Environment) -> Option<String> {
    if let Some(address) = environment.get(BUS_VARIABLE) {
        return Some(address);
    }
    let path = Path::new(&environment.get(RUNTIME_VARIABLE)?).join("bus");
    path.exists().then(|| format!("unix:path={}", path.display()))
}

fn checked_name(name: &str) -> Result<String, KeyringError> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(KeyringError::NotAName);
    }
    Ok(name.to_owned())
}
