//! A provider's key on its way from whoever has it to where it is kept.
//!
//! What always holds: a key is one word, is written only where nobody else can read it, and no message holds it.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use loggia_models::{Hosted, KeyringError, MAX_KEY_BYTES, Secret, checked_key};

use super::super::known;
use super::InitError;
use crate::config::edit::Edit;
use crate::config::places::Places;
use crate::errors::Error;

/// Where keys are kept, in the configuration directory.
const DIRECTORY: &str = "keys";

/// A key.
#[derive(Clone)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The keyring of this session.
    Keyring,
    /// A file that only its owner can read.
    File(PathBuf),
}

/// Why a key is not where it was to be kept.
#[derive(Debug)]
pub(super) enum NotKept {
    /// The keyring did not take it.
    Keyring(KeyringError),
    /// The file cannot be written.
    File(Error),
}

impl Place {
    /// Where the settings look for a provider's key, if they say that.
    pub(super) fn set(hosted: &Hosted, edit: &Edit) -> Result<Option<Self>, InitError> {
        let set =
            |what: &str| edit.text(&format!("models.{}.{what}", hosted.name)).filter(|text| !text.is_empty());
        if let Some(variable) = set("key_variable") {
            return Err(InitError::KeyElsewhere { provider: hosted.name, variable: variable.to_owned() });
        }
        match set("key_file").map(PathBuf::from) {
            // Relative to what? The server is not where this command is.
            Some(path) if path.is_relative() => {
                Err(InitError::RelativeKeyFile { provider: hosted.name, path })
            }
            path => Ok(path.map(Self::File)),
        }
    }

    /// A file of our own for a provider's key.
    pub(super) fn own(hosted: &Hosted, places: &Places) -> Self {
        Self::File(places.config().join(DIRECTORY).join(hosted.name))
    }

    /// Whether another key is there, or something that cannot be read. Waits for the keyring.
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

    /// Keeps a key. Waits for the keyring, and for whoever has to unlock it.
    pub(super) fn keep(&self, provider: &str, key: &Key) -> Result<(), NotKept> {
        match self {
            Self::Keyring => known::keyring().set(provider, &Secret::new(&key.0)).map_err(NotKept::Keyring),
            Self::File(path) => write(path, key)
                .map_err(|source| NotKept::File(Error::WriteFile { path: path.clone(), source })),
        }
    }

    /// Sets what is needed for a key to be found here. What somebody has set stays.
    pub(super) fn note(&self, hosted: &Hosted, edit: &mut Edit) {
        if let Self::File(path) = self {
            let kind = format!("models.{}.kind", hosted.name);
            if edit.text(&kind).is_none() {
                edit.set(&kind, hosted.kind.name());
            }
            edit.set(&format!("models.{}.key_file", hosted.name), &path.to_string_lossy());
        }
    }

    /// For programs.
    pub(super) fn plain(&self) -> String {
        match self {
            Self::Keyring => self.to_string(),
            Self::File(path) => path.display().to_string(),
        }
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
        place.keep(hosted.name, &key).unwrap();
        place.note(&hosted, &mut edit);
        assert_eq!(
            (place.to_string(), true),
            (format!("`{}`", place.plain()), place.plain().ends_with("/keys/anthropic"))
        );
        let mode =
            |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("keys"), mode("keys/anthropic")), (0o700, 0o600));
        assert_eq!(edit.text("models.anthropic.kind"), Some("anthropic"));
        assert!(
            !place.holds_another("anthropic", &key)
                && place.holds_another("anthropic", &Key::new("sk-2").unwrap())
        );
    }

    fn written(text: &str) -> Edit {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, text).unwrap();
        Edit::open(file.path()).unwrap()
    }

    #[test]
    fn a_kind_that_somebody_chose_stays() {
        let hosted = Hosted::named("anthropic").unwrap();
        let mut edit = written("[models.anthropic]\nkind = \"openai\"\n");
        Place::File("/key".into()).note(&hosted, &mut edit);
        assert_eq!(edit.text("models.anthropic.kind"), Some("openai"));
        assert_eq!(edit.text("models.anthropic.key_file"), Some("/key"));
    }

    #[test]
    fn a_file_must_be_named_by_its_absolute_path() {
        let hosted = Hosted::named("openai").unwrap();
        let place =
            |path: &str| Place::set(&hosted, &written(&format!("[models.openai]\nkey_file = \"{path}\"\n")));
        assert_eq!(place("/key").unwrap(), Some(Place::File("/key".into())));
        assert_eq!(place("").unwrap(), None);
        for relative in ["key", "rel/key", "~/key"] {
            assert!(matches!(place(relative), Err(InitError::RelativeKeyFile { .. })), "{relative}");
        }
    }
}
