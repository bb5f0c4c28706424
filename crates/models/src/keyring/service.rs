//! What is said to a Secret Service.
//!
//! Secrets go over the session bus as they are. Encrypting them on the way would hide them from nobody: whoever can
//! listen on the bus of a user can ask the same service for the same secret.

use std::collections::HashMap;

use futures_util::StreamExt;
use zbus::message::Type;
use zbus::{
    Connection, MatchRule, Message, MessageStream, ObjectPath, OwnedObjectPath, OwnedVariant, Variant, fdo,
};

use super::{KeyringError, SERVICE};
use crate::{NotAKey, Secret, checked_key};

/// Its name on the bus.
const NAME: &str = "org.freedesktop.secrets";

/// Where it is.
const PATH: &str = "/org/freedesktop/secrets";

/// Stands for no object.
const NONE: &str = "/";

/// What its own errors begin with.
const LOCKED: &str = "org.freedesktop.Secret.Error.IsLocked";

/// The kinds of its objects.
const OF_SERVICE: &str = "org.freedesktop.Secret.Service";
const OF_COLLECTION: &str = "org.freedesktop.Secret.Collection";
const OF_ITEM: &str = "org.freedesktop.Secret.Item";
const OF_PROMPT: &str = "org.freedesktop.Secret.Prompt";

/// A secret: its session, what its encryption needs, itself, and what it is.
type Sealed = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// A conversation with it.
pub(super) struct Service {
    bus: Connection,
    session: OwnedObjectPath,
}

