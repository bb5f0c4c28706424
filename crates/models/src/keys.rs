//! Finding an endpoint's key.
//!
//! Keys come from the environment that was handed to us, a file only its owner can read, a keyring, or the settings;
//! never from a workspace. What always holds: no error here holds a key, the keyring is asked last, and what no header could
//! carry is refused with the name of its place.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::keyring::{Asked, Need};
use crate::provider::Provider;
use crate::{Environment, KeySource, Keyring, KeyringError, Secret};

/// No provider's key is longer; something that is was put there by mistake.
pub const MAX_KEY_BYTES: usize = 16 * 1024;

/// The place of a key that was in the keyring.
pub(crate) const KEYRING: &str = "the keyring";

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It has more than [`MAX_KEY_BYTES`].
    #[error("it is too long")]
    TooLong,
    /// There are blanks or line ends in it.
    #[error("a key is one word")]
    Words,
    /// There are characters in it that no header carries.
    #[error("a control character is in it")]
    Control,
}

/// The key in a text, which is all of it but the blanks around. Wherever a key comes from, it is one by this rule.
///
/// # Errors
/// It could not be sent in a header, or would be more than one.
///
/// ```
/// use loggia_models::{NotAKey, checked_key};
///
/// assert_eq!(checked_key(" sk-1\n"), Ok("sk-1"));
/// assert_eq!(checked_key("sk-1\nx-evil: 1"), Err(NotAKey::Words));
/// ```
pub fn checked_key(text: &str) -> Result<&str, NotAKey> {
    match text.trim() {
        "" => Err(NotAKey::Empty),
        key if key.len() > MAX_KEY_BYTES => Err(NotAKey::TooLong),
        // More lines than one would be a header injected into every request.
        key if key.contains(char::is_whitespace) => Err(NotAKey::Words),
        key if key.contains(char::is_control) => Err(NotAKey::Control),
        key => Ok(key),
    }
}

/// Why a key could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("no key is set: {hint}")]
    Missing { hint: String },
    #[error("cannot read the key in `{}`: {source}; put it there, or run `loggia init`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the key in `{}` can be read by others; make it yours alone with `chmod 600 {}`", path.display(), path.display())]
    Exposed { path: PathBuf },
    #[error("the key in `{}` cannot be read: it is not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("what is in {place} is no key: {reason}")]
    NoKey { place: String, reason: NotAKey },
}

/// A key and where it was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) key: Secret,
    pub(crate) place: String,
}

/// Where keys are looked for.
#[derive(Debug)]
pub(crate) struct Keys {
    environment: Environment,
    keyring: Option<Asked>,
}

impl Keys {
    pub(crate) fn new(environment: Environment, keyring: Option<Arc<dyn Keyring>>) -> Self {
        Self { environment, keyring: keyring.map(Asked::new) }
    }

    /// An endpoint's key, if it needs one. May ask the keyring.
    pub(crate) async fn find(&self, provider: &Provider) -> Result<Option<Found>, KeyError> {
        let at_hand = self.at_hand(provider);
        let Some(keyring) = self.keyring_of(provider) else { return at_hand };
        // An entry of somebody's own server is used as well, though it may need none.
        if !matches!(at_hand, Ok(None) | Err(KeyError::Missing { .. })) {
            return at_hand;
        }
        let need = if at_hand.is_ok() { Need::None } else { Need::Key };
        match (keyring.read(&provider.name, need).await, at_hand) {
            (Ok(Some(key)), _) => Ok(Some(Found { key, place: KEYRING.to_owned() })),
            (Ok(None), Err(KeyError::Missing { hint })) => {
                let hint = format!("{hint}, or keep it in the keyring under `{}`", provider.name);
                Err(KeyError::Missing { hint })
            }
            (Err(error), Err(KeyError::Missing { hint })) => {
                Err(KeyError::Missing { hint: format!("{hint} ({error})") })
            }
            (_, at_hand) => at_hand,
        }
    }

    /// Whether an endpoint may have a key, as far as can be told without asking anybody.
    pub(crate) fn check(&self, provider: &Provider) -> Result<(), KeyError> {
        match self.at_hand(provider) {
            Err(KeyError::Missing { .. }) if self.keyring_of(provider).is_some() => Ok(()),
            at_hand => at_hand.map(drop),
        }
    }

    /// Whether there is a keyring to ask, and if so, what was wrong with it or an entry the last time.
    pub(crate) fn keyring(&self) -> Option<Result<(), KeyringError>> {
        Some(self.keyring.as_ref()?.state())
    }

    fn keyring_of(&self, provider: &Provider) -> Option<&Asked> {
        self.keyring.as_ref().filter(|_| provider.may_be_in_keyring())
    }

    /// A key that needs no keyring.
    fn at_hand(&self, provider: &Provider) -> Result<Option<Found>, KeyError> {
        match find(&provider.key, provider.variables, &self.environment) {
            // A server of one's own rarely wants a key, whatever protocol it speaks.
            Err(KeyError::Missing { .. }) if provider.key == KeySource::Usual && provider.is_own() => {
                Ok(None)
            }
            found => found,
        }
    }
}

