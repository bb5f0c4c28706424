//! `loggia open`: shows the page of the server that runs.

use hyper::{Method, StatusCode};
use loggia_protocol_agent_server::{PageCode, PageCodeParams, Scope, Timestamp};
use serde::Serialize;

use crate::cli::OpenArguments;
use crate::config::places::Places;
use crate::daemon::directories::RuntimeDirectory;
use crate::daemon::lock::{self, Record};
use crate::daemon::{DaemonError, client, open};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    /// Where one browser is let in.
    page_url: String,
    /// Until when.
    expires_at: Timestamp,
    /// Whether a browser was started.
    opened: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &OpenArguments) -> Result<ExitCode, Error> {
    let runtime = RuntimeDirectory::of(&Places::find()?);
    let holder = if runtime.is_ours() { lock::holder(&runtime.lock_file())? } else { None };
    let record = holder.ok_or(DaemonError::NotRunning)?;
    let Some(url) = record.url.clone() else {
        // One that has a socket is ready, and has nothing else.
        let is_ready = record.http_socket.is_some();
        let error = if is_ready { DaemonError::NoAddress(record) } else { DaemonError::Silent(record) };
        return Err(error.into());
    };
    let PageCode { code, expires_at } = ask(&runtime, record)?;
    let opened = match arguments.print {
        true => Ok(false),
        false => open::browser(&runtime, &url, &code.0).and_then(open::Opening::wait).map(|()| true),
    };
    let page_url = open::address(&url, &code.0);
    let shown = Shown { page_url, expires_at, opened: *opened.as_ref().unwrap_or(&false) };
    let mut printer = Printer::new();
    if arguments.json {
        printer.line(serde_json::to_string(&shown).expect("texts can always be written"))?;
    } else {
        printer.line(printable(&shown.page_url))?;
    }
    printer.finish()?;
    opened.map_err(|source| DaemonError::Unopened { source })?;
    Ok(ExitCode::Success)
}

/// A code for a page that may do everything, as its user may.
fn ask(runtime: &RuntimeDirectory, record: Record) -> Result<PageCode, DaemonError> {
    let params = PageCodeParams { scope: Some(Scope::Admin) };
    let params = serde_json::to_vec(&params).expect("a word can always be written");
    let answer = client::send(&runtime.http_socket(), Method::POST, "/v1/page/code", params.into());
    let answer = match answer {
        Ok(answer) if answer.status == StatusCode::OK => answer,
        Ok(answer) => return Err(DaemonError::Refused { status: answer.status.to_string() }),
        Err(error) => {
            tracing::debug!(%error, "no answer");
            return Err(DaemonError::Silent(record));
        }
    };
    serde_json::from_slice(&answer.body).map_err(|_| DaemonError::Silent(record))
}
