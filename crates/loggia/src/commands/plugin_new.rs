//! `loggia plugin new NAME`: a plugin to start from.

use std::path::PathBuf;

use loggia_plugins::{Language, Starter, StarterError};
use serde::Serialize;

use crate::cli::PluginNewArguments;
use crate::errors::{self, Error, ErrorKind};
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// What was written, for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    directory: PathBuf,
    files: Vec<&'a str>,
}

/// Runs the command.
pub(crate) fn run(arguments: &PluginNewArguments) -> Result<ExitCode, Error> {
    let language = Language::from(arguments.language);
    let starter = Starter::new(&arguments.name, arguments.kind.into(), language, arguments.kit.as_deref())?;
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from(&arguments.name));
    let files = starter.write(&directory)?;
    let files: Vec<&str> = files.iter().map(|file| file.path).collect();
    let mut printer = Printer::new();
    if arguments.json {
        let line = Line { directory, files };
        printer.line(serde_json::to_string(&line).expect("texts can always be written"))?;
    } else {
        for file in files {
            printer.line(format_args!("wrote {}", printable(&directory.join(file).to_string_lossy())))?;
        }
        let shown = directory.display();
        if language == Language::Rust {
            if arguments.kit.is_none() {
                errors::note(
                    "note: `loggia-plugin-kit` is asked for by its version; `--kit DIR` names a copy of it, `sdk/rust/plugin` of Loggia's source",
                );
            }
            errors::note(&format!("next: cargo build --release --manifest-path {shown}/Cargo.toml"));
        }
        errors::note(&format!("next: loggia plugin check {shown}"));
    }
    printer.finish()?;
    Ok(ExitCode::Success)
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
        StarterError::Name { .. } => "call it something like `my-tasks`".to_owned(),
        StarterError::NoKit { .. } => "name `sdk/rust/plugin` of a copy of Loggia's source".to_owned(),
        StarterError::Exists { .. } => "name another directory with `--directory DIR`".to_owned(),
        StarterError::Write { .. } => {
            "name a directory that you can write to with `--directory DIR`".to_owned()
        }
    }
}
