//! What git's configuration says, from whom, and what is put in its place.
//!
//! Pure: text in, values out. The crate's page has the table of what is replaced.
//!
//! What always holds: a setting that names a program and is only the repository's own is in no call the way the
//! repository has it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What every call has, whatever the configuration says.
const ALWAYS: &[(&str, &str)] = &[
    // A place that has no files in it, on every system.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    // Directories of a working tree that only look like a repository are none.
    ("safe.bareRepository", "explicit"),
    ("tag.gpgSign", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("core.pager", "cat"),
    ("color.ui", "false"),
];

/// The programs of signing and what they are if nobody says.
const SIGNERS: &[(&str, &str)] = &[
    ("gpg.program", "gpg"),
    ("gpg.openpgp.program", "gpg"),
    ("gpg.x509.program", "gpgsm"),
    ("gpg.ssh.program", "ssh-keygen"),
    ("gpg.ssh.defaultkeycommand", "false"),
];

/// What a call of git gets besides the configuration it finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    /// Settings, strongest of all.
    pub(crate) settings: Vec<(OsString, OsString)>,
    /// Variables.
    pub(crate) variables: Vec<(String, OsString)>,
    /// Filters that are not run, by name.
    pub(crate) silenced: Vec<String>,
}

impl Overrides {
    /// Those of a call before anybody has looked at the configuration.
    pub(crate) fn basic() -> Self {
        let settings = ALWAYS.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Self { settings, ..Self::default() }
    }
}

/// The configuration of one working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    owner: Owner,
    /// The first and the last part are in lower case.
    key: Vec<u8>,
    /// Nothing for a key alone, which means yes.
    value: Option<Vec<u8>>,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The user or who runs the machine.
    User,
    /// The repository, as it came.
    Repository,
}

