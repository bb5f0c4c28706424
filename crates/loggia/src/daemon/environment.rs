//! What a daemon that is started for a command gets of the command's environment.
//!
//! The daemon stays and serves other terminals, so it gets what belongs to the user and the machine, and nothing that
//! belongs to one terminal: no token of a forge, no secret of a shell, no setting of one command. Settings of ours that are
//! meant to last are in the user's file.

use std::ffi::{OsStr, OsString};

use crate::env_vars;

/// Variables it gets by their whole name.
const NAMES: &[&str] = &[
    // Who the user is, and where.
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    // Where the operating system's keyring is asked.
    "DBUS_SESSION_BUS_ADDRESS",
    // How the network is reached, and which certificates are believed there.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Where models are, and their keys.
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "OLLAMA_HOST",
    "OLLAMA_CONTEXT_LENGTH",
    // Toolchains that commands need.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VOLTA_HOME",
];

/// What the names of others begin with.
const PREFIXES: &[&str] = &["LC_", "OTEL_"];

/// The part of this process's environment that a daemon gets; these names, too.
pub(crate) fn for_daemon(also: &[String]) -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| passes(name, also)).collect()
}

fn passes(name: &OsStr, also: &[String]) -> bool {
    let Some(name) = name.to_str() else { return false };
    let ours = [&env_vars::CONFIG_DIR, &env_vars::DATA_DIR, &env_vars::RUNTIME_DIR];
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || ours.iter().any(|variable| variable.name == name)
        || also.iter().any(|also| also == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_terminal_stays_there() {
        let passes = |name: &str| super::passes(OsStr::new(name), &["CORP_KEY".to_owned()]);
        for name in ["HOME", "PATH", "LC_ALL", "LOGGIA_DATA_DIR", "OPENAI_API_KEY", "CORP_KEY"] {
            assert!(passes(name), "{name}");
        }
        for name in
            ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "LOGGIA_MODEL", "LOGGIA_POLICY_PRESET", "LD_PRELOAD"]
        {
            assert!(!passes(name), "{name}");
        }
    }
}
