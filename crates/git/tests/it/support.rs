//! A repository in a home of its own, and git as people call it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loggia_domain::{Commit, Merge, Repository, RepositoryError};
use loggia_git::{Git, GitRepository, Limits, Settings};
use loggia_wire::child::Keeper;
use tempfile::TempDir;

/// Whatever is waited for takes milliseconds; a busy machine gets much more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A home, and in it a repository with one commit on `main` that has `a.txt`.
pub(crate) struct Scene {
    _directory: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) repo: PathBuf,
    pub(crate) limits: Limits,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self::empty();
        scene.write("a.txt", "one\n");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "First"]);
        scene
    }

    /// The same without a commit.
    pub(crate) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        let repo = home.join("repo");
        std::fs::create_dir(&repo).unwrap();
        // Nobody holds the index for long, except where a test wants it.
        let limits = Limits { locked: Duration::from_millis(200), ..Limits::default() };
        let scene = Self { _directory: directory, home, repo, limits };
        scene.git(&["config", "--global", "user.name", "Ada"]);
        scene.git(&["config", "--global", "user.email", "ada@example.org"]);
        scene.git(&["init", "-q", "-b", "main"]);
        scene
    }

    fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap();
        let home = self.home.to_str().unwrap().to_owned();
        let variables = [
            ("PATH", path),
            ("HOME", home),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            // What the test's own surroundings have of it must not matter.
            ("GIT_DIR", "/nowhere".to_owned()),
        ];
        variables.map(|(name, value)| (name.to_owned(), value)).into()
    }

    pub(crate) fn repository(&self) -> GitRepository {
        self.repository_at(&self.repo)
    }

    pub(crate) fn repository_at(&self, directory: &Path) -> GitRepository {
        let environment = self.environment();
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.repository_in(environment, directory)
    }

    pub(crate) fn repository_in(
        &self,
        environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        directory: &Path,
    ) -> GitRepository {
        let none: [&str; 0] = [];
        let keeper = Keeper::new(env!("CARGO_BIN_EXE_git-keeper"), none);
        Git::new(keeper, Settings { environment, limits: self.limits }).repository(directory)
    }

    /// Runs git as people do, and gives what it prints.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> String {
        self.git_in(&self.repo, arguments)
    }

    pub(crate) fn git_in<A: AsRef<OsStr>>(&self, directory: &Path, arguments: &[A]) -> String {
        let (succeeded, output) = self.try_git(directory, arguments);
        let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
        assert!(succeeded, "git {}: {output}", words.join(" "));
        output.trim_end().to_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "plays the user, and ends at once")]
    pub(crate) fn try_git<A: AsRef<OsStr>>(&self, directory: &Path, arguments: &[A]) -> (bool, String) {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .envs(self.environment().into_iter().filter(|(name, _)| name != "GIT_DIR"))
            .env("GIT_ALLOW_PROTOCOL", "file")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.repo.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repo.join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.repo.join(path).symlink_metadata().is_ok()
    }

    /// Commits everything, as people do.
    pub(crate) fn commit(&self, message: &str) -> Commit {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> Commit {
        Commit(self.git(&["rev-parse", "HEAD"]))
    }

    /// Branch, commit, changes and what is unfinished: what must be as before after a failure.
    pub(crate) fn state(&self) -> String {
        let head = self.git(&["rev-parse", "--symbolic-full-name", "HEAD"]);
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let status = self.git(&["status", "--porcelain"]);
        let own = self.git(&["rev-parse", "--absolute-git-dir"]);
        let left = ["MERGE_HEAD", "index.lock"].map(|file| Path::new(&own).join(file).exists());
        format!("{head}\n{refs}\n{status}\n{left:?}")
    }

    /// A program that says in a file that it was run.
    pub(crate) fn canary(&self) -> String {
        format!("echo run >> '{}'; cat", self.home.join("canary").display())
    }

    pub(crate) fn canary_sang(&self) -> bool {
        self.home.join("canary").exists()
    }

    pub(crate) async fn checkpoint(&self, mark: &str) -> Result<Commit, RepositoryError> {
        self.repository().checkpoint(&self.repo, format!("Checkpoint {mark}"), mark.to_owned()).await
    }

    pub(crate) async fn merge(
        &self,
        from: &str,
        into: &str,
        squash: bool,
    ) -> Result<Commit, RepositoryError> {
        let message = format!("Merge {from}");
        let merge = Merge { from: from.to_owned(), into: into.to_owned(), message, squash };
        self.repository().merge(&self.repo, merge).await
    }
}

/// Waits for something another process does.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What went wrong, in words.
pub(crate) fn words<T: std::fmt::Debug>(end: Result<T, RepositoryError>) -> String {
    end.unwrap_err().to_string()
}
