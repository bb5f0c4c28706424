//! `loggia ext new NAME`: an extension to start from.

use std::path::{Path, PathBuf};

use loggia_extensions::{Language, Starter, StarterError};
use serde::Serialize;

use crate::cli::{ExtensionLanguage, ExtensionNewArguments};
use crate::errors::{self, Error, ErrorKind};
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// What was written, for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    directory: PathBuf,
    files: Vec<&'a str>,
    /// The table for the configuration.
    settings: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &ExtensionNewArguments) -> Result<ExitCode, Error> {
    let language = match arguments.language {
        ExtensionLanguage::Python => Language::Python,
        ExtensionLanguage::Rust => Language::Rust,
    };
    let starter = Starter::new(&arguments.name, language, arguments.kit.as_deref())?;
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from(&arguments.name));
    let files = starter.write(&directory)?;
    let files: Vec<&str> = files.iter().map(|file| file.path).collect();
    let mut printer = Printer::new();
    if arguments.json {
        let settings = starter.settings(&real(&directory));
        let line = Line { directory, files, settings };
        printer.line(serde_json::to_string(&line).expect("texts can always be written"))?;
    } else {
        for file in files {
            printer.line(format_args!("wrote {}", printable(&directory.join(file).to_string_lossy())))?;
        }
        next(&starter, language, arguments, &directory);
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}

/// Says what to do next.
fn next(starter: &Starter, language: Language, arguments: &ExtensionNewArguments, directory: &Path) {
    let shown = directory.display();
    let program = match language {
        Language::Python => format!("python3 {shown}/extension.py"),
        Language::Rust => format!("{shown}/target/release/{}", arguments.name),
    };
    if language == Language::Rust {
        if arguments.kit.is_none() {
            errors::note(
                "note: `loggia-extension-kit` is asked for by its version; `--kit DIR` names a copy of it, `sdk/rust/extension` of Loggia's source",
            );
        }
        errors::note(&format!("next: cargo build --release --manifest-path {shown}/Cargo.toml"));
    }
    errors::note(&format!("next: loggia ext check \"{program}\""));
    errors::note("next: add this to your configuration, which `loggia config path` names:");
    starter.settings(&real(directory)).lines().for_each(errors::note);
}

/// The directory as a configuration names it.
fn real(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// What went wrong, for the one who called us.
pub(crate) fn kind(error: &StarterError) -> ErrorKind {
    match error {
        StarterError::Name { .. } | StarterError::NoKit { .. } | StarterError::Exists { .. } => {
            ErrorKind::Usage
        }
        StarterError::Write { .. } => ErrorKind::Unavailable,
    }
}

/// What to try.
pub(crate) fn hint(error: &StarterError) -> String {
    match error {
        StarterError::Name { .. } => "call it something like `lab-results`".to_owned(),
        StarterError::NoKit { .. } => "name `sdk/rust/extension` of a copy of Loggia's source".to_owned(),
        StarterError::Exists { .. } => "name another directory with `--directory DIR`".to_owned(),
        StarterError::Write { .. } => {
            "name a directory that you can write to with `--directory DIR`".to_owned()
        }
    }
}
