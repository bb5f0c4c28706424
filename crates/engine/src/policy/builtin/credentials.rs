//! Files that hold keys and passwords: neither read nor written.
//!
//! What a call reads goes to a model and into a journal, from where it cannot be taken back; and whoever writes such a
//! file lets somebody in. Files are known by their names alone. Names that hold secrets only sometimes are left out
//! (`.npmrc` and `.yarnrc.yml` of a project, `.envrc`, `*.tfvars`): reading them is everyday work, and what looks like a
//! secret in them is masked on its way out.

use std::borrow::Cow;
use std::path::Path;

use globset::{Glob, GlobMatcher};

use super::guarded::fold;

/// Directories that hold nothing else.
const DIRECTORIES: &[&str] = &[".ssh", ".gnupg", ".aws", ".azure", ".password-store"];

/// Files by their whole name.
const NAMES: &[(&str, &str)] = &[
    (".dockercfg", "holds registry passwords"),
    (".git-credentials", "holds passwords for git"),
    (".htpasswd", "holds password hashes"),
    (".my.cnf", "holds a database password"),
    (".netrc", "holds passwords for hosts"),
    ("_netrc", "holds passwords for hosts"),
    (".pgpass", "holds database passwords"),
    (".pypirc", "holds a publishing token"),
    (".s3cfg", "holds access keys"),
    (".boto", "holds access keys"),
    (".vault-token", "holds a token"),
    ("application_default_credentials.json", "holds access keys"),
    ("credentials.json", "holds access keys"),
    ("credentials.tfrc.json", "holds a token"),
    ("rclone.conf", "holds passwords for storage"),
    ("wallet.dat", "holds keys"),
];

/// Files by how their name ends: key stores and private keys.
const ENDINGS: &[&str] = &[
    ".jks",
    ".kdb",
    ".kdbx",
    ".key",
    ".keychain",
    ".keychain-db",
    ".keystore",
    ".p12",
    ".p8",
    ".pfx",
    ".ppk",
];

/// Private keys of `ssh` by how their name begins; what ends in `.pub` is public.
const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// A `.pem` with one of these in its name is a certificate or a public key.
const PUBLIC_PEM: &[&str] =
    &["cert", "chain", "ca-bundle", "cabundle", "dhparam", "pub", "root-ca", "rootca"];

/// Kinds of `.env` that are written for others to read.
const ENV_SAMPLES: &[&str] = &["dist", "example", "sample", "template"];

/// Files in a directory of a home, by the last two parts of their path.
const IN_DIRECTORIES: &[(&str, &str)] = &[
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".config", "hub"),
    (".docker", "config.json"),
    (".gem", "credentials"),
    ("gcloud", "access_tokens.db"),
    ("gcloud", "credentials.db"),
    ("gh", "hosts.yml"),
    (".kube", "config"),
];

/// Why a file holds credentials, if its name says so. Relative or absolute.
pub fn credentials(path: &str) -> Option<&'static str> {
    let parts: Vec<Cow<'_, str>> = path.split('/').filter(|part| !part.is_empty()).map(fold).collect();
    let name = parts.last()?;
    if parts.iter().any(|part| DIRECTORIES.contains(&part.as_ref())) {
        return Some("lies in a directory for keys and credentials");
    }
    if path.starts_with('/')
        && let Some(reason) = of_the_system(&parts)
    {
        return Some(reason);
    }
    if let Some((_, reason)) = NAMES.iter().find(|(known, _)| known == name) {
        return Some(reason);
    }
    if let [.., directory, name] = parts.as_slice()
        && IN_DIRECTORIES.contains(&(directory.as_ref(), name.as_ref()))
    {
        return Some("holds a token");
    }
    by_shape(name)
}

fn by_shape(name: &str) -> Option<&'static str> {
    if name == ".env" {
        return Some("holds the settings of one machine, passwords among them");
    }
    if let Some(kind) = name.strip_prefix(".env.") {
        let is_sample = kind.split('.').any(|part| ENV_SAMPLES.contains(&part));
        return (!is_sample).then_some("holds the settings of one machine, passwords among them");
    }
    if SSH_KEYS.iter().any(|key| name.starts_with(key)) && !name.ends_with(".pub") {
        return Some("is a private key");
    }
    if ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending)) {
        return Some("is a private key or a store of keys");
    }
    if let Some(stem) = name.strip_suffix(".pem") {
        let is_public = matches!(stem, "ca") || PUBLIC_PEM.iter().any(|part| stem.contains(part));
        return (!is_public).then_some("may be a private key");
    }
    let account = ["service-account", "service_account", "serviceaccount", "client_secret"];
    let is_account =
        account.iter().any(|start| name.starts_with(start)) || name.contains("-firebase-adminsdk-");
    (is_account && name.ends_with(".json")).then_some("holds access keys")
}

