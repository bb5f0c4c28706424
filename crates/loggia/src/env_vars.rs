//! Every `LOGGIA_*` variable, declared once.
//!
//! A configuration key brings its own variable, named after it; the others are listed here. Anything else
//! that begins with `LOGGIA_` is taken for a typing error, because a misspelt variable that does nothing is
//! hard to notice.

use std::ffi::OsString;

use crate::config::keys::{self, Key};

/// What all our variables begin with.
pub(crate) const PREFIX: &str = "LOGGIA_";

/// A variable that is not named after a key.
#[derive(Debug)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, for the reference page.
    pub(crate) doc: &'static str,
}

/// Where the user's `config.toml` is looked for.
pub(crate) const CONFIG_DIR: Variable = Variable {
    name: "LOGGIA_CONFIG_DIR",
    doc: "Directory of the user's `config.toml`, as an absolute path. Otherwise `$XDG_CONFIG_HOME/loggia`, otherwise `~/.config/loggia`.",
};

/// Where lasting data is kept.
pub(crate) const DATA_DIR: Variable = Variable {
    name: "LOGGIA_DATA_DIR",
    doc: "Directory of lasting data (sessions, tokens, policies, the trust store), as an absolute path. Otherwise `$XDG_DATA_HOME/loggia`, otherwise `~/.local/share/loggia`.",
};

/// Where sockets are.
pub(crate) const RUNTIME_DIR: Variable = Variable {
    name: "LOGGIA_RUNTIME_DIR",
    doc: "Directory of sockets and of the daemon's lock, as an absolute path. Otherwise `$XDG_RUNTIME_DIR/loggia`, otherwise `run` in the directory of lasting data.",
};

/// The short name people try first for the model.
pub(crate) const MODEL: Variable = Variable {
    name: "LOGGIA_MODEL",
    doc: "Short name of `LOGGIA_MODEL_DEFAULT`, which wins when both are set.",
};

/// For a client that cannot be given flags.
pub(crate) const END_OF_TURN: Variable = Variable {
    name: "LOGGIA_END_OF_TURN",
    doc: "How `loggia rpc` tells a client that a turn is over, besides `turnEnd`: `marker`, `agent-end` (for the Go library) or `answer` (for the Java library). The flag `--end-of-turn` wins.",
};

/// The variables that are not named after a key, in documentation order.
pub(crate) const OTHERS: &[&Variable] = &[&CONFIG_DIR, &DATA_DIR, &RUNTIME_DIR, &MODEL, &END_OF_TURN];

/// The variables of this process that are ours to read. An empty one counts as not set.
pub(crate) fn ours() -> Vec<(OsString, OsString)> {
    let mut ours: Vec<_> = std::env::vars_os()
        .filter(|(name, value)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) && !value.is_empty())
        .collect();
    ours.sort();
    ours
}

/// The key a variable sets, by the key's own name or by the alias.
pub(crate) fn key_of(name: &str) -> Option<&'static Key> {
    if name == MODEL.name {
        return Some(&keys::MODEL_DEFAULT);
    }
    keys::ALL.iter().copied().find(|key| key.variable().as_deref() == Some(name))
}

/// All names we know, for suggestions.
pub(crate) fn known_names() -> Vec<String> {
    let own = OTHERS.iter().map(|variable| variable.name.to_owned());
    own.chain(keys::ALL.iter().filter_map(|key| key.variable())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_their_keys() {
        assert_eq!(keys::SERVER_ADDR.variable().as_deref(), Some("LOGGIA_SERVER_ADDR"));
        assert_eq!(
            key_of("LOGGIA_POLICY_APPROVAL_TIMEOUT_S").map(|key| key.path),
            Some("policy.approval_timeout_s")
        );
        assert_eq!(key_of("LOGGIA_MODEL").map(|key| key.path), Some("model.default"));
        assert!(key_of("LOGGIA_CONFIG_DIR").is_none());
    }

    #[test]
    fn no_two_variables_share_a_name() {
        let mut names = known_names();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| name.starts_with(PREFIX)));
    }
}
