//! Finding an endpoint's key.
//!
//! Keys come from the environment that was handed to us, a file only its owner can read, a keyring, or the settings;
//! never from a workspace. What always holds: no error here holds a key.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Environment, KeySource, Secret};

/// No provider's key is longer; a file that is was named by mistake.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// A keyring of the operating system.
///
/// Nothing here fills it: on Linux it takes a secret service on the session bus, which a server without a desktop
/// does not have. Whoever has one hands it to [`Models`](crate::Models).
pub trait Keyring: fmt::Debug + Send + Sync + 'static {
    /// The entry, if there is one; otherwise what went wrong.
    fn read(&self, service: &str, account: &str) -> Result<Option<Secret>, String>;
}

/// Why a key could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("no key is set: {hint}")]
    Missing { hint: String },
    #[error("cannot read the key in `{}`: {source}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the key in `{}` can be read by others; make it yours alone with `chmod 600 {}`", path.display(), path.display())]
    Exposed { path: PathBuf },
    #[error("`{}` does not hold a key: {reason}", path.display())]
    NoKey { path: PathBuf, reason: &'static str },
    #[error("the keyring cannot be used: {reason}; set the key in a variable or a file instead")]
    Keyring { reason: String },
}

/// A key and where it was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) key: Secret,
    pub(crate) place: String,
}

/// Looks for a key. `usual` are the variables the provider's own tools read; without any, it needs none.
pub(crate) fn find(
    source: &KeySource,
    usual: &[&str],
    environment: &Environment,
    keyring: Option<&dyn Keyring>,
) -> Result<Option<Found>, KeyError> {
    let variable = |name: &str| {
        let value = environment.get(name)?;
        Some(Found { key: Secret::new(&value), place: format!("the variable {name}") })
    };
    match source {
        KeySource::None => Ok(None),
        KeySource::Usual if usual.is_empty() => Ok(None),
        KeySource::Usual => usual
            .iter()
            .find_map(|name| variable(name))
            .map(Some)
            .ok_or_else(|| KeyError::Missing { hint: format!("set {}", usual[0]) }),
        KeySource::Variable(name) => {
            variable(name).map(Some).ok_or_else(|| KeyError::Missing { hint: format!("set {name}") })
        }
        KeySource::Given(key) => Ok(Some(Found { key: key.clone(), place: "the settings".to_owned() })),
        KeySource::File(path) => {
            let place = format!("the file `{}`", path.display());
            Ok(Some(Found { key: read_file(path)?, place }))
        }
        KeySource::Keyring { service, account } => {
            let keyring =
                keyring.ok_or_else(|| KeyError::Keyring { reason: "this build has none".to_owned() })?;
            let key = keyring.read(service, account).map_err(|reason| KeyError::Keyring { reason })?;
            let hint = format!("the keyring has no entry `{account}` of `{service}`");
            let key = key.ok_or(KeyError::Missing { hint })?;
            Ok(Some(Found { key, place: format!("the keyring's `{account}` of `{service}`") }))
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, KeyError> {
    let read = |source| KeyError::Read { path: path.to_owned(), source };
    let no_key = |reason| KeyError::NoKey { path: path.to_owned(), reason };
    let file = std::fs::File::open(path).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if !metadata.is_file() {
        return Err(no_key("it is not a file"));
    }
    if is_exposed(&metadata) {
        return Err(KeyError::Exposed { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES + 1).read_to_string(&mut text).map_err(read)?;
    if text.len() as u64 > MAX_KEY_BYTES {
        return Err(no_key("it is too long"));
    }
    // More lines than one would be a header injected into every request.
    match text.trim() {
        "" => Err(no_key("it is empty")),
        key if key.contains(char::is_whitespace) => Err(no_key("a key is one word")),
        key => Ok(Secret::new(key)),
    }
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
        match find(source, usual, environment, None) {
            Ok(Some(found)) => format!("{} from {}", found.key.expose(), found.place),
            Ok(None) => "none needed".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn variables_are_read_in_order_and_blank_ones_are_not_set() {
        let environment = Environment::from([("A", "  "), ("B", "key-b\n")]);
        assert_eq!(look(&KeySource::Usual, &["A", "B"], &environment), "key-b from the variable B");
        assert_eq!(look(&KeySource::Usual, &["A"], &environment), "no key is set: set A");
        assert_eq!(look(&KeySource::Usual, &[], &environment), "none needed");
        let named = KeySource::Variable("B".to_owned());
        assert_eq!(look(&named, &["A"], &environment), "key-b from the variable B");
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
        assert_eq!(with(" \n", 0o600), "`KEY` does not hold a key: it is empty");
        assert_eq!(with("sk-1\nx-evil: 1", 0o600), "`KEY` does not hold a key: a key is one word");
        assert_eq!(with(&"k".repeat(20_000), 0o600), "`KEY` does not hold a key: it is too long");
        std::fs::remove_file(&path).unwrap();
        assert!(look(&source, &[], &Environment::empty()).starts_with("cannot read the key in"));
    }

    #[test]
    fn without_a_keyring_its_keys_say_what_to_do_instead() {
        let source = KeySource::Keyring { service: "loggia".to_owned(), account: "openai".to_owned() };
        let said = look(&source, &[], &Environment::empty());
        assert!(said.contains("this build has none") && said.contains("a variable or a file"), "{said}");
    }
}