/// Looks for a key. `usual` are the variables the provider's own tools read; without any, it needs none.
fn find(source: &KeySource, usual: &[&str], environment: &Environment) -> Result<Option<Found>, KeyError> {
    let variable = |name: &str| Some(found(&environment.get(name)?, format!("the variable {name}")));
    match source {
        KeySource::None => Ok(None),
        KeySource::Usual if usual.is_empty() => Ok(None),
        KeySource::Usual => usual
            .iter()
            .find_map(|name| variable(name))
            .unwrap_or_else(|| {
                Err(KeyError::Missing { hint: format!("set {} or run `loggia init`", usual[0]) })
            })
            .map(Some),
        KeySource::Variable(name) => {
            variable(name).unwrap_or_else(|| Err(KeyError::Missing { hint: format!("set {name}") })).map(Some)
        }
        KeySource::Given(key) => found(key.expose(), "the settings".to_owned()).map(Some),
        KeySource::File(path) => found(&read_file(path)?, format!("the file `{}`", path.display())).map(Some),
    }
}

/// A key that was found, if it is one.
fn found(text: &str, place: String) -> Result<Found, KeyError> {
    match checked_key(text) {
        Ok(key) => Ok(Found { key: Secret::new(key), place }),
        Err(reason) => Err(KeyError::NoKey { place, reason }),
    }
}

/// What a file holds, as far as it may be a key.
fn read_file(path: &Path) -> Result<String, KeyError> {
    let read = |source| KeyError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if !metadata.is_file() {
        return Err(KeyError::NotAFile { path: path.to_owned() });
    }
    if is_exposed(&metadata) {
        return Err(KeyError::Exposed { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES as u64 + 1).read_to_string(&mut text).map_err(read)?;
    if text.len() > MAX_KEY_BYTES {
        // Not all of it was read.
        let place = format!("the file `{}`", path.display());
        return Err(KeyError::NoKey { place, reason: NotAKey::TooLong });
    }
    Ok(text)
}

#[cfg(unix)]
fn is_exposed(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_exposed(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(source: &KeySource, usual: &[&str], environment: &Environment) -> String {
        match find(source, usual, environment) {
            Ok(Some(found)) => format!("{} from {}", found.key.expose(), found.place),
            Ok(None) => "none needed".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn variables_are_read_in_order_and_blank_ones_are_not_set() {
        let environment = Environment::from([("A", "  "), ("B", "key-b\n")]);
        assert_eq!(look(&KeySource::Usual, &["A", "B"], &environment), "key-b from the variable B");
        assert_eq!(
            look(&KeySource::Usual, &["A"], &environment),
            "no key is set: set A or run `loggia init`"
        );
        assert_eq!(look(&KeySource::Usual, &[], &environment), "none needed");
        let named = KeySource::Variable("B".to_owned());
        assert_eq!(look(&named, &["A"], &environment), "key-b from the variable B");
    }

    #[test]
    fn what_no_header_could_carry_is_refused_with_its_place() {
        let environment = Environment::from([("A", "sk-\u{7}1"), ("B", "key-b")]);
        let refused = "what is in the variable A is no key: a control character is in it";
        assert_eq!(look(&KeySource::Usual, &["A", "B"], &environment), refused);
        assert_eq!(look(&KeySource::Variable("A".to_owned()), &[], &environment), refused);
        let given = KeySource::Given(Secret::new("two words"));
        let refused = "what is in the settings is no key: a key is one word";
        assert_eq!(look(&given, &[], &environment), refused);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_others_can_read_is_refused_with_a_hint() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let source = KeySource::File(path.clone());
        let with = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            look(&source, &[], &Environment::empty()).replace(path.to_str().unwrap(), "KEY")
        };
        assert_eq!(with("sk-1\n", 0o600), "sk-1 from the file `KEY`");
        let refused = "the key in `KEY` can be read by others; make it yours alone with `chmod 600 KEY`";
        assert_eq!(with("sk-1\n", 0o640), refused);
        assert_eq!(with("sk-1\n", 0o604), refused);
        assert_eq!(with(" \n", 0o600), "what is in the file `KEY` is no key: it is empty");
        assert_eq!(with("sk-1\nx-evil: 1", 0o600), "what is in the file `KEY` is no key: a key is one word");
        assert_eq!(with(&"k".repeat(20_000), 0o600), "what is in the file `KEY` is no key: it is too long");
        let control = "what is in the file `KEY` is no key: a control character is in it";
        for text in ["sk-\u{1b}1", "sk-1\0", "\u{7f}sk-1"] {
            assert_eq!(with(text, 0o600), control, "{text:?}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(look(&source, &[], &Environment::empty()).starts_with("cannot read the key in"));
    }
}
