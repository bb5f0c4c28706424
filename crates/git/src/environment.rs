//! The variables git runs with.
//!
//! What always holds: no variable that tells git which repository, index or objects to use reaches it, nor one that
//! names an editor, a pager or a prompt.

use std::ffi::{OsStr, OsString};

use crate::config::Overrides;

/// What of `GIT_…` is the user's own affair: who they are, where their configuration lies, how connections are made
/// and where to stop looking for repositories.
const KEPT: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// What would change the language of messages or ask somebody.
const DROPPED: &[&str] = &["PATH", "LANGUAGE", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "LC_ALL"];

/// What is the same for every call.
const ALWAYS: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Nothing is asked through a window either: a set and empty one is none.
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    // A question must not take the index's lock.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GCM_INTERACTIVE", "never"),
];

/// What may be sent to: everything else is or may be a program of its own.
const PROTOCOLS: &str = "file:http:https:ssh";

/// Whether a call may reach other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Closed,
    Open,
}

/// All variables of a call.
pub(crate) fn of_call(
    inherited: &[(OsString, OsString)],
    path: &OsStr,
    network: Network,
    overrides: &Overrides,
) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> =
        inherited.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let mut set = |name: &str, value: &OsStr| {
        all.retain(|(existing, _)| existing != name);
        all.push((name.into(), value.to_owned()));
    };
    set("PATH", path);
    for (name, value) in ALWAYS {
        set(name, OsStr::new(value));
    }
    let protocols = if network == Network::Open { PROTOCOLS } else { "" };
    set("GIT_ALLOW_PROTOCOL", OsStr::new(protocols));
    for (name, value) in &overrides.variables {
        set(name, value);
    }
    // Keys may have an equals sign in them, which an argument cannot tell.
    for (number, (key, value)) in overrides.settings.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{number}"), key);
        set(&format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    set("GIT_CONFIG_COUNT", OsStr::new(&overrides.settings.len().to_string()));
    all
}

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    KEPT.contains(&name) || !(name.starts_with("GIT_") || DROPPED.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_repository_or_asks_people_does_not_reach_git() {
        let inherited = [
            ("HOME", "/home/ada"),
            ("PATH", ".:/bin"),
            ("GIT_DIR", "/elsewhere"),
            ("GIT_CONFIG_COUNT", "7"),
            ("GIT_CONFIG_PARAMETERS", "'core.pager=evil'"),
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_ASKPASS", "/usr/bin/window"),
            ("LC_ALL", "de_DE.UTF-8"),
        ];
        let inherited = inherited.map(|(name, value)| (name.into(), value.into()));
        let overrides =
            Overrides { settings: vec![("filter.a=b.clean".into(), "".into())], ..Overrides::default() };
        let all = of_call(&inherited, OsStr::new("/bin"), Network::Closed, &overrides);
        let mut all: Vec<String> = all
            .iter()
            .filter(|(name, _)| ALWAYS.iter().all(|(always, _)| always != name) || name == "GIT_ASKPASS")
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        all.sort();
        let expected = [
            "GIT_ALLOW_PROTOCOL=",
            "GIT_ASKPASS=",
            "GIT_AUTHOR_NAME=Ada",
            "GIT_CONFIG_COUNT=1",
            "GIT_CONFIG_KEY_0=filter.a=b.clean",
            "GIT_CONFIG_VALUE_0=",
            "HOME=/home/ada",
            "PATH=/bin",
        ];
        assert_eq!(all, expected);
    }
}
