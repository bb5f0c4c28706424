//! Git at work in one tree: where it is, what its configuration became, and how it is called.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::RepositoryError;
use loggia_wire::child::Exit;

use crate::config::{Config, Overrides};
use crate::environment::{self, Network};
use crate::place::Place;
use crate::repository::Parts;
use crate::run::{self, Call, Said};
use crate::status::Status;
use crate::words;

/// Names and numbers: a configuration, a list of branches, of trees, of changed paths. Half a million paths fit.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// How many changed paths are told.
pub(crate) const MAX_TOLD: usize = 1000;

/// Git at work in one tree.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    parts: &'a Parts,
    pub(crate) place: Place,
    pub(crate) config: Config,
    overrides: Overrides,
}

/// A call that is being put together.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    parts: &'a Parts,
    directory: PathBuf,
    overrides: &'a Overrides,
    arguments: Vec<OsString>,
    input: Vec<u8>,
    limit: Duration,
    most: usize,
    network: Network,
}

impl<'a> Work<'a> {
    /// Finds the tree that a directory is in.
    pub(crate) async fn open(parts: &'a Parts, directory: &Path) -> Result<Self, RepositoryError> {
        if !directory.is_dir() {
            return Err(RepositoryError::NoRepository(directory.to_owned()));
        }
        // Neither of these two questions runs anything that a configuration names.
        let basic = Overrides::basic();
        let ask = |arguments: &[&str]| Asking::new(parts, directory, &basic, arguments);
        let place = find(&ask, directory).await?;
        let listing = ask(&["config", "--list", "--show-scope", "--includes", "-z"]).whole().await?;
        let config = Config::parse(&listing);
        let overrides = config.overrides(&parts.settings.environment);
        Ok(Self { parts, place, config, overrides })
    }

    /// A question to git.
    pub(crate) fn ask<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Asking<'_> {
        Asking::new(self.parts, &self.place.top, &self.overrides, arguments)
    }

    /// Has git change something.
    pub(crate) fn change<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Asking<'_> {
        Asking { limit: self.parts.settings.limits.change, ..self.ask(arguments) }
    }

    /// Has git send something.
    pub(crate) fn send<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Asking<'_> {
        Asking { limit: self.parts.settings.limits.push, network: Network::Open, ..self.ask(arguments) }
    }

    /// How the tree stands.
    pub(crate) async fn status(&self) -> Result<Status, RepositoryError> {
        let arguments = [
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            // Deeper would be a git in each of them, with configurations nobody has looked at.
            "--ignore-submodules=dirty",
            "--no-renames",
            "--no-ahead-behind",
        ];
        let said = self.ask(&arguments).good().await?;
        Ok(Status::parse(&said.output, said.is_cut))
    }

    /// How the tree stands, if nothing in it is unfinished or not committed.
    pub(crate) async fn clean_status(&self) -> Result<Status, RepositoryError> {
        self.place.refuse_unfinished()?;
        let status = self.status().await?;
        if status.changes.is_empty() {
            Ok(status)
        } else {
            Err(RepositoryError::Dirty(status.paths(MAX_TOLD)))
        }
    }
}

async fn find<'a, F>(ask: &F, directory: &Path) -> Result<Place, RepositoryError>
where
    F: Fn(&[&str]) -> Asking<'a>,
{
    const QUESTIONS: [&str; 3] = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
    let [top, own, common] = QUESTIONS;
    let all = ["rev-parse", "--path-format=absolute", top, own, common];
    let said = ask(&all).said().await?;
    if !said.exit.success() {
        return Err(not_in_a_tree(directory, &said));
    }
    let mut found: Vec<PathBuf> = lines(&said.output).map(path).collect();
    if found.len() != QUESTIONS.len() {
        // A line ends in one of the paths. One at a time there is no doubt.
        found.clear();
        for question in QUESTIONS {
            let answer = ask(&["rev-parse", "--path-format=absolute", question]).whole().await?;
            found.push(path(answer.strip_suffix(b"\n").unwrap_or(&answer)));
        }
    }
    match <[PathBuf; 3]>::try_from(found) {
        Ok([top, own, common]) => Place::check(directory, top, &own, &common),
        Err(_) => Err(RepositoryError::NoRepository(directory.to_owned())),
    }
}

