//! `loggia config path`: which files the configuration is read from, whether or not they exist.

use std::path::Path;

use serde::Serialize;

use crate::cli::ConfigPathArguments;
use crate::config::places::Places;
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// One file as it is printed.
#[derive(Debug, Serialize)]
struct Row {
    /// `user`, `workspace` or `trust`.
    role: &'static str,
    path: String,
    exists: bool,
}

impl Row {
    fn new(role: &'static str, path: &Path) -> Self {
        Self { role, path: path.display().to_string(), exists: path.exists() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &ConfigPathArguments) -> Result<ExitCode, Error> {
    let places = Places::find()?;
    let mut rows = vec![Row::new("user", &places.user_file())];
    rows.extend(places.workspace.as_deref().map(|root| Row::new("workspace", &Places::workspace_file(root))));
    rows.push(Row::new("trust", &places.trust_file()));

    let mut printer = Printer::new();
    if arguments.json {
        let text = serde_json::to_string_pretty(&rows).expect("texts and switches can always be written");
        printer.line(text)?;
    } else {
        for row in rows {
            let presence = if row.exists { "present" } else { "absent" };
            printer.line(format_args!("{:<9}  {presence:<7}  {}", row.role, printable(&row.path)))?;
        }
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}