/// Files outside every workspace that commands could be made to print.
fn of_the_system(parts: &[Cow<'_, str>]) -> Option<&'static str> {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        ["etc", "shadow" | "gshadow" | "sudoers", ..] => Some("holds the system's passwords and rights"),
        // The environment and the memory of programs, ours among them.
        ["proc", .., "environ" | "mem"] => Some("shows the inside of running programs"),
        ["root" | "home" | "users", .., ".npmrc"] => Some("holds a publishing token"),
        _ => None,
    }
}

/// Whether a pattern for file names may stand in a command that is allowed: it expands to paths below where the
/// command is, to nothing that looks like an option, to no hidden file and to no key.
pub(crate) fn is_tame_glob(text: &str) -> bool {
    let relative = text.strip_prefix("./").unwrap_or(text);
    let begins_plainly =
        relative != text || relative.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    begins_plainly
        && relative.split('/').all(|part| !part.starts_with(['.', '-']) && !may_name_credentials(part))
}

/// Whether a pattern that says something of its own (not `*` alone) matches the name of a file with credentials.
pub(super) fn may_name_credentials(glob: &str) -> bool {
    /// One name of each kind.
    const SAMPLES: &[&str] = &[
        ".env",
        ".env.local",
        ".netrc",
        ".git-credentials",
        ".pypirc",
        ".pgpass",
        ".ssh",
        ".aws",
        ".gnupg",
        ".vault-token",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "_.key",
        "_.pem",
        "_.p12",
        "_.pfx",
        "_.jks",
        "_.keystore",
        "_.kdbx",
    ];
    if !glob.contains(['*', '?', '[']) || !glob.chars().any(char::is_alphanumeric) {
        return false;
    }
    // A pattern that is none for us may be one for a shell.
    let matcher: Option<GlobMatcher> = Glob::new(glob).ok().map(|glob| glob.compile_matcher());
    matcher.is_none_or(|matcher| SAMPLES.iter().any(|sample| matcher.is_match(Path::new(sample))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_credentials_are_known_by_name() {
        for path in [
            ".env",
            ".ENV",
            "config/.env.production",
            ".env.local",
            "a/.env.",
            "id_rsa",
            "keys/id_ed25519",
            "id_rsa.bak",
            "server.key",
            "tls/private.pem",
            "key.pem",
            ".ssh/config",
            "/home/ada/.ssh/known_hosts",
            ".aws/credentials",
            ".netrc",
            ".pypirc",
            ".git-credentials",
            "release.jks",
            "passwords.kdbx",
            "a.p12",
            "credentials.json",
            "service-account-prod.json",
            "service_account.json",
            "client_secret_1.json",
            "x-firebase-adminsdk-1.json",
            "/home/ada/.cargo/credentials.toml",
            ".docker/config.json",
            "/etc/shadow",
            "/proc/self/environ",
            "/proc/1/mem",
            "/home/ada/.npmrc",
            "/home/ada/.config/gh/hosts.yml",
            ".gnupg/secring.gpg",
        ] {
            assert!(credentials(path).is_some(), "{path}");
        }
        for path in [
            "",
            "src/env.rs",
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.local.example",
            ".envrc",
            "id_rsa.pub",
            "certs/ca.pem",
            "fullchain.pem",
            "cert.pem",
            ".npmrc",
            "key.rs",
            "keys.json",
            "package.json",
            "src/credentials.rs",
            "monkey.txt",
            "environment",
            "proc/x/mem.rs",
            ".key",
            ".docker/Dockerfile",
            "/etc/apt/keyrings/a.gpg",
        ] {
            assert_eq!(credentials(path), None, "{path}");
        }
    }

    #[test]
    fn tame_globs_expand_to_plain_files() {
        for glob in ["src/*.rs", "./*.rs", "a*", "src/**/x?.txt", "./*"] {
            assert!(is_tame_glob(glob), "{glob}");
        }
        for glob in [
            "*",
            "*.rs",
            "-*",
            ".e*",
            "src/.*",
            "../*",
            "/etc/*",
            "~/*",
            "keys/*.key",
            "keys/id_*",
            "./.e?v",
            "a/*.pe[m]",
        ] {
            assert!(!is_tame_glob(glob), "{glob}");
        }
    }
}
