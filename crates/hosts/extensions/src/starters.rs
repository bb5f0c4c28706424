//! Extensions to start from: a working one, in either language, that passes the conformance run as it is.
//!
//! The programs are the examples of the kits, and a Python starter brings the whole kit along. A Rust starter needs the kit
//! as a dependency: by its path where somebody names it, else by its version.
//!
//! Invariant: nothing that is there is overwritten.

use std::io;
use std::path::{Path, PathBuf};

const PYTHON_KIT: &str = include_str!("../../../../sdk/python/loggia_extension.py");
const PYTHON: &str = include_str!("../../../../sdk/python/examples/extension.py");
const RUST: &str = include_str!("../../../../sdk/rust/extension/examples/extension.rs");
const MESSAGE: &str = include_str!("starters/example.hl7");

/// What stands for the extension's name in all of them.
const NAME: &str = "starter-name";

/// A name becomes a directory, the beginning of commands and a package.
const MAX_NAME: usize = 64;

/// What a starter is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// One program and the kit beside it; Python 3.8 or newer.
    Python,
    /// A Cargo project.
    Rust,
}

/// An extension to start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    name: String,
    language: Language,
    kit: Option<String>,
}

/// A file of a starter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterFile {
    /// Where it belongs, below the extension's directory.
    pub path: &'static str,
    /// What is in it.
    pub text: String,
    /// Whether it is a program.
    pub executable: bool,
}

/// Why there is no starter.
#[derive(Debug, thiserror::Error)]
pub enum StarterError {
    /// The name cannot be an extension's.
    #[error(
        "`{name}` is no name for an extension: it begins with a letter and has letters, digits and `-`, all small"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// The kit cannot be named in a Cargo project.
    #[error("`{}` is not the directory of the kit: it has no `Cargo.toml` of `loggia-extension-kit`", path.display())]
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
    /// A starter. `kit` is where the Rust kit lies, for those who have it.
    ///
    /// # Errors
    /// [`StarterError`] if the name cannot be an extension's, or the kit is not where it should be.
    pub fn new(name: &str, language: Language, kit: Option<&Path>) -> Result<Self, StarterError> {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let fits = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(letters);
        if !fits || name.len() > MAX_NAME {
            return Err(StarterError::Name { name: name.to_owned() });
        }
        let kit = kit.map(find_kit).transpose()?;
        Ok(Self { name: name.to_owned(), language, kit })
    }

    /// All its files.
    pub fn files(&self) -> Vec<StarterFile> {
        let mut files = match self.language {
            Language::Python => vec![
                StarterFile { executable: true, ..self.file("extension.py", PYTHON) },
                self.file("loggia_extension.py", PYTHON_KIT),
            ],
            Language::Rust => vec![
                self.file("Cargo.toml", &self.cargo()),
                self.file("src/main.rs", RUST),
                self.file(".gitignore", "/target\n"),
            ],
        };
        files.push(self.file("example.hl7", MESSAGE));
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

    /// The `[[extensions]]` table for it, where it lies in a directory.
    pub fn settings(&self, directory: &Path) -> String {
        let place = |file: String| quoted(&directory.join(file).to_string_lossy());
        let started = match self.language {
            Language::Python => format!("path = \"python3\"\nargs = [{}]", place("extension.py".to_owned())),
            Language::Rust => format!("path = {}", place(format!("target/release/{}", self.name))),
        };
        format!("[[extensions]]\nname = \"{}\"\n{started}\n", self.name)
    }

    fn file(&self, path: &'static str, text: &str) -> StarterFile {
        StarterFile { path, text: text.replace(NAME, &self.name), executable: false }
    }

    fn cargo(&self) -> String {
        let kit = match &self.kit {
            Some(path) => format!("{{ path = '{path}' }}"),
            None => format!("\"{}\"", env!("CARGO_PKG_VERSION")),
        };
        format!(
            "[package]\nname = \"{NAME}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nloggia-extension-kit = {kit}\n\n\
             # It may lie in the directory of another project, and is not part of that.\n[workspace]\n"
        )
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The kit's directory as a Cargo project names it.
fn find_kit(path: &Path) -> Result<String, StarterError> {
    let none = || StarterError::NoKit { path: path.to_owned() };
    let real = path.canonicalize().map_err(|_| none())?;
    let manifest = std::fs::read_to_string(real.join("Cargo.toml")).map_err(|_| none())?;
    let named = manifest.lines().any(|line| line.trim() == "name = \"loggia-extension-kit\"");
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
