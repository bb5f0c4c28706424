//! `loggia status`: whether a server runs, and how it is.

use hyper::{Method, StatusCode};
use loggia_protocol_agent_server::{Health, HealthChecks};
use serde::Serialize;

use crate::cli::StatusArguments;
use crate::color::{ASIDE, SUBJECT};
use crate::config::places::Places;
use crate::daemon::directories::RuntimeDirectory;
use crate::daemon::lock::{self, Record};
use crate::daemon::{DaemonError, client};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};

/// What is printed as JSON. Everything but `running` is absent when no server runs.
#[derive(Debug, Default, Serialize)]
struct Shown {
    running: bool,
    #[serde(flatten)]
    record: Option<Record>,
    #[serde(flatten)]
    health: Option<Health>,
}

/// Runs the command.
pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Error> {
    let runtime = RuntimeDirectory::of(&Places::find()?);
    let holder = if runtime.is_ours() { lock::holder(&runtime.lock_file())? } else { None };
    let Some(record) = holder else {
        show(arguments.json, &Shown::default(), &["no server runs".to_owned()])?;
        return Ok(ExitCode::Unavailable);
    };
    let health = health(&runtime, &record)?;
    let lines = lines(&record, &health);
    let shown = Shown { running: true, record: Some(record), health: Some(health) };
    show(arguments.json, &shown, &lines)?;
    Ok(ExitCode::Success)
}

fn health(runtime: &RuntimeDirectory, record: &Record) -> Result<Health, DaemonError> {
    let silent = || DaemonError::Silent(record.clone());
    let answer = client::ask(&runtime.http_socket(), Method::GET, "/v1/health").map_err(|error| {
        tracing::debug!(%error, "no answer");
        silent()
    })?;
    // A server that is not well says so in the same form.
    if answer.status != StatusCode::OK && answer.status != StatusCode::SERVICE_UNAVAILABLE {
        return Err(DaemonError::Refused { status: answer.status.to_string() });
    }
    serde_json::from_slice(&answer.body).map_err(|_| silent())
}

fn show(json: bool, shown: &Shown, lines: &[String]) -> Result<(), Error> {
    let mut printer = Printer::new();
    if json {
        let text = serde_json::to_string(shown).expect("texts and numbers can always be written");
        printer.line(text)?;
    } else {
        lines.iter().try_for_each(|line| printer.line(line))?;
    }
    printer.finish()
}

fn lines(record: &Record, health: &Health) -> Vec<String> {
    let url = record.url.as_deref().unwrap_or("not ready yet");
    let mut lines = vec![format!("{SUBJECT}running{SUBJECT:#} at {}", printable(url))];
    let mut fact = |name: &str, text: &str| {
        lines.push(format!("  {ASIDE}{name:<8}{ASIDE:#} {}", printable(text)));
    };
    fact("process", &record.pid.to_string());
    fact("version", &health.version);
    fact("up", &time(health.uptime_ms));
    let HealthChecks { store, index, model } = &health.checks;
    fact("health", &format!("{}: store {store}, index {index}, model {model}", health.status));
    lines
}

/// A time in its two largest units.
fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units() {
        let told: Vec<_> = [900, 59_000, 61_000, 3_700_000, 90_000_000].map(time).into();
        assert_eq!(told, ["0 s", "59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    }
}