/// Whether there is one, or one that would be started.
pub(super) async fn is_there(address: &str) -> Result<bool, KeyringError> {
    let bus = connect(address).await?;
    let call = async |method: &str| {
        let (name, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        let answer = bus.call_method(Some(name), path, Some(name), method, &()).await?;
        answer.body().deserialize::<Vec<String>>()
    };
    for method in ["ListNames", "ListActivatableNames"] {
        if call(method).await.map_err(failure)?.iter().any(|name| name == NAME) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn connect(address: &str) -> Result<Connection, KeyringError> {
    let connected = zbus::connection::Builder::address(address).build().await;
    connected.map_err(|_| KeyringError::Absent { reason: "the session bus cannot be reached".to_owned() })
}

impl Service {
    pub(super) async fn open(address: &str) -> Result<Self, KeyringError> {
        let bus = connect(address).await?;
        let mut service = Self { bus, session: ObjectPath::from_static_str_unchecked(NONE).into() };
        let answer = service.call(PATH, OF_SERVICE, "OpenSession", &("plain", Variant::from(""))).await?;
        let (_, session): (OwnedVariant, OwnedObjectPath) = read(&answer)?;
        service.session = session;
        Ok(service)
    }

    /// The key under a name. Nobody is asked to unlock anything.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        let (unlocked, locked) = self.search(name).await?;
        let item = match (unlocked.into_iter().next(), locked.into_iter().next()) {
            (Some(item), _) => item,
            (None, None) => return Ok(None),
            (None, Some(item)) => {
                // One without a password opens without a question.
                if let Some(prompt) = self.unlock(&item).await? {
                    // A failure to take the question back changes nothing: nobody has seen it.
                    let _ = self.call(&prompt, OF_PROMPT, "Dismiss", &()).await;
                    return Err(KeyringError::Locked);
                }
                item
            }
        };
        let answer = self.call(&item, OF_ITEM, "GetSecret", &self.session).await?;
        let (_, _, value, _): Sealed = read(&answer)?;
        let broken = |reason: &str| KeyringError::Failed {
            reason: format!("the entry of `{name}` is no key: {reason}"),
        };
        let text = String::from_utf8(value).map_err(|_| broken("it is not text"))?;
        match checked_key(&text) {
            Ok(key) => Ok(Some(Secret::new(key))),
            Err(NotAKey::Empty) => Ok(None),
            Err(reason) => Err(broken(&reason.to_string())),
        }
    }

    /// Keeps a key under a name, in the place of an older one.
    pub(super) async fn set(&self, name: &str, key: &Secret) -> Result<(), KeyringError> {
        let collection = self.collection().await?;
        self.unlock_with_people(&collection).await?;
        let label = format!("Loggia: key of {name}");
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Variant::from(label)),
            ("org.freedesktop.Secret.Item.Attributes", Variant::from(attributes(name))),
        ]);
        let value = key.expose().as_bytes().to_vec();
        let sealed: Sealed = (self.session.clone(), Vec::new(), value, "text/plain; charset=utf8".to_owned());
        let body = (properties, sealed, true);
        let answer = self.call(&collection, OF_COLLECTION, "CreateItem", &body).await?;
        let (_, prompt): (OwnedObjectPath, OwnedObjectPath) = read(&answer)?;
        self.ask_people(&prompt).await
    }

    /// Forgets what is under a name.
    pub(super) async fn remove(&self, name: &str) -> Result<bool, KeyringError> {
        let (unlocked, locked) = self.search(name).await?;
        for item in &locked {
            self.unlock_with_people(item).await?;
        }
        let items = unlocked.iter().chain(&locked);
        let mut some = false;
        for item in items {
            let answer = self.call(item, OF_ITEM, "Delete", &()).await?;
            self.ask_people(&read::<OwnedObjectPath>(&answer)?).await?;
            some = true;
        }
        Ok(some)
    }

    /// The entries under a name: those that are unlocked, then the others.
    async fn search(&self, name: &str) -> Result<(Vec<OwnedObjectPath>, Vec<OwnedObjectPath>), KeyringError> {
        read(&self.call(PATH, OF_SERVICE, "SearchItems", &attributes(name)).await?)
    }

    /// Where new entries go.
    async fn collection(&self) -> Result<OwnedObjectPath, KeyringError> {
        for alias in ["default", "login"] {
            let answer = self.call(PATH, OF_SERVICE, "ReadAlias", &alias).await?;
            let collection: OwnedObjectPath = read(&answer)?;
            if collection.as_str() != NONE {
                return Ok(collection);
            }
        }
        let reason = "it has no default collection; make one with the desktop's program for passwords";
        Err(KeyringError::Absent { reason: reason.to_owned() })
    }

    /// Unlocks what can be without people; otherwise the question to put to them.
    async fn unlock(&self, object: &OwnedObjectPath) -> Result<Option<OwnedObjectPath>, KeyringError> {
        let answer = self.call(PATH, OF_SERVICE, "Unlock", &vec![object.clone()]).await?;
        let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) = read(&answer)?;
        Ok((prompt.as_str() != NONE).then_some(prompt))
    }

    async fn unlock_with_people(&self, object: &OwnedObjectPath) -> Result<(), KeyringError> {
        match self.unlock(object).await? {
            Some(prompt) => self.ask_people(&prompt).await,
            None => Ok(()),
        }
    }

    /// Puts a question to whoever sits there, and waits for the answer.
    async fn ask_people(&self, prompt: &OwnedObjectPath) -> Result<(), KeyringError> {
        if prompt.as_str() == NONE {
            return Ok(());
        }
        let rule = MatchRule::builder().msg_type(Type::Signal).interface(OF_PROMPT).member("Completed");
        let rule = rule.path(prompt.as_str()).build().map_err(failure)?;
        let mut answers = MessageStream::for_match_rule(rule, &self.bus, None).await.map_err(failure)?;
        // Which window it belongs to: none.
        self.call(prompt, OF_PROMPT, "Prompt", &"").await?;
        let gone = || KeyringError::Failed { reason: "it went away".to_owned() };
        let answer = answers.next().await.ok_or_else(gone)?.map_err(failure)?;
        let (dismissed, _): (bool, OwnedVariant) = read(&answer)?;
        if dismissed { Err(KeyringError::Dismissed) } else { Ok(()) }
    }

    async fn call<B: serde::Serialize + zbus::DynamicType>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<Message, KeyringError> {
        let answer = self.bus.call_method(Some(NAME), path, Some(interface), method, body).await;
        answer.map_err(failure)
    }
}

/// What an entry is found by: as the keyring libraries of most languages have it, so that their programs find it too.
fn attributes(name: &str) -> HashMap<&'static str, &str> {
    HashMap::from([("service", SERVICE), ("username", name)])
}

/// An answer's contents.
fn read<T>(answer: &Message) -> Result<T, KeyringError>
where
    T: for<'de> serde::Deserialize<'de> + zbus::Type,
{
    let odd = |_| KeyringError::Failed { reason: "it answers something else".to_owned() };
    answer.body().deserialize().map_err(odd)
}

/// What an error means. Its words are the service's own, and hold no secret: we sent none that it could repeat but the
/// key, which goes to a method that has no such words.
fn failure(error: zbus::Error) -> KeyringError {
    use zbus::Error as E;
    match &error {
        E::FDO(inner) => match **inner {
            fdo::Error::ServiceUnknown(_) | fdo::Error::NameHasNoOwner(_) => {
                KeyringError::Absent { reason: "no secret service is running".to_owned() }
            }
            _ => KeyringError::Failed { reason: error.to_string() },
        },
        E::MethodError(name, ..) if name.as_str() == LOCKED => KeyringError::Locked,
        _ => KeyringError::Failed { reason: error.to_string() },
    }
}
