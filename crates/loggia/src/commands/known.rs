//! Whether a model could be used with what is set here: the configuration, this terminal's variables, the keyring.
//!
//! A server that was started elsewhere, or earlier, may know more or less.

use loggia_models::{Environment, Hosted, SystemKeyring};

use crate::config::Config;
use crate::daemon::{DaemonError, models};

/// Where the keyring would be found.
const BUS: [&str; 2] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// What is known of a model.
#[derive(Debug)]
pub(super) enum Known {
    /// It can be used.
    Here,
    /// Only its provider's key is missing.
    WithoutKey(Hosted),
    /// It cannot be used.
    Unusable(DaemonError),
}

impl Known {
    /// Looks for a model. Nobody but the keyring is asked, which may take a moment.
    pub(super) fn of(name: &str, config: &Config) -> Self {
        match Self::beside_keyring(name, config) {
            Self::WithoutKey(hosted) if in_keyring(hosted.name) => Self::Here,
            known => known,
        }
    }

    /// The same without the keyring. Nobody is asked.
    pub(super) fn beside_keyring(name: &str, config: &Config) -> Self {
        // A key that could be in the keyring counts as found, so the keyring is looked at apart.
        let without_bus = |name: &str| if BUS.contains(&name) { None } else { std::env::var(name).ok() };
        let environment = Environment::from_fn(without_bus);
        let error = match models::check(name, &config.endpoints(), &config.catalogue(), environment) {
            Ok(()) => return Self::Here,
            Err(error) => error,
        };
        let provider = name.split_once(':').and_then(|(provider, _)| Hosted::named(provider));
        match provider.filter(|_| matches!(error, DaemonError::UnknownModel { .. })) {
            Some(hosted) => Self::WithoutKey(hosted),
            None => Self::Unusable(error),
        }
    }
}

/// Whether the keyring has a provider's key. One that cannot be asked has none for us. Waits for it.
pub(super) fn in_keyring(provider: &str) -> bool {
    matches!(keyring().get(provider), Ok(Some(_)))
}

/// The keyring of this session.
pub(super) fn keyring() -> SystemKeyring {
    SystemKeyring::new(&Environment::from_fn(|name| std::env::var(name).ok()))
}
