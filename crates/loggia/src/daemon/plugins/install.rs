//! Fetching a plugin: a clone of a repository, or a copy of a directory.
//!
//! What always holds:
//! - what was fetched is put in its place only when its manifest is good, and by one rename; whatever fails before leaves
//!   nothing behind;
//! - what is there already is never touched;
//! - nothing of the plugin is run, and it is not enabled.

mod copy;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::PluginDeskError;
use loggia_plugins::{Manifest, Place, Scope, discover};
use loggia_wire::child::{ChildSpec, Environment, Keeper, spawn};
use tempfile::TempDir;

use super::blocking;
use super::setup::in_words;

/// How long a clone may take: plugins are small, and networks slow.
const CLONE_LIMIT: Duration = Duration::from_secs(300);

/// What names of repositories begin with that is no part of the plugin's name.
const PREFIXES: [&str; 2] = ["mehrhof-", "loggia-"];

/// As much of what git says as fits under a message.
const SAID_LINES: usize = 4;

/// Fetches a plugin into a place of plugins; where it is then.
pub(super) async fn install(keeper: &Keeper, source: &str, place: &Path) -> Result<PathBuf, PluginDeskError> {
    let place = place.to_owned();
    if is_address(source) {
        let name = repository_name(source)?;
        let (target, aside) = prepare(&place, name).await?;
        clone(keeper, source, &aside.path().join("plugin")).await?;
        return blocking(move || settle(&aside, &place, target)).await?;
    }
    let source = PathBuf::from(source);
    if !source.is_absolute() {
        let text =
            format!("`{}` is neither an address of a repository nor an absolute path", source.display());
        return Err(PluginDeskError::Invalid(text));
    }
    let (read, name) = blocking(move || {
        let manifest = Manifest::read(&source).map_err(|error| unusable(&error))?;
        Ok((source, manifest.name))
    })
    .await??;
    let (target, aside) = prepare(&place, name).await?;
    blocking(move || {
        copy::tree(&read, &aside.path().join("plugin"))?;
        settle(&aside, &place, target)
    })
    .await?
}

/// Where it goes, if that is free, and a directory beside it to fetch it into.
async fn prepare(place: &Path, name: String) -> Result<(PathBuf, TempDir), PluginDeskError> {
    check_name(&name)?;
    let place = place.to_owned();
    blocking(move || {
        let target = place.join(&name);
        if target.symlink_metadata().is_ok() {
            return Err(taken(&target));
        }
        let failed = |error: io::Error| {
            PluginDeskError::Unavailable(format!("cannot use `{}`: {error}", place.display()))
        };
        fs::create_dir_all(&place).map_err(failed)?;
        // On the same disk, and where nobody takes it for a plugin.
        let beside = place.parent().unwrap_or(&place);
        let aside = tempfile::Builder::new().prefix(".plugin-").tempdir_in(beside).map_err(failed)?;
        Ok((target, aside))
    })
    .await?
}

/// Puts what was fetched in its place.
fn settle(aside: &TempDir, place: &Path, target: PathBuf) -> Result<PathBuf, PluginDeskError> {
    let fetched = aside.path().join("plugin");
    let manifest = Manifest::read(&fetched).map_err(|error| unusable_in(&fetched, &error))?;
    let places = [Place { directory: place.to_owned(), scope: Scope::Global }];
    if let Some(other) = discover(&places).into_iter().find(|found| found.name() == manifest.name) {
        return Err(taken(&other.directory));
    }
    fs::rename(&fetched, &target).map_err(|error| {
        PluginDeskError::Unavailable(format!("cannot put it into `{}`: {error}", target.display()))
    })?;
    Ok(target)
}

/// Clones with the user's own git, which asks nobody.
async fn clone(keeper: &Keeper, source: &str, target: &Path) -> Result<(), PluginDeskError> {
    let quiet = [
        ("GIT_TERMINAL_PROMPT", "0"),
        // Others would let an address run programs.
        ("GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file"),
        ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ];
    let quiet = quiet.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mut words: Vec<OsString> =
        ["clone", "--quiet", "--depth", "1", "--no-tags", "--"].map(OsString::from).into();
    words.extend([source.into(), target.into()]);
    let spec = ChildSpec::new("git", "git").args(words).environment(Environment::Inherit(quiet.into()));
    let failed = |said: String| PluginDeskError::Unavailable(format!("`git clone` of `{source}`: {said}"));
    let mut child = spawn(keeper, spec).await.map_err(|error| failed(in_words(&error)))?;
    // Its input ends at once; what it prints is nothing that matters.
    drop(child.take_streams());
    let ended = tokio::time::timeout(CLONE_LIMIT, child.ended()).await;
    let ended = ended.map_err(|_| failed(format!("it took more than {} s", CLONE_LIMIT.as_secs())))?;
    if ended.exit.success() {
        return Ok(());
    }
    let said = &ended.stderr[ended.stderr.len().saturating_sub(SAID_LINES)..];
    Err(failed(format!("it ended with {}\n{}", ended.exit, said.join("\n")).trim_end().to_owned()))
}

/// Whether it is the address of a repository: one with a scheme, or as `ssh` has them.
fn is_address(source: &str) -> bool {
    let like_ssh = |source: &str| {
        source.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'))
    };
    source.contains("://") || like_ssh(source)
}

/// What a plugin of a repository is called until its manifest says so.
fn repository_name(source: &str) -> Result<String, PluginDeskError> {
    let trimmed = source.trim_end_matches('/');
    let last = trimmed.rsplit(['/', ':']).next().unwrap_or_default();
    let name = last.strip_suffix(".git").unwrap_or(last);
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    check_name(name).map(|()| name.to_owned())
}

/// Refuses what is no name of a directory that people want.
fn check_name(name: &str) -> Result<(), PluginDeskError> {
    let odd = |c: char| c == '/' || c == '\\' || c.is_control();
    if name.is_empty() || name.starts_with(['.', '-']) || name.chars().any(odd) {
        let text = format!("`{name}` is no name for a directory; the plugin needs another one");
        return Err(PluginDeskError::Invalid(text));
    }
    Ok(())
}

fn taken(there: &Path) -> PluginDeskError {
    PluginDeskError::Conflict(format!("there is one already, in `{}`; remove it first", there.display()))
}

/// Why what was fetched is no plugin. Where it lay meanwhile tells nobody anything.
fn unusable_in(fetched: &Path, error: &loggia_plugins::ManifestError) -> PluginDeskError {
    let passing = format!("{}/", fetched.display());
    PluginDeskError::Invalid(format!("this is no plugin: {}", in_words(error).replace(&passing, "")))
}

fn unusable(error: &loggia_plugins::ManifestError) -> PluginDeskError {
    PluginDeskError::Invalid(format!("this is no plugin: {}", in_words(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_gives_its_plugin_a_name() {
        for (source, expected) in [
            ("https://example.org/mehrhof-link.git", "link"),
            ("https://example.org/loggia-jira/", "jira"),
            ("git@example.org:team/gate.git", "gate"),
            ("file:///tmp/x", "x"),
        ] {
            assert!(is_address(source), "{source}");
            assert_eq!(repository_name(source).unwrap(), expected, "{source}");
        }
        for source in ["https://example.org/.git", "https://example.org/..", "https://example.org/-x"] {
            assert!(repository_name(source).is_err(), "{source}");
        }
        for path in ["/home/u/x", "./x", "x", "C:/x", "a/b:c"] {
            assert!(!is_address(path), "{path}");
        }
    }
}