/// Why a directory is in no working tree.
fn not_in_a_tree(directory: &Path, said: &Said) -> RepositoryError {
    let complaint = &said.complaint;
    if complaint.contains("not a git repository") {
        return RepositoryError::NoRepository(directory.to_owned());
    }
    let is_bare = ["safe.bareRepository", "must be run in a work tree"];
    if is_bare.iter().any(|sign| complaint.contains(sign)) {
        return RepositoryError::Failed(format!(
            "`{}` is in a repository without a working tree; make one with `git worktree add`, or clone it",
            directory.display()
        ));
    }
    words::failure(said, &[])
}

impl<'a> Asking<'a> {
    fn new<A: AsRef<OsStr>>(
        parts: &'a Parts,
        directory: &Path,
        overrides: &'a Overrides,
        arguments: &[A],
    ) -> Self {
        Self {
            parts,
            directory: directory.to_owned(),
            overrides,
            arguments: arguments.iter().map(|word| word.as_ref().to_owned()).collect(),
            input: Vec::new(),
            limit: parts.settings.limits.question,
            most: MAX_ANSWER,
            network: Network::Closed,
        }
    }

    /// The same with something on its stdin.
    pub(crate) fn input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: input.into(), ..self }
    }

    /// The same with another bound on what is kept.
    pub(crate) fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// What comes of it, good or bad.
    pub(crate) async fn said(self) -> Result<Said, RepositoryError> {
        let Parts { keeper, settings, program } = self.parts;
        let Some(git) = program.git.clone() else {
            let why = "there is none in `PATH`; install git 2.38 or newer".to_owned();
            return Err(RepositoryError::NoGit(why));
        };
        let environment =
            environment::of_call(&settings.environment, &program.path, self.network, self.overrides);
        let mut arguments: Vec<OsString> = vec!["--no-pager".into()];
        arguments.extend(self.arguments);
        let call = Call {
            program: git,
            arguments,
            directory: self.directory,
            environment,
            input: self.input,
            limit: self.limit,
            most: self.most,
        };
        run::call(keeper, call, settings.limits.locked).await
    }

    /// What comes of it; a failure is an error.
    pub(crate) async fn good(self) -> Result<Said, RepositoryError> {
        let silenced = &self.overrides.silenced;
        let said = self.said().await?;
        if said.exit.success() { Ok(said) } else { Err(words::failure(&said, silenced)) }
    }

    /// Its whole output; too much is an error.
    pub(crate) async fn whole(self) -> Result<Vec<u8>, RepositoryError> {
        let said = self.good().await?;
        if said.is_cut { Err(too_much()) } else { Ok(said.output) }
    }

    /// The one line it prints.
    pub(crate) async fn line(self) -> Result<String, RepositoryError> {
        Ok(String::from_utf8_lossy(&self.whole().await?).trim_end_matches('\n').to_owned())
    }

    /// The one line it prints; nothing if git quietly says no.
    pub(crate) async fn line_if_any(self) -> Result<Option<String>, RepositoryError> {
        let silenced = &self.overrides.silenced;
        let said = self.said().await?;
        match said.exit {
            Exit::Code(0) => {
                Ok(Some(String::from_utf8_lossy(&said.output).trim_end_matches('\n').to_owned()))
            }
            Exit::Code(1) => Ok(None),
            _ => Err(words::failure(&said, silenced)),
        }
    }

    /// Why it failed, if it is to be looked at first.
    pub(crate) fn silenced(&self) -> &'a [String] {
        &self.overrides.silenced
    }
}

/// There are more paths than anybody can mean.
pub(crate) fn too_much() -> RepositoryError {
    RepositoryError::Failed(format!(
        "it names more than {} MiB of paths; is a directory missing in `.gitignore`?",
        MAX_ANSWER / 1024 / 1024
    ))
}

/// What is between the ends of lines.
pub(crate) fn lines(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.strip_suffix(b"\n").unwrap_or(output).split(|byte| *byte == b'\n')
}

pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
