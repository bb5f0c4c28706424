//! Calling pip.
//!
//! Knows how pip is found, what it is told and how its words come back. Refuses to know what is installed. What always
//! holds: a pip that nobody waits for any more is killed; pip runs in a directory that whoever calls it has made for it
//! alone. Python takes modules from where it is started, before its own, and we may be started in files of anybody.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Split};
use tokio::process::Command;

use crate::PullError;

/// How many of its last complaints are told when pip fails: the reason is in them, and all have been handed on before.
const LAST_COMPLAINTS: usize = 3;

/// How much of them people are shown.
const MAX_WORDS: usize = 500;

/// One way to call pip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pip {
    program: PathBuf,
    /// What makes pip of the program.
    first: Vec<String>,
}

impl Pip {
    /// The program at this path, or of this name, that is pip if it is told this first.
    pub(crate) fn new<const COUNT: usize>(program: impl Into<PathBuf>, first: [&str; COUNT]) -> Self {
        Self { program: program.into(), first: first.map(str::to_owned).into() }
    }

    /// The pip that somebody named. A path is seen from where we are, not from where pip will be; a name is looked for by
    /// the system.
    pub(crate) fn named(program: &Path) -> Result<Self, PullError> {
        let named = Self::new(program, []);
        let is_name = program.parent().is_none_or(|directory| directory.as_os_str().is_empty());
        let lost = |error| named.lost(&error);
        let program =
            if is_name { program.to_owned() } else { std::path::absolute(program).map_err(lost)? };
        Ok(Self { program, ..named })
    }

    /// The ways that are tried, the likeliest to be of a working Python first.
    pub(crate) fn usual() -> Vec<Self> {
        vec![Self::new("python3", ["-m", "pip"]), Self::new("pip3", []), Self::new("pip", [])]
    }

    /// The first that answers, in a directory for it alone.
    pub(crate) async fn find(ways: Vec<Self>, desk: &Path) -> Result<Self, PullError> {
        for way in &ways {
            if way.answers(desk).await {
                return Ok(way.clone());
            }
        }
        Err(PullError::NoPip(ways.iter().map(|way| format!("`{}`", way.shown())).collect()))
    }

    async fn answers(&self, desk: &Path) -> bool {
        let mut command = self.command(desk);
        let asked = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().await;
        asked.is_ok_and(|status| status.success())
    }

    /// Installs one package, without what it depends on, into a directory of its own; pip itself runs in another one.
    /// Every line that pip says is handed on.
    pub(crate) async fn install(
        &self,
        desk: &Path,
        package: &str,
        target: &Path,
        told: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), PullError> {
        let mut command = self.command(desk);
        command.args(["install", "--disable-pip-version-check", "--no-input", "--no-deps", "--no-compile"]);
        // A wheel is only unpacked; anything else would run code of the package.
        command.args(["--only-binary", ":all:", "--target"]).arg(target).arg(package);
        let lost = |error| self.lost(&error);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(lost)?;
        let mut said = child.stdout.take().map(lines);
        let mut complaints = child.stderr.take().map(lines);
        let mut last = VecDeque::with_capacity(LAST_COMPLAINTS);
        while said.is_some() || complaints.is_some() {
            tokio::select! {
                line = next(&mut said) => if let Some(line) = line { told(&line) },
                line = next(&mut complaints) => if let Some(line) = line {
                    told(&line);
                    if last.len() == LAST_COMPLAINTS {
                        last.pop_front();
                    }
                    last.push_back(line);
                },
            }
        }
        let status = child.wait().await.map_err(lost)?;
        if status.success() {
            return Ok(());
        }
        let words = last.make_contiguous().join("; ").chars().take(MAX_WORDS).collect::<String>();
        let words = if words.is_empty() { "it says nothing of why".to_owned() } else { words };
        Err(PullError::Failed { program: self.shown(), status: status.to_string(), words })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "pip runs while somebody waits for it, starts nothing of its own for a wheel, and ends by itself"
    )]
    fn command(&self, desk: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.first).stdin(Stdio::null()).kill_on_drop(true);
        // Nothing that lies about is taken for a module or for settings. Python 3.11 and newer can be told to look
        // nowhere; the others find nothing in a directory that is empty.
        command.current_dir(desk).env("PYTHONSAFEPATH", "1");
        // Rules for where people install things are about other places than a directory of ours.
        command.env("PIP_USER", "0").env("PIP_REQUIRE_VIRTUALENV", "0");
        // Lines come when they are said, not when there are many.
        command.env("PYTHONUNBUFFERED", "1");
        command
    }

    fn lost(&self, error: &std::io::Error) -> PullError {
        PullError::Start { program: self.shown(), words: error.to_string() }
    }

    /// As somebody would type it.
    fn shown(&self) -> String {
        let mut shown = self.program.display().to_string();
        for word in &self.first {
            shown.push(' ');
            shown.push_str(word);
        }
        shown
    }
}

fn lines<R: AsyncRead + Unpin>(pipe: R) -> Split<BufReader<R>> {
    BufReader::new(pipe).split(b'\n')
}

/// The next line, if one comes. A pipe that ended is put away, and waited for no longer.
async fn next<R: AsyncRead + Unpin>(pipe: &mut Option<Split<BufReader<R>>>) -> Option<String> {
    let Some(lines) = pipe else { return std::future::pending().await };
    match lines.next_segment().await {
        Ok(Some(line)) => Some(String::from_utf8_lossy(&line).trim_end().to_owned()),
        Ok(None) | Err(_) => {
            *pipe = None;
            None
        }
    }
}
