//! What holds commands in, from the policy's words to directories.
//!
//! Knows where keys and tokens lie in a home directory. Refuses to look whether anything exists: what does not is
//! nothing to hide.

use std::path::{Path, PathBuf};

use loggia_domain::{Confinement, Policy};

use super::Place;
use super::paths::tidy;

/// What a home directory holds that no command needs and every thief looks for.
const HIDDEN_IN_HOME: &[&str] = &[
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".docker/config.json",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".ssh",
    ".vault-token",
    ".config/chromium",
    ".config/google-chrome",
];

/// Parts of a workspace that commands must not write. Of `.git`, what runs programs later: the rest of it `git commit`
/// has to write.
const READ_ONLY_IN_ROOT: &[&str] =
    &[".git/config", ".git/config.worktree", ".git/hooks", ".loggia", ".mehrhof/config.yaml"];

/// What a command of this workspace may reach. `own` are our own directories: data, configuration, sockets.
pub fn confinement(policy: &Policy, place: &Place, own: &[PathBuf]) -> Confinement {
    let sandbox = &policy.sandbox;
    let in_home = place.home.iter().flat_map(|home| HIDDEN_IN_HOME.iter().map(|path| home.join(path)));
    Confinement {
        required: sandbox.required,
        network: sandbox.network,
        unix_sockets: sandbox.unix_sockets,
        readable: resolve(&sandbox.readable, place),
        writable: resolve(&sandbox.writable, place),
        inherited: sandbox.environment.clone(),
        hidden: own.iter().cloned().chain(in_home).collect(),
        read_only: READ_ONLY_IN_ROOT.iter().map(|path| place.root.join(path)).collect(),
    }
}

/// Directories as a policy names them: absolute, or beginning with `~/`. Others mean nothing, and neither does `/`:
/// with everything writable there is no sandbox.
pub(crate) fn resolve(directories: &[String], place: &Place) -> Vec<PathBuf> {
    let absolute = |text: &String| match text.strip_prefix("~/") {
        Some(rest) => place.home.as_ref().map(|home| home.join(rest.trim_start_matches('/'))),
        None => Path::new(text).is_absolute().then(|| PathBuf::from(text)),
    };
    directories
        .iter()
        .filter_map(absolute)
        .map(|path| tidy(&path))
        .filter(|path| path != Path::new("/"))
        .collect()
}

#[cfg(test)]
mod tests {
    use loggia_domain::SandboxPolicy;

    use super::*;

    #[test]
    fn a_policy_becomes_directories() {
        let place = Place { root: "/home/ada/project".into(), home: Some("/home/ada".into()) };
        let text = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let sandbox = SandboxPolicy {
            network: true,
            readable: text(&["~/.rustup", "/opt/../opt/go", "relative", "/"]),
            writable: text(&["~//.cache/x/"]),
            environment: text(&["RUSTUP_HOME"]),
            ..SandboxPolicy::default()
        };
        let policy = Policy { sandbox, ..Policy::default() };
        let confinement = confinement(&policy, &place, &["/home/ada/.local/share/loggia".into()]);
        assert!(confinement.required && confinement.network && !confinement.unix_sockets);
        assert_eq!(confinement.readable, [PathBuf::from("/home/ada/.rustup"), "/opt/go".into()]);
        assert_eq!(confinement.writable, [PathBuf::from("/home/ada/.cache/x")]);
        assert_eq!(confinement.inherited, ["RUSTUP_HOME"]);
        for hidden in ["/home/ada/.local/share/loggia", "/home/ada/.ssh", "/home/ada/.aws"] {
            assert!(confinement.hidden.contains(&hidden.into()), "{hidden}");
        }
        for path in [".git/hooks", ".git/config", ".loggia"] {
            assert!(confinement.read_only.contains(&place.root.join(path)), "{path}");
        }
    }
}
