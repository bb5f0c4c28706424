//! `loggia ext new NAME`: an extension to start from.

use std::path::PathBuf;

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
        let line = Line { directory, files };
        printer.line(serde_json::to_string(&line).expect("texts can always be written"))?;
    } else {
        for file in files {
            printer.line(format_args!("wrote {}", printable(&directory.join(file).to_string_lossy())))?;
        }
        next(language, arguments, &directory.display().to_string());
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}
