//! Plugins to start from: working ones, in either language, that pass the conformance run as they are.
//!
//! The programs are the examples of the kits, and a Python starter brings the whole kit along. A Rust starter needs the kit
//! as a dependency: by its path where somebody names it, else by its version.
//!
//! Invariant: nothing that is there is overwritten.

use std::io;
use std::path::{Path, PathBuf};

use crate::manifest::PluginKind;

const PYTHON_KIT: &str = include_str!("../../../../sdk/python/loggia_plugin.py");
const PYTHON_PROVIDER: &str = include_str!("../../../../sdk/python/examples/provider.py");
const PYTHON_AGENT: &str = include_str!("../../../../sdk/python/examples/agent.py");
const PYTHON_WORKFLOW: &str = include_str!("../../../../sdk/python/examples/workflow.py");
const RUST_PROVIDER: &str = include_str!("../../../../sdk/rust/plugin/examples/provider.rs");
const RUST_AGENT: &str = include_str!("../../../../sdk/rust/plugin/examples/agent.rs");
const RUST_WORKFLOW: &str = include_str!("../../../../sdk/rust/plugin/examples/workflow.rs");
const PROVIDER_MANIFEST: &str = include_str!("starters/provider.yaml");
const AGENT_MANIFEST: &str = include_str!("starters/agent.yaml");
const WORKFLOW_MANIFEST: &str = include_str!("starters/workflow.yaml");
const FIRST_TASK: &str = include_str!("starters/hello.md");

/// What stands for the plugin's name in all of them.
const NAME: &str = "starter-name";

/// What stands for how it is started in manifests.
const EXECUTABLE: &str = "starter-executable";

/// A name becomes a directory, a scheme that people type and a package.
const MAX_NAME: usize = 64;

/// What a starter is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// One program and the kit beside it; Python 3.8 or newer.
    Python,
    /// A Cargo project.
    Rust,
}

/// A plugin to start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    name: String,
    kind: PluginKind,
    language: Language,
    kit: Option<String>,
}

/// A file of a starter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterFile {
    /// Where it belongs, below the plugin's directory.
    pub path: &'static str,
    /// What is in it.
    pub text: String,
    /// Whether it is a program.
    pub executable: bool,
}

/// Why there is no starter.
#[derive(Debug, thiserror::Error)]
pub enum StarterError {
    /// The name cannot be a plugin's.
    #[error(
        "`{name}` is no name for a plugin: it begins with a letter and has letters, digits and `-`, all small"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// The kit cannot be named in a Cargo project.
    #[error("`{}` is not the directory of the kit: it has no `Cargo.toml` of `loggia-plugin-kit`", path.display())]
    NoKit {
        /// What was given.
        path: PathBuf,
    },
    /// Something is there already.
    #[error("`{}` is there already", path.display())]
    Exists {
        /// What.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Starter {
    /// A starter of a kind. `kit` is where the Rust kit lies, for those who have it.
    ///
    /// # Errors
    /// [`StarterError`] if the name cannot be a plugin's, or the kit is not where it should be.
    pub fn new(
        name: &str,
        kind: PluginKind,
        language: Language,
        kit: Option<&Path>,
    ) -> Result<Self, StarterError> {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let fits = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(letters);
        if !fits || name.len() > MAX_NAME {
            return Err(StarterError::Name { name: name.to_owned() });
        }
        let kit = kit.map(find_kit).transpose()?;
        Ok(Self { name: name.to_owned(), kind, language, kit })
    }

    /// All its files.
    pub fn files(&self) -> Vec<StarterFile> {
        let manifest = match self.kind {
            PluginKind::Provider => PROVIDER_MANIFEST,
            PluginKind::Agent => AGENT_MANIFEST,
            PluginKind::Workflow => WORKFLOW_MANIFEST,
        };
        let mut files = vec![self.file("plugin.yaml", &manifest.replace(EXECUTABLE, &self.started_by()))];
        match self.language {
            Language::Python => {
                let program = match self.kind {
                    PluginKind::Provider => PYTHON_PROVIDER,
                    PluginKind::Agent => PYTHON_AGENT,
                    PluginKind::Workflow => PYTHON_WORKFLOW,
                };
                files.push(StarterFile { executable: true, ..self.file("plugin.py", program) });
                files.push(self.file("loggia_plugin.py", PYTHON_KIT));
            }
            Language::Rust => {
                let program = match self.kind {
                    PluginKind::Provider => RUST_PROVIDER,
                    PluginKind::Agent => RUST_AGENT,
                    PluginKind::Workflow => RUST_WORKFLOW,
                };
                files.push(self.file("Cargo.toml", &self.cargo()));
                files.push(self.file("src/main.rs", program));
                files.push(self.file(".gitignore", "/target\n"));
            }
        }
        if self.kind == PluginKind::Provider {
            files.push(self.file("tasks/hello.md", FIRST_TASK));
        }
        files
    }

    /// Writes it into a directory that is not there yet, or is empty.
    ///
    /// # Errors
    /// [`StarterError`] if something is there, or it cannot be written.
    pub fn write(&self, directory: &Path) -> Result<Vec<StarterFile>, StarterError> {
        let failed = |path: &Path, source| StarterError::Write { path: path.to_owned(), source };
        match std::fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return Err(StarterError::Exists { path: directory.to_owned() }),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(directory, error)),
        }
        let files = self.files();
        for file in &files {
            let path = directory.join(file.path);
            write_file(&path, file).map_err(|source| failed(&path, source))?;
        }
        Ok(files)
    }

    fn file(&self, path: &'static str, text: &str) -> StarterFile {
        StarterFile { path, text: text.replace(NAME, &self.name), executable: false }
    }

    fn started_by(&self) -> String {
        match self.language {
            Language::Python => "command: [python3, ./plugin.py]".to_owned(),
            Language::Rust => format!("path: ./target/release/{}", self.name),
        }
    }

    fn cargo(&self) -> String {
        let kit = match &self.kit {
            Some(path) => format!("{{ path = '{path}' }}"),
            None => format!("\"{}\"", env!("CARGO_PKG_VERSION")),
        };
        format!(
            "[package]\nname = \"{NAME}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nloggia-plugin-kit = {kit}\n\n\
             # It may lie in the directory of another project, and is not part of that.\n[workspace]\n"
        )
    }
}

/// The kit's directory as a Cargo project names it.
fn find_kit(path: &Path) -> Result<String, StarterError> {
    let none = || StarterError::NoKit { path: path.to_owned() };
    let real = path.canonicalize().map_err(|_| none())?;
    let manifest = std::fs::read_to_string(real.join("Cargo.toml")).map_err(|_| none())?;
    let named = manifest.lines().any(|line| line.trim() == "name = \"loggia-plugin-kit\"");
    // A text between single quotes can hold everything else.
    let text = real.to_str().filter(|text| named && !text.contains(['\'', '\n'])).ok_or_else(none)?;
    Ok(text.to_owned())
}

fn write_file(path: &Path, file: &StarterFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, &file.text)?;
    if file.executable {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