impl Config {
    /// Reads what `git config --list --show-scope -z` prints.
    pub(crate) fn parse(listing: &[u8]) -> Self {
        let mut parts = listing.split(|byte| *byte == 0);
        let mut entries = Vec::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let owner = if matches!(scope, b"system" | b"global") { Owner::User } else { Owner::Repository };
            let mut halves = entry.splitn(2, |byte| *byte == b'\n');
            let key = halves.next().unwrap_or_default().to_vec();
            entries.push(Entry { owner, key, value: halves.next().map(<[u8]>::to_vec) });
        }
        Self(entries)
    }

    /// What is put in the place of programs that the repository names.
    pub(crate) fn overrides(&self, environment: &[(OsString, OsString)]) -> Overrides {
        let mut overrides = Overrides::basic();
        self.silence_hooks(&mut overrides);
        self.replace_filters(&mut overrides);
        self.replace_mergers(&mut overrides);
        self.replace_signers(&mut overrides);
        self.replace_helpers(&mut overrides);
        if self.last(Owner::Repository, b"core.sshcommand").is_some() && !has(environment, "GIT_SSH_COMMAND")
        {
            let own = self.last(Owner::User, b"core.sshcommand").unwrap_or(b"ssh");
            overrides.variables.push(("GIT_SSH_COMMAND".to_owned(), text(own)));
        }
        if self.0.iter().any(|entry| entry.key == b"remote.origin.mirror") {
            // With it a push sends everything and takes away the rest.
            overrides.settings.push(("remote.origin.mirror".into(), "false".into()));
        }
        if !self.knows_who(environment) {
            for role in ["AUTHOR", "COMMITTER"] {
                overrides.variables.push((format!("GIT_{role}_NAME"), "Loggia".into()));
                overrides.variables.push((format!("GIT_{role}_EMAIL"), "loggia@localhost".into()));
            }
        }
        overrides
    }

    /// Whether commits are to be signed.
    pub(crate) fn signs(&self) -> bool {
        let said = self.0.iter().rfind(|entry| entry.key == b"commit.gpgsign");
        said.is_some_and(|entry| match &entry.value {
            None => true,
            Some(value) => {
                matches!(value.to_ascii_lowercase().as_slice(), b"true" | b"yes" | b"on" | b"1")
            }
        })
    }

    /// Whether there is a remote of that name.
    pub(crate) fn has_remote(&self, name: &str) -> bool {
        let prefix = format!("remote.{name}.");
        self.0.iter().any(|entry| {
            let field = entry.key.strip_prefix(prefix.as_bytes());
            matches!(field, Some(b"url" | b"pushurl"))
        })
    }

    /// Hooks of any owner: what they would look at is not theirs.
    fn silence_hooks(&self, overrides: &mut Overrides) {
        for name in self.names(None, b"hook", &[b"command", b"event"]) {
            overrides.settings.push((key(&[b"hook", &name, b"enabled"]), "false".into()));
        }
    }

    fn replace_filters(&self, overrides: &mut Overrides) {
        const PROGRAMS: [&[u8]; 3] = [b"clean", b"smudge", b"process"];
        for name in self.names(Some(Owner::Repository), b"filter", &PROGRAMS) {
            let mut is_missing = false;
            for program in PROGRAMS {
                let key = key(&[b"filter", &name, program]);
                if self.last(Owner::Repository, key.as_bytes()).is_some() {
                    let own = self.last(Owner::User, key.as_bytes());
                    is_missing |= own.is_none();
                    overrides.settings.push((key, text(own.unwrap_or_default())));
                }
            }
            if is_missing {
                overrides.settings.push((key(&[b"filter", &name, b"required"]), "true".into()));
                overrides.silenced.push(String::from_utf8_lossy(&name).into_owned());
            }
        }
    }

    fn replace_mergers(&self, overrides: &mut Overrides) {
        for name in self.names(Some(Owner::Repository), b"merge", &[b"driver"]) {
            let key = key(&[b"merge", &name, b"driver"]);
            // An empty one would succeed, and take our side of everything.
            let own = self.last(Owner::User, key.as_bytes()).unwrap_or(b"false");
            overrides.settings.push((key, text(own)));
        }
    }

    fn replace_signers(&self, overrides: &mut Overrides) {
        for (key, usual) in SIGNERS {
            if self.last(Owner::Repository, key.as_bytes()).is_some() {
                let own = self.last(Owner::User, key.as_bytes()).unwrap_or(usual.as_bytes());
                overrides.settings.push((key.into(), text(own)));
            }
        }
    }

    fn replace_helpers(&self, overrides: &mut Overrides) {
        let is_helper =
            |entry: &&Entry| entry.key.starts_with(b"credential.") && entry.key.ends_with(b".helper");
        let helpers = || self.0.iter().filter(is_helper);
        if helpers().any(|entry| entry.owner == Owner::Repository) {
            // An empty one forgets all before it.
            overrides.settings.push(("credential.helper".into(), "".into()));
            for entry in helpers().filter(|entry| entry.owner == Owner::User) {
                let value = text(entry.value.as_deref().unwrap_or_default());
                overrides.settings.push((text(&entry.key), value));
            }
        }
    }

    /// Whether commits would have a name and an address that somebody chose.
    fn knows_who(&self, environment: &[(OsString, OsString)]) -> bool {
        let says = |key: &str| {
            self.0.iter().any(|entry| {
                entry.key == key.as_bytes() && entry.value.as_ref().is_some_and(|v| !v.is_empty())
            })
        };
        ["author", "committer"].iter().all(|role| {
            let variable = |field: &str| format!("GIT_{}_{field}", role.to_ascii_uppercase());
            let name =
                says("user.name") || says(&format!("{role}.name")) || has(environment, &variable("NAME"));
            let address = says("user.email")
                || says(&format!("{role}.email"))
                || has(environment, &variable("EMAIL"))
                || has(environment, "EMAIL");
            name && address
        })
    }

    /// What stands between a section and one of these fields.
    fn names(&self, owner: Option<Owner>, section: &[u8], fields: &[&[u8]]) -> BTreeSet<Vec<u8>> {
        let of_owner = self.0.iter().filter(|entry| owner.is_none_or(|owner| entry.owner == owner));
        of_owner
            .filter_map(|entry| {
                let rest = entry.key.strip_prefix(section)?.strip_prefix(b".")?;
                let dot = rest.iter().rposition(|byte| *byte == b'.')?;
                fields.contains(&&rest[dot + 1..]).then(|| rest[..dot].to_vec())
            })
            .collect()
    }

    fn last(&self, owner: Owner, key: &[u8]) -> Option<&[u8]> {
        let entry = self.0.iter().rfind(|entry| entry.owner == owner && entry.key == key)?;
        Some(entry.value.as_deref().unwrap_or_default())
    }
}

fn key(parts: &[&[u8]]) -> OsString {
    OsString::from_vec(parts.join(&b'.'))
}

