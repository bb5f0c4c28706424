//! A provider's key on its way from whoever has it to where it is kept.
//!
//! What always holds: a key is one word, is written only where nobody else can read it, and no message holds it.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use loggia_models::{Hosted, MAX_KEY_BYTES, Secret, checked_key};

use super::super::known;
use super::InitError;
use crate::config::edit::Edit;
use crate::config::places::Places;
use crate::errors::Error;

/// Where keys are kept, in the configuration directory.
const DIRECTORY: &str = "keys";

/// A key.
pub(super) struct Key(String);

impl Key {
    /// A key that was typed.
    pub(super) fn new(text: &str) -> Result<Self, InitError> {
        let key = checked_key(text).map_err(|reason| InitError::NotAKey { reason })?;
        Ok(Self(key.to_owned()))
    }

    /// A key on standard input.
    pub(super) fn piped() -> Result<Self, Error> {
        let mut text = String::new();
        let read = io::stdin().lock().take(MAX_KEY_BYTES as u64 + 2).read_to_string(&mut text);
        read.map_err(|source| Error::Input { path: "standard input".into(), source })?;
        Ok(Self::new(&text)?)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a key is to be kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The keyring of this session.
    Keyring,
    /// A file that only its owner can read.
    File(PathBuf),
}

impl Place {
    /// The place for a provider's key: where the settings look for it, else the keyring, else a file of our own.
    pub(super) fn of(hosted: &Hosted, edit: &Edit, places: &Places) -> Result<Self, InitError> {
        let set =
            |what: &str| edit.text(&format!("models.{}.{what}", hosted.name)).filter(|text| !text.is_empty());
        if let Some(variable) = set("key_variable") {
            return Err(InitError::KeyElsewhere { provider: hosted.name, variable: variable.to_owned() });
        }
        Ok(match set("key_file") {
            Some(path) => Self::File(PathBuf::from(path)),
            None if known::keyring().available() => Self::Keyring,
            None => Self::File(places.config().join(DIRECTORY).join(hosted.name)),
        })
    }

    /// Whether another key is there, or something that cannot be read.
    pub(super) fn holds_another(&self, provider: &str, key: &Key) -> bool {
        match self {
            // One that is locked is unlocked to keep a key; what it has is not known before.
            Self::Keyring => {
                matches!(known::keyring().get(provider), Ok(Some(there)) if there != Secret::new(&key.0))
            }
            Self::File(path) => match fs::read_to_string(path) {
                Ok(text) => text.trim() != key.0,
                Err(error) => error.kind() != io::ErrorKind::NotFound,
            },
        }
    }

    /// Keeps a key, and sets what is needed for it to be found. Where it is, in words.
    pub(super) fn keep(&self, hosted: &Hosted, key: &Key, edit: &mut Edit) -> Result<String, Error> {
        match self {
            Self::Keyring => {
                let kept = known::keyring().set(hosted.name, &Secret::new(&key.0));
                kept.map_err(|source| InitError::Keyring { variable: hosted.key_variable, source })?;
            }
            Self::File(path) => {
                write(path, key).map_err(|source| Error::WriteFile { path: path.clone(), source })?;
                edit.set(&format!("models.{}.kind", hosted.name), hosted.kind.name());
                edit.set(&format!("models.{}.key_file", hosted.name), &path.to_string_lossy());
            }
        }
        Ok(self.to_string())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("the keyring"),
            Self::File(path) => write!(f, "`{}`", path.display()),
        }
    }
}

/// Writes a key to a file of its owner's alone, whole or not at all.
fn write(path: &Path, key: &Key) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // A temporary file is made so that only its owner can read it.
    let mut file = tempfile::Builder::new().prefix(".key-").tempfile_in(directory)?;
    writeln!(file, "{}", key.0)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_one_word() {
        assert_eq!(Key::new(" sk-1\n").unwrap().0, "sk-1");
        for wrong in ["", " \n", "two words", "a\nb", "a\u{7}b"] {
            assert!(Key::new(wrong).is_err(), "{wrong:?}");
        }
        assert!(Key::new(&"k".repeat(20_000)).is_err());
        assert_eq!(format!("{:?}", Key::new("sk-1").unwrap()), "Key(…)");
    }

    #[test]
    fn a_key_is_kept_for_its_owner_alone_and_where_it_is_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        let hosted = Hosted::named("anthropic").unwrap();
        let place = Place::File(directory.path().join("keys/anthropic"));
        let key = Key::new("sk-1").unwrap();
        assert!(!place.holds_another("anthropic", &key));
        let file = directory.path().join("config.toml");
        let mut edit = Edit::open(&file).unwrap();
        let told = place.keep(&hosted, &key, &mut edit).unwrap();
        assert!(told.ends_with("keys/anthropic`") && !told.contains("sk-1"), "{told}");
        let mode =
            |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("keys"), mode("keys/anthropic")), (0o700, 0o600));
        assert_eq!(edit.text("models.anthropic.kind"), Some("anthropic"));
        assert!(
            !place.holds_another("anthropic", &key)
                && place.holds_another("anthropic", &Key::new("sk-2").unwrap())
        );
    }
}
