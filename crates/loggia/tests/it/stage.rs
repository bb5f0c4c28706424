//! A private stage for one test: a home, a workspace, and a way to run the binary there.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of one test; gone when dropped.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

/// What a run left behind, ready for a snapshot.
pub(crate) struct Transcript {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::create_dir(stage.path("home")).unwrap();
        std::fs::create_dir(stage.path("outside")).unwrap();
        stage
    }

    /// A stage with a workspace `project` whose own file has this text.
    pub(crate) fn with_workspace(text: &str) -> Self {
        let stage = Self::new();
        stage.write("project/.loggia/config.toml", text);
        stage
    }

    /// A path on the stage, by its real name.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(relative)
    }

    /// Writes a file and the directories above it.
    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A file's text.
    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    /// Writes the user's file.
    pub(crate) fn user_file(&self, text: &str) -> &Self {
        self.write("home/.config/loggia/config.toml", text);
        self
    }

    /// Trusts a directory of the stage.
    pub(crate) fn trust(&self, relative: &str) -> &Self {
        let root = self.path(relative);
        self.write("home/.local/share/loggia/trust.toml", format!("[[workspace]]\npath = {root:?}\n"));
        self
    }

    /// A run in the workspace, if there is one, else outside; to be completed.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_loggia"));
        command.args(arguments);
        command
    }

    /// The same with another program.
    #[expect(clippy::disallowed_methods, reason = "the binary under test, or what becomes it")]
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let project = self.path("project");
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(if project.exists() { project } else { self.path("outside") })
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Transcript {
        self.finish(self.command(arguments), b"")
    }

    /// Runs the binary with these variables set.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Transcript {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        self.finish(command, b"")
    }

    /// Runs the binary with this on its stdin.
    pub(crate) fn run_on(&self, input: &[u8], arguments: &[&str]) -> Transcript {
        self.finish(self.command(arguments), input)
    }

    /// Completes a run and takes its transcript, with the stage's own path replaced.
    pub(crate) fn finish(&self, mut command: Command, input: &[u8]) -> Transcript {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A child that does not read its input is not a failure of the test.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Transcript {
            code: output.status.code(),
            stdout: self.normalised(&output.stdout),
            stderr: self.normalised(&output.stderr),
        }
    }

    fn normalised(&self, bytes: &[u8]) -> String {
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        String::from_utf8_lossy(bytes)
            .replace(root, "[STAGE]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        writeln!(f, "exit: {code}")?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                let visible = text.replace('\u{1b}', "␛");
                let lines: Vec<_> = visible.split('\n').map(str::trim_end).collect();
                f.write_str(&lines.join("\n"))?;
            }
        }
        f.write_str("[END]")
    }
}

/// The repository's directory of documents.
pub(crate) fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}