fn text(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

fn has(environment: &[(OsString, OsString)], variable: &str) -> bool {
    environment.iter().any(|(name, value)| name == variable && !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration from lines like `local filter.x.clean=evil`; what is put in its place, as lines.
    fn overrides(lines: &[&str]) -> String {
        let Overrides { settings, variables, silenced } = config(lines).overrides(&[]);
        let settings = settings.iter().skip(ALWAYS.len());
        let settings = settings.map(|(key, value)| format!("{}={}", key.display(), value.display()));
        let variables = variables.iter().map(|(name, value)| format!("{name}:{}", value.display()));
        let silenced = silenced.iter().map(|name| format!("({name})"));
        let who = |line: &String| !(line.starts_with("GIT_AUTHOR") || line.starts_with("GIT_COMMITTER"));
        settings.chain(variables).chain(silenced).filter(who).collect::<Vec<_>>().join(" ")
    }

    fn config(lines: &[&str]) -> Config {
        let entry = |line: &&str| {
            let (scope, entry) = line.split_once(' ').unwrap();
            format!("{scope}\0{}\0", entry.replacen('=', "\n", 1))
        };
        Config::parse(lines.iter().map(entry).collect::<String>().as_bytes())
    }

    #[test]
    fn what_is_the_users_stays() {
        let own = [
            "global filter.lfs.clean=git-lfs clean",
            "system credential.helper=store",
            "global core.sshcommand=ssh -4",
            "global gpg.program=gpg2",
            "global merge.mine.driver=mine %A",
        ];
        assert_eq!(overrides(&own), "");
    }

    #[test]
    fn a_filter_of_the_repository_is_the_users_or_an_error() {
        assert_eq!(
            overrides(&["local filter.evil.clean=evil", "worktree filter.evil.process=evil"]),
            "filter.evil.clean= filter.evil.process= filter.evil.required=true (evil)"
        );
        assert_eq!(
            overrides(&["global filter.lfs.clean=git-lfs clean", "local filter.lfs.clean=evil"]),
            "filter.lfs.clean=git-lfs clean"
        );
        assert_eq!(
            overrides(&["global filter.lfs.clean=git-lfs clean", "local filter.lfs.process=evil"]),
            "filter.lfs.process= filter.lfs.required=true (lfs)"
        );
        // Names may have dots in them, and nothing in the middle is another section.
        assert_eq!(
            overrides(&["local filter.a.b.smudge=evil", "local filters.x.clean=evil"]),
            "filter.a.b.smudge= filter.a.b.required=true (a.b)"
        );
    }

    #[test]
    fn other_programs_of_the_repository_are_the_users_or_harmless() {
        assert_eq!(overrides(&["local merge.evil.driver=evil"]), "merge.evil.driver=false");
        assert_eq!(overrides(&["local gpg.ssh.program=evil"]), "gpg.ssh.program=ssh-keygen");
        assert_eq!(overrides(&["global gpg.program=gpg2", "local gpg.program=evil"]), "gpg.program=gpg2");
        assert_eq!(overrides(&["local core.sshcommand=evil"]), "GIT_SSH_COMMAND:ssh");
        assert_eq!(
            overrides(&[
                "system credential.helper=store",
                "global credential.https://h.helper=cache",
                "local credential.https://h.helper=!evil",
            ]),
            "credential.helper= credential.helper=store credential.https://h.helper=cache"
        );
        assert_eq!(overrides(&["local remote.origin.mirror=true"]), "remote.origin.mirror=false");
    }

    #[test]
    fn no_hook_runs_whoever_configured_it() {
        assert_eq!(
            overrides(&["global hook.lint.command=lint", "local hook.evil.event=pre-commit"]),
            "hook.evil.enabled=false hook.lint.enabled=false"
        );
    }

    #[test]
    fn commits_are_ours_unless_somebody_has_a_name_and_an_address() {
        let ours = |lines: &[&str], environment: &[(&str, &str)]| {
            let environment: Vec<_> =
                environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let variables = config(lines).overrides(&environment).variables;
            variables.contains(&("GIT_AUTHOR_EMAIL".to_owned(), "loggia@localhost".into()))
        };
        assert!(ours(&[], &[]));
        assert!(ours(&["global user.name=Ada"], &[]));
        assert!(ours(&["global user.name=Ada", "global user.email="], &[]));
        assert!(!ours(&["global user.name=Ada", "local user.email=ada@example.org"], &[]));
        assert!(!ours(&["global user.name=Ada"], &[("EMAIL", "ada@example.org")]));
        let half = [("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")];
        assert!(ours(&[], &half), "the committer has none");
    }

    #[test]
    fn commits_are_signed_only_if_somebody_says_so() {
        assert!(!config(&[]).signs());
        assert!(config(&["global commit.gpgsign=true"]).signs());
        assert!(config(&["global commit.gpgsign"]).signs());
        assert!(!config(&["global commit.gpgsign=true", "local commit.gpgsign=false"]).signs());
    }
}
