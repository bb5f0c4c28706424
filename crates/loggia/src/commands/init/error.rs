//! What keeps a set-up from being made.

use std::path::PathBuf;

use loggia_models::NotAKey;

use crate::errors::ErrorKind;

/// Why nothing was set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    /// Nobody is there to choose a model, and none was named.
    #[error("no model was named, and nobody can be asked")]
    NothingChosen,
    /// A model needs a key that is nowhere.
    #[error("{provider} needs a key, and none is set")]
    NoKey {
        /// Whose.
        provider: &'static str,
        /// The variable that would have it.
        variable: &'static str,
    },
    /// A key was given for something that takes none.
    #[error("a key was given, and `{provider}` is no provider that is known to take one")]
    NoKeyTaken {
        /// What was named.
        provider: String,
    },
    /// What was given cannot be a key.
    #[error("this is no key: {reason}")]
    NotAKey {
        /// Why.
        reason: NotAKey,
    },
    /// The settings say that the key is in a file, and not where that is.
    #[error("`models.{provider}.key_file` is not an absolute path: `{}`", path.display())]
    RelativeKeyFile {
        /// Whose.
        provider: &'static str,
        /// What was written.
        path: PathBuf,
    },
    /// The settings say that the key is in a variable.
    #[error("the settings say that the key of {provider} is in the variable `{variable}`")]
    KeyElsewhere {
        /// Whose.
        provider: &'static str,
        /// Where.
        variable: String,
    },
}

impl InitError {
    /// What it means to the caller.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::KeyElsewhere { .. } | Self::RelativeKeyFile { .. } => ErrorKind::Configuration,
            _ => ErrorKind::Usage,
        }
    }

    /// What to try.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NothingChosen => {
                "run it in a terminal, or name one: `loggia init --model PROVIDER:MODEL`, with `--key-stdin` if it needs a key".to_owned()
            }
            Self::NoKey { variable, .. } => {
                format!("pipe it in with `--key-stdin`, or set `{variable}`")
            }
            Self::NoKeyTaken { .. } => {
                "leave out `--key-stdin`; an endpoint of your own names its key in `models.NAME.key_file`".to_owned()
            }
            Self::NotAKey { .. } => "copy it whole, without quotes, from the provider's page".to_owned(),
            Self::RelativeKeyFile { provider, .. } => {
                format!(
                    "write the whole path, from `/` on, since the server runs elsewhere; or remove `models.{provider}.key_file` from your configuration"
                )
            }
            Self::KeyElsewhere { provider, variable } => {
                format!("set `{variable}`, or remove `models.{provider}.key_variable` from your configuration")
            }
        }
    }
}
